package scenarios

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// beforeCrash sees the process and the disk that it worked on.
func (m *monitor) beforeCrash(c sim.Cause) {
	m.counters["faults."+c.String()]++
	if m.recorder.inFlight > 0 {
		m.counters[CounterInFlight]++
	}
	if m.machine.Running() && m.recovering() {
		m.counters["faults.recoveries_interrupted"]++
	}
	for i, r := range replicas(m.machine, m.plan.Topic.Partitions) {
		p := kafka.PartitionID(i)
		w := &m.partitions[i]
		w.before, w.crash = readLog(m.machine.Disk, p, storedlog.Cached), c
		w.surviving = w.before.End
		m.forget(p, w, c)
		if c == sim.PowerLost {
			medium := readLog(m.machine.Disk, p, storedlog.Durable)
			w.surviving = medium.End
			m.excuse(p, "power loss")
			m.checkSynced(p, r, medium)
		}
	}
	if c == sim.PowerLost {
		m.checkRecoveryPoints()
	}
}

// forget notes that a process dies which alone knows that a sync of the log has failed. The next
// one takes what it reads in the page cache for good, unless the mark of a recovery warns it: what
// is acknowledged on top may vanish with the evicted pages. That is a residual risk of one replica
// (a kernel that tells of a failed sync once), and excused from here on.
func (m *monitor) forget(p kafka.PartitionID, w *watched, c sim.Cause) {
	mark := partitionPath(p)
	mark.Name += "/" + recoveryMark
	if _, warned := m.machine.Disk.Bytes(mark); !w.suspect || warned || c == sim.PowerLost {
		w.suspect = w.suspect && c != sim.PowerLost
		return
	}
	if from := 1 + readLog(m.machine.Disk, p, storedlog.Durable).End; w.forgotten == 0 || from < w.forgotten {
		w.forgotten = from
	}
}

// recoveryMark is the file that says that a recovery has begun.
const recoveryMark = "recovery.tmp"

// excuseForgotten excuses what forget has found, at the end of the run.
func (m *monitor) excuseForgotten() {
	for i := range m.partitions {
		if from := m.partitions[i].forgotten; from > 0 {
			m.counters["faults.failed_syncs_forgotten"]++
			m.recorder.excuse(kafka.PartitionID(i), from-1, "failed sync, then a kill")
		}
	}
}

// givenUp says that a partition stepped aside because of what forget has found: it refuses to serve,
// as it must, and nobody waits for it.
func (m *monitor) givenUp(p kafka.PartitionID) bool {
	r := replicas(m.machine, m.plan.Topic.Partitions)[p]
	if m.partitions[p].forgotten == 0 || r == nil || r.State() != partition.Damaged {
		return false
	}
	m.counters["faults.partitions_given_up"]++
	return true
}

func (m *monitor) recovering() bool {
	if !m.machine.Ready() {
		return true
	}
	for _, r := range replicas(m.machine, m.plan.Topic.Partitions) {
		if r != nil && r.State() != partition.Online {
			return true
		}
	}
	return false
}

// checkSynced is S1 and S9 at the moment that matters: what the log takes for synced is on the
// medium, under a name that is durable.
func (m *monitor) checkSynced(p kafka.PartitionID, r *partition.Replica, medium *storedlog.Log) {
	if r == nil || r.Log() == nil || r.Log().Fenced() || m.partitions[p].rotten {
		return
	}
	synced := r.Log().Synced()
	if synced > 0 {
		m.checked("S1")
		m.checked("S9")
	}
	if medium.End >= synced {
		return
	}
	for _, base := range segmentBases(m.machine.Disk, p) {
		if _, ok := m.machine.Disk.DurableSize(segmentPath(p, base, ".log")); !ok && base < synced {
			m.fails("S9", "%s: synced to %d, but segment %d has no durable name",
				topicPartition(p), synced, base)
			return
		}
	}
	m.fails("S1", "%s: synced to %d, but the medium has it to %d: %s", topicPartition(p), synced,
		medium.End, medium.Problem)
}

// checkRecoveryPoints is S1 for the checkpoint: it never says durable of what is not.
func (m *monitor) checkRecoveryPoints() {
	for p, point := range m.recoveryPoints(storedlog.Durable) {
		if point == 0 || m.partitions[p].rotten {
			continue
		}
		m.checked("S1")
		if medium := readLog(m.machine.Disk, kafka.PartitionID(p), storedlog.Durable); medium.End < point {
			m.fails("S1", "%s: durable recovery point %d, but the medium has it to %d: %s",
				topicPartition(kafka.PartitionID(p)), point, medium.End, medium.Problem)
		}
	}
}

// recoveryPoints returns the checkpointed recovery points by partition.
func (m *monitor) recoveryPoints(read storedlog.Reading) []kafka.Offset {
	points := make([]kafka.Offset, m.plan.Topic.Partitions)
	b, _ := read(m.machine.Disk, env.Path{Name: commitlog.RecoveryPointCheckpointName})
	entries, err := commitlog.DecodeCheckpoint(b)
	if err != nil {
		m.fails("S3", "%s: %v", commitlog.RecoveryPointCheckpointName, err)
	}
	for _, e := range entries {
		if e.Partition.Topic == topicName && int(e.Partition.Partition) < len(points) {
			points[e.Partition.Partition] = e.Offset
		}
	}
	return points
}

// cameOnline is S1, S2 and S3 after a recovery: the log is sound, it is a prefix of what was there
// before the crash, and it has all that had to survive.
func (m *monitor) cameOnline(p kafka.PartitionID, r *partition.Replica) {
	w := &m.partitions[p]
	w.suspect = false
	log := readLog(m.machine.Disk, p, storedlog.Cached)
	m.checked("S3")
	if log.Problem != "" || log.End != r.Log().Written() {
		m.fails("S3", "%s: online at %d, its files are sound to %d: %s", topicPartition(p),
			r.Log().Written(), log.End, log.Problem)
	}
	if w.before == nil {
		return
	}
	if !w.rotten {
		m.checked("S1")
		if log.End < w.surviving {
			m.fails("S1", "%s: recovered to %d after %s, %d had to survive", topicPartition(p),
				log.End, w.crash, w.surviving)
		}
	}
	m.checked("S2")
	if at, ok := differ(w.before, log); ok {
		m.fails("S2", "%s: offset %d is not what it was before %s", topicPartition(p), at, w.crash)
	}
	w.before = nil
}

// differ finds the first batch in the part that two logs have in common that is not the same.
func differ(a, b *storedlog.Log) (kafka.Offset, bool) {
	for i := range min(len(a.Batches), len(b.Batches)) {
		x, y := a.Batches[i], b.Batches[i]
		if x.BaseOffset() != y.BaseOffset() || x.CRC() != y.CRC() ||
			x.LeaderEpoch() != y.LeaderEpoch() {
			return x.BaseOffset(), true
		}
	}
	return 0, false
}
