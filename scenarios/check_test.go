package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/node"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// quiet plays a run without faults up to the point at which everything is answered.
func quiet(t *testing.T, seed uint64) *run {
	s := &Scenario{Name: "quiet", adapt: func(d draw, p *plan) {
		p.Topic.Partitions, p.Topic.Side = 1, false
		p.Node.Broker.Topic.SegmentBytes, p.Node.Broker.Topic.FlushMessages = 4<<10, 1
		p.Node.Broker.Topic.IndexIntervalBytes, p.Node.Broker.IndexWriteEntries = 100, 1
		configs := p.producers(d, 1, 3)
		for i := range configs {
			c := &configs[i]
			c.Acks, c.Idempotent, c.Codec = -1, true, record.None
		}
		p.workload(d, configs)
	}}
	r := newRun(s, seed, Options{})
	t.Cleanup(r.close)
	r.saboteur.start(r.machine)
	require.True(t, r.until("L1", "created", healTime, r.workload.create()))
	r.workload.begin()
	require.True(t, r.until("L8", "sent", healTime, r.workload.sent))
	r.workload.stop()
	r.world.Run(sim.Second, nil)
	require.Empty(t, r.findings.failed)
	return r
}

func (r *run) log() *storedlog.Log { return readLog(r.machine.Disk, 0, storedlog.Cached) }

func (r *run) firstSegment(suffix string) env.Path { return segmentPath(0, 0, suffix) }

func TestAQuietRunPassesEveryStateCheck(t *testing.T) {
	r := quiet(t, 1)
	r.inspect()
	r.stopCleanly()
	require.Empty(t, r.findings.failed, r.findings.evidence)
	for _, c := range []Check{"S3", "S5", "S8", "R9", "R10", "R11", "R12", "P1", "P2"} {
		require.Positive(t, r.findings.counters["checked."+string(c)], c)
	}
}

func TestABrokenBatchFailsS3(t *testing.T) {
	r := quiet(t, 2)
	require.True(t, r.machine.Disk.Flip(r.firstSegment(".log"), 70, 1))
	r.inspect()
	require.Contains(t, r.findings.failed, Check("S3"))
}

func TestALyingIndexFailsS8(t *testing.T) {
	for _, suffix := range []string{".index", ".timeindex"} {
		t.Run(suffix, func(t *testing.T) {
			r := quiet(t, 3)
			require.True(t, r.machine.Disk.Flip(r.firstSegment(suffix), 7, 0))
			checkIndexes(r.findings, r.machine.Disk, 0, r.log())
			require.Equal(t, []Check{"S8"}, r.findings.failed)
		})
	}
}

func TestALogThatLostWhatWasSyncedFailsS1(t *testing.T) {
	r := quiet(t, 4)
	r.monitor.partitions[0].before = r.log()
	r.monitor.partitions[0].surviving = r.log().End + 1
	r.monitor.cameOnline(0, replicas(r.machine, 1)[0])
	require.Equal(t, []Check{"S1"}, r.findings.failed)
}

func TestSyncedButNotOnTheMediumFailsS1AndWithoutANameS9(t *testing.T) {
	r := quiet(t, 5)
	replica := replicas(r.machine, 1)[0]
	r.monitor.checkSynced(0, replica, &storedlog.Log{End: replica.Log().Synced() - 1})
	require.Equal(t, []Check{"S1"}, r.findings.failed)
}

func TestAnotherBatchAtAnOffsetFailsS2(t *testing.T) {
	r := quiet(t, 6)
	other := r.log()
	changed := append(record.View(nil), other.Batches[1].View...)
	changed[60+5] ^= 1
	changed[17] ^= 1 // the CRC
	other.Batches[1].View = changed
	r.monitor.partitions[0].before = other
	r.monitor.cameOnline(0, replicas(r.machine, 1)[0])
	require.Equal(t, []Check{"S2"}, r.findings.failed)
}

func TestAMarkerThatOutlivesTheFirstWriteFailsS5(t *testing.T) {
	r := quiet(t, 7)
	r.machine.Disk.Put(env.Path{Name: commitlog.CleanMarkerName}, []byte("x"))
	r.monitor.watchMarker()
	require.Equal(t, []Check{"S5"}, r.findings.failed)
}

