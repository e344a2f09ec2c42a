package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
	"stet/core/partition"
	"stet/linearizability"
	"stet/scenarios/storedlog"
	"stet/sim"
	"stet/sim/client"
)

// replicated is a run of replication without faults up to its judgement, with three replicas.
func replicated(t *testing.T) *replicationRun {
	seed := uint64(1)
	for fits := false; !fits; seed++ {
		p := replicationPlanOf(failover(), seed, Options{Calm: true})
		fits = p.Replicas.Factor == 3 && !p.Replicas.BlackBox && p.Topic.Partitions == 1
		for i := range p.Producers {
			fits = fits && p.Producers[i].Idempotent
		}
	}
	p := replicationPlanOf(failover(), seed-1, Options{Calm: true})
	p.End.CleanStop = false
	r := newReplicationRun(failover(), seed-1, Options{Schedule: p.Schedule})
	t.Cleanup(r.close)
	r.play()
	require.Empty(t, r.findings.failed, "%v", r.findings.evidence)
	return r
}

// follower returns a follower of the only partition, and its machine.
func (w *replicaWatch) follower(t *testing.T) (*sim.Machine, *partition.Replica) {
	leads, _ := w.leader(0)
	for _, id := range w.partition(0).Replicas {
		if m := w.saboteur.machine(sim.Place(id)); m != leads {
			return m, replicas(m, 1)[0]
		}
	}
	t.Fatal("no follower")
	return nil, nil
}

func TestReplicasThatDifferFireR14(t *testing.T) {
	r := replicated(t)
	m, _ := r.replicas.follower(t)
	log := readLog(m.Disk, 0, storedlog.Cached)
	last := log.Segments[len(log.Segments)-1]
	path := segmentPath(0, last.Base, ".log")
	b, _ := m.Disk.Bytes(path)
	m.Disk.Put(path, b[:len(b)-1])
	r.findings.failed = nil
	r.replicas.inspect()
	require.Contains(t, r.findings.failed, Check("R14"))
}

func TestAHighWatermarkOfAFollowerBehindItsLogFiresR9(t *testing.T) {
	r := replicated(t)
	m, follower := r.replicas.follower(t)
	r.replicas.checkOffsets(m, 0, follower)
	require.Empty(t, r.findings.failed)
	plant(t, follower, "highWatermark", int64(follower.Log().Written())+1)
	r.replicas.checkOffsets(m, 0, follower)
	require.Equal(t, []Check{"R9"}, r.findings.failed)
}

func TestAnAcknowledgementOfWhatIsNotCommittedFiresR10(t *testing.T) {
	r := replicated(t)
	s := &linearizability.Send{Partition: partitionOf(0), Acks: -1, Records: make([]linearizability.Value, 2)}
	end := r.replicas.state.CommittedEnd(0)
	r.replicas.acknowledged(s, end-2)
	require.Empty(t, r.findings.failed)
	r.replicas.acknowledged(s, end-1)
	require.Equal(t, []Check{"R10"}, r.findings.failed)
}

func TestARetryOfAReplicatedBatchThatIsToldAnotherOffsetFiresP3(t *testing.T) {
	r := replicated(t)
	for _, s := range r.recorder.sends {
		if !s.Idempotent || s.Acks != -1 || len(s.Attempts) != 1 || s.Attempts[0].BaseOffset < 0 {
			continue
		}
		again := *s
		again.Attempts = append(again.Attempts[:1:1], again.Attempts[0])
		r.replicas.retried(&again, s.Attempts[0].BaseOffset)
		require.Empty(t, r.findings.failed)
		r.replicas.retried(&again, (s.Attempts[0].BaseOffset+kafka.Offset(len(s.Records)))%r.replicas.state.CommittedEnd(0))
		require.Equal(t, []Check{"P3"}, r.findings.failed)
		return
	}
	t.Fatal("no send fits")
}

// TestARefusalByADeposedLeaderIsNoTrouble has an attempt end whose sequence is refused at the head of the
// line: by who led all the time that is P4, by anybody else it is what an old leader says.
func TestARefusalByADeposedLeaderIsNoTrouble(t *testing.T) {
	r := replicated(t)
	leads, _ := r.replicas.leader(0)
	follows, _ := r.replicas.follower(t)
	_, o := r.workload.host(9, false)
	for _, m := range []*sim.Machine{follows, leads} {
		require.Empty(t, r.recorder.troubles)
		s := &client.Send{Tag: tracked{Send: &linearizability.Send{}}, Server: client.Server{Place: m.Place, Addr: m.Addr}}
		o.AttemptStarted(s)
		o.AttemptEnded(s, client.Attempt{Ending: client.Answered, Code: kafka.OutOfOrderSequenceNumber})
		o.Trouble(client.TroubleSequence)
	}
	require.Len(t, r.recorder.troubles, 1)
	r.judgeTroubles(r.recorder, r.plan.Schedule)
	require.Equal(t, []Check{"P4"}, r.findings.failed)
}
