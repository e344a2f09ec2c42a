package scenarios

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/linearizability"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// plant changes a field that no caller may: what a bug of its owner would do to it.
func plant(t *testing.T, owner any, field string, value int64) {
	v := reflect.ValueOf(owner).Elem().FieldByName(field)
	require.True(t, v.IsValid(), "%T has no field %s", owner, field)
	reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem().SetInt(value)
}

func TestARetryThatIsToldAnotherOffsetFailsP3(t *testing.T) {
	r := quiet(t, 21)
	var send *linearizability.Send
	for _, s := range r.recorder.sends {
		if s.Idempotent && len(s.Records) > 1 && len(s.Attempts) == 1 {
			send = s
		}
	}
	require.NotNil(t, send)
	base := send.Attempts[0].BaseOffset
	r.monitor.checkRetry(send, base+1)
	require.Empty(t, r.findings.failed, "it was tried once")

	again := *send
	again.Attempts = append(again.Attempts[:1:1], again.Attempts[0])
	before := r.findings.counters["checked.P3"]
	r.monitor.checkRetry(&again, base)
	require.Empty(t, r.findings.failed, r.findings.evidence)
	require.Equal(t, before+1, r.findings.counters["checked.P3"])
	r.monitor.checkRetry(&again, base+1) // inside its own batch
	require.Equal(t, []Check{"P3"}, r.findings.failed)

	r.findings.failed = nil
	r.monitor.checkRetry(&again, (base+kafka.Offset(len(send.Records)))%r.log().End)
	require.Equal(t, []Check{"P3"}, r.findings.failed, "another batch")

	r.findings.failed = nil
	r.recorder.excuse(0, base, "test")
	r.monitor.checkRetry(&again, base+1)
	require.Empty(t, r.findings.failed, "excused")
}

func TestRetriesUnderFaultsAreCheckedForP3(t *testing.T) {
	result := Run(idempotentRetries(), 1, Options{})
	require.Equal(t, Passed, result.Check, result.Evidence)
	require.Positive(t, result.Counters["checked.P3"])
}

func TestEndsOutOfOrderFailR9(t *testing.T) {
	for name, disorder := range map[string]func(*run) (owner any, field string, value int64){
		"high watermark above the log's end": func(r *run) (any, string, int64) {
			replica := replicas(r.machine, 1)[0]
			return replica, "highWatermark", int64(replica.Log().Written()) + 1
		},
		"log start above the high watermark": func(r *run) (any, string, int64) {
			log := replicas(r.machine, 1)[0].Log()
			return log, "logStart", int64(log.Written()) + 1
		},
		"recovery point above what is synced": func(r *run) (any, string, int64) {
			log := replicas(r.machine, 1)[0].Log()
			return log, "recoveryPoint", int64(log.Synced()) + 1
		},
		"synced above what is written": func(r *run) (any, string, int64) {
			log := replicas(r.machine, 1)[0].Log()
			return log, "synced", int64(log.Written()) + 1
		},
		"assigned below what is written": func(r *run) (any, string, int64) {
			log := replicas(r.machine, 1)[0].Log()
			return log, "assigned", int64(log.Written()) - 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := quiet(t, 22)
			replica := replicas(r.machine, 1)[0]
			r.monitor.watchReplica(0, replica)
			require.Empty(t, r.findings.failed)
			owner, field, value := disorder(r)
			plant(t, owner, field, value)
			r.monitor.watchReplica(0, replica)
			require.Equal(t, []Check{"R9"}, r.findings.failed)
		})
	}
}