func TestAStopThatLeavesUnsyncedDataFailsS5(t *testing.T) {
	r := quiet(t, 8)
	r.monitor.checkStopped() // it was not stopped at all
	require.Equal(t, []Check{"S5"}, r.findings.failed)
}

func TestAnEffectOnAFailedFileFailsS6(t *testing.T) {
	r := quiet(t, 9)
	failed := env.Event{Kind: env.EventFileDone, File: 77, Err: env.EIO}
	write := &env.Effects{File: []env.FileOp{{Op: env.FileWrite, File: 77}}}
	r.monitor.Turning(node.BrokerLoop, env.Now{}, []env.Event{failed})
	r.monitor.watchFiles(write) // emitted before the turn came to the failure
	require.Empty(t, r.findings.failed)
	r.monitor.Turning(node.BrokerLoop, env.Now{}, nil)
	r.monitor.watchFiles(&env.Effects{File: []env.FileOp{{Op: env.FileClose, File: 77}}})
	require.Empty(t, r.findings.failed)
	r.monitor.watchFiles(write)
	require.Equal(t, []Check{"S6"}, r.findings.failed)
}

func TestAHighWatermarkThatGoesBackFailsR5(t *testing.T) {
	r := quiet(t, 10)
	replica := replicas(r.machine, 1)[0]
	r.monitor.watchReplica(0, replica)
	r.monitor.partitions[0].high = replica.HighWatermark() + 1
	r.monitor.watchReplica(0, replica)
	require.Equal(t, []Check{"R5"}, r.findings.failed)
}

func TestAnAcknowledgementAheadOfTheLogFailsR10(t *testing.T) {
	r := quiet(t, 11)
	end := r.log().End
	r.monitor.checkAcknowledged(0, -1, end-1, 1)
	require.Empty(t, r.findings.failed)
	r.monitor.checkAcknowledged(0, -1, end, 1)
	require.Equal(t, []Check{"R10"}, r.findings.failed)
}

func TestCopiesAndHolesOfAProducerFailP1AndP2(t *testing.T) {
	batch := func(base kafka.Offset, sequence kafka.Sequence) storedlog.Batch {
		b := record.Builder{Spec: record.Plain()}
		b.Spec.BaseOffset, b.Spec.ProducerID, b.Spec.ProducerEpoch = base, 4, 0
		b.Spec.BaseSequence = sequence
		b.Add(record.Record{Value: []byte("v")})
		return storedlog.Batch{View: b.Build(nil, nil)}
	}
	for _, c := range []struct {
		sequences []kafka.Sequence
		want      []Check
	}{
		{[]kafka.Sequence{1<<31 - 2, 1<<31 - 1, 0, 1}, nil},
		{[]kafka.Sequence{0, 1, 3}, []Check{"P2"}},
		{[]kafka.Sequence{0, 1, 1}, []Check{"P1", "P2"}},
	} {
		f := &findings{counters: counters{}}
		log := &storedlog.Log{}
		for i, s := range c.sequences {
			log.Batches = append(log.Batches, batch(kafka.Offset(i), s))
		}
		checkSequences(f, 0, log)
		require.Equal(t, c.want, f.failed)
	}
}

func TestRecoveriesThatDifferFailS4(t *testing.T) {
	r := quiet(t, 12)
	r.monitor.checkRecoverTwice(0, 7)
	require.Empty(t, r.findings.failed, r.findings.evidence)
	require.Positive(t, r.findings.counters["checked.S4"])
	whole := r.monitor.recovery(0, false)
	whole.RecoveryPoint = 0 // the first segment, too, is read
	want := r.monitor.newWorkshop().recover(whole, 0)
	w := r.monitor.newWorkshop()
	require.True(t, w.disk.Flip(r.firstSegment(".log"), 70, 1))
	r.monitor.sameState("S4", 0, want, w.recover(whole, 0), "tampered")
	require.Equal(t, []Check{"S4"}, r.findings.failed)
}

func TestSafetyIsReportedBeforeLiveness(t *testing.T) {
	f := &findings{counters: counters{}}
	require.Equal(t, Passed, f.worst())
	f.fails("L1", "late")
	require.Equal(t, Check("L1"), f.worst())
	f.fails("S3", "wrong")
	require.Equal(t, Check("S3"), f.worst())
}