func TestMemoryThatTheFilesDoNotSupportFailsR12(t *testing.T) {
	r := quiet(t, 23)
	log := replicas(r.machine, 1)[0].Log()
	r.monitor.checkDerived(0, log)
	require.Empty(t, r.findings.failed, r.findings.evidence)

	// The files have a batch of a producer that the process knows nothing of.
	stored := r.log()
	b := record.Builder{Spec: record.Plain()}
	b.Spec.BaseOffset, b.Spec.LeaderEpoch = stored.End, log.LatestEpoch()
	b.Spec.ProducerID, b.Spec.ProducerEpoch, b.Spec.BaseSequence = 4711, 0, 0
	b.Add(record.Record{Timestamp: sim.WallEpochMs, Value: []byte("unknown")})
	last := segmentPath(0, stored.Segments[len(stored.Segments)-1].Base, ".log")
	content, ok := r.machine.Disk.Bytes(last)
	require.True(t, ok)
	r.machine.Disk.Put(last, b.Build(content, nil))
	r.monitor.checkDerived(0, log)
	require.Equal(t, []Check{"R12"}, r.findings.failed)
}

func TestALogThatCanNotBeRecoveredFailsR12(t *testing.T) {
	r := quiet(t, 24)
	r.machine.Disk.Put(r.firstSegment(".log"), []byte("no batch at all"))
	log := replicas(r.machine, 1)[0].Log()
	require.Positive(t, log.RecoveryPoint(), "below it a recovery refuses")
	r.monitor.checkDerived(0, log)
	require.Equal(t, []Check{"R12"}, r.findings.failed)
}

func TestDecayTakenForTheEndOfTheLogFailsS7(t *testing.T) {
	r := quiet(t, 25)
	log := r.log()
	job := r.monitor.recovery(0, false)
	require.Positive(t, job.RecoveryPoint)
	for pick := range 20 {
		r.monitor.checkCorruption(0, log, pick*97)
	}
	require.Empty(t, r.findings.failed, r.findings.evidence)
	require.EqualValues(t, 20, r.findings.counters["checked.S7"])

	// A recovery that does not know of the recovery point takes decay for a torn tail.
	w := r.monitor.newWorkshop()
	require.True(t, w.disk.Flip(r.firstSegment(".log"), 20, 3))
	point := job.RecoveryPoint
	job.RecoveryPoint = 0
	short := w.recover(job, 0)
	require.True(t, short.Usable())
	r.monitor.judgeDecay(0, 0, point, short)
	require.Equal(t, []Check{"S7"}, r.findings.failed)
}

func TestADecayedLogThatIsRefusedOrCompletePassesS7(t *testing.T) {
	r := quiet(t, 26)
	r.monitor.judgeDecay(0, 0, 5, &commitlog.Recovered{Corrupt: true})
	r.monitor.judgeDecay(0, 0, 5, &commitlog.Recovered{End: 5})
	require.Empty(t, r.findings.failed)
}

func TestASyncedSegmentWithoutADurableNameFailsS9(t *testing.T) {
	r := quiet(t, 27)
	replica := replicas(r.machine, 1)[0]
	medium := func() *storedlog.Log { return readLog(r.machine.Disk, 0, storedlog.Durable) }
	r.monitor.checkSynced(0, replica, medium())
	require.Empty(t, r.findings.failed, r.findings.evidence)
	require.Positive(t, r.findings.counters["checked.S9"])

	// The first segment is moved away durably, and back without a sync of its directory.
	owner := r.world.Scheduler.NewOwner(r.machine.Place)
	mount := r.machine.Disk.Mount(owner)
	r.world.Scheduler.Spawn(0, owner, "move", func() {
		name, away := r.firstSegment(".log"), env.Path{Name: partitionPath(0).Name + "/away"}
		require.Equal(t, env.OK, mount.Rename(name, away))
		require.Equal(t, env.OK, mount.SyncDir(partitionPath(0)))
		require.Equal(t, env.OK, mount.Rename(away, name))
	})
	r.world.Run(sim.Second, nil)
	require.Empty(t, r.findings.failed, r.findings.evidence)
	r.monitor.checkSynced(0, replica, medium())
	require.Equal(t, []Check{"S9"}, r.findings.failed)
}
