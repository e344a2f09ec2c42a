package scenarios

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/node"
	"stet/scenarios/schedule"
	"stet/sim"
)

// monitor watches one node: after every turn, before and after every crash. It is a node.Tap.
type monitor struct {
	world    *sim.World
	machine  *sim.Machine
	plan     *schedule.Schedule
	recorder *recorder
	ghost    *ghost
	*findings

	partitions []watched
	failed     map[env.FileID]env.Errno // files with a failed effect, of this life
	failing    []failure
	wrote      bool   // this life has written to a log
	clones     uint64 // disks that were cloned, for their seeds
}

// watched is what is remembered of one partition.
type watched struct {
	replica *partition.Replica // of this life
	online  bool               // it was seen online in this life
	fences  int64
	high    kafka.Offset

	before    *storedLog   // in the page cache at the last crash
	surviving kafka.Offset // what a recovery must find at least
	crash     sim.Cause    // the last one

	unsynced bool // a sync of the log has failed and the log was not fenced yet
	suspect  bool // a sync of the log has failed and no recovery has ended since
	rotten   bool // a sync of the log has ever failed
	// forgotten is where the doubt begins that a killed process took along: 0 for none.
	forgotten kafka.Offset
}

func newMonitor(w *sim.World, m *sim.Machine, p *schedule.Schedule, r *recorder, f *findings) *monitor {
	out := &monitor{
		world: w, machine: m, plan: p, recorder: r, ghost: r.ghost, findings: f,
		partitions: make([]watched, p.Topic.Partitions), failed: map[env.FileID]env.Errno{},
	}
	r.onRetry = out.checkRetry
	return out
}

// started forgets what belonged to the last life.
func (m *monitor) started() {
	clear(m.failed)
	m.failing = nil
	m.wrote = false
	for i := range m.partitions {
		w := &m.partitions[i]
		w.replica, w.online, w.fences = nil, false, 0
	}
}

// Turning implements node.Tap. A turn may have emitted an effect before it takes an event of its
// own batch, so a failure counts from the next turn on.
func (m *monitor) Turning(l node.LoopID, _ env.Now, in []env.Event) {
	if l != node.BrokerLoop {
		return
	}
	m.failing = m.failing[:0]
	for i := range in {
		if ev := &in[i]; ev.Kind == env.EventFileDone && ev.Err != env.OK {
			m.failing = append(m.failing, failure{ev.File, ev.Err})
		}
	}
}

// Turned implements node.Tap.
func (m *monitor) Turned(l node.LoopID, out *env.Effects) {
	if l != node.BrokerLoop {
		return
	}
	m.watchFiles(out)
	for i, r := range replicas(m.machine.Node(), m.plan.Topic.Partitions) {
		if r != nil {
			m.watchReplica(kafka.PartitionID(i), r)
		}
	}
}

// failure is a failed effect on a file.
type failure struct {
	file env.FileID
	err  env.Errno
}

// watchFiles is S6 and the half of S5 that concerns a start. After a failed effect on a file
// nothing is asked of it but to be closed; the clean marker is gone before a log is written to.
func (m *monitor) watchFiles(out *env.Effects) {
	for i := range out.File {
		op := &out.File[i]
		if err, ok := m.failed[op.File]; ok {
			m.checked("S6")
			if op.Op != env.FileClose && op.Op != env.FileRemove {
				m.fails("S6", "effect %d on %s after its failure: %s", op.Op, op.Path, err)
			}
		}
		if op.Op == env.FileWrite && !m.wrote {
			m.wrote = true
			m.watchMarker()
		}
	}
	for _, f := range m.failing {
		m.failed[f.file] = f.err
	}
	m.failing = m.failing[:0]
}

func (m *monitor) watchMarker() {
	m.checked("S5")
	p := env.Path{Name: commitlog.CleanMarkerName}
	if _, ok := m.machine.Disk.DurableBytes(p); ok {
		m.fails("S5", "the clean marker is durable while a log is written to")
	}
}

// watchReplica is R9, and R5 for one replica, after a turn.
func (m *monitor) watchReplica(p kafka.PartitionID, r *partition.Replica) {
	w := &m.partitions[p]
	if w.replica != r {
		w.replica, w.online, w.fences, w.high = r, false, r.Counters.Fences, 0
	}
	if r.Counters.Fences > w.fences {
		w.fences = r.Counters.Fences
		m.fenced(p, w)
	}
	log := r.Log()
	if w.online || r.State() == partition.Online {
		m.ghost.see(p, r.HighWatermark()) // a turn may acknowledge and then find a failure
	}
	if r.State() != partition.Online || log == nil {
		w.online = false
		return
	}
	if !w.online {
		w.online, w.high = true, 0
		m.cameOnline(p, r)
	}
	m.checked("R9")
	high := r.HighWatermark()
	ordered := r.LogStartOffset() <= r.LastStableOffset() && r.LastStableOffset() <= high &&
		high <= log.Written() && log.Synced() <= log.Written() && log.Written() <= log.Assigned() &&
		log.RecoveryPoint() <= log.Synced()
	if !ordered {
		m.fails("R9", "%s: start %d, stable %d, high %d, recovery point %d, synced %d, written %d, "+
			"assigned %d", topicPartition(p), r.LogStartOffset(), r.LastStableOffset(), high,
			log.RecoveryPoint(), log.Synced(), log.Written(), log.Assigned())
	}
	m.checked("R5")
	if high < w.high {
		m.fails("R5", "%s: the high watermark went from %d to %d", topicPartition(p), w.high, high)
	}
	w.high = high
}

// struck is told that a call of the disk meets a fault that it will return.
func (m *monitor) struck(op sim.DiskOp, v schedule.Verb) {
	if m.recorder.inFlight > 0 {
		m.counters["faults.in_flight"]++
	}
	if p, isLog := logOf(op.Path); isLog && v == schedule.EIO && op.Kind == sim.DiskSync {
		m.syncFailed(p)
	}
}

// syncFailed is told that a sync of a partition's log is failing. What the medium does not have
// may be lost from now on: an excuse without flush mode. With it nothing of that was acknowledged.
func (m *monitor) syncFailed(p kafka.PartitionID) {
	w := &m.partitions[p]
	w.unsynced, w.suspect, w.rotten = true, true, true
	m.counters["faults.failed_syncs_of_logs"]++
	m.excuse(p, "failed sync")
}

// fenced is told that a log was given up. What was acknowledged between the failing of its sync
// and this turn is excused with the rest.
func (m *monitor) fenced(p kafka.PartitionID, w *watched) {
	m.counters["node.fences"]++
	if w.unsynced {
		w.unsynced = false
		m.excuse(p, "failed sync")
	}
}

func (m *monitor) excuse(p kafka.PartitionID, reason string) {
	if m.plan.FlushMode() {
		return
	}
	m.recorder.excuse(p, readLog(m.machine.Disk, p, durable).end, reason)
}

// beforeCrash sees the process and the disk that it worked on.
func (m *monitor) beforeCrash(c sim.Cause) {
	m.counters["faults."+c.String()]++
	if m.recorder.inFlight > 0 {
		m.counters["faults.in_flight"]++
	}
	if m.machine.Running() && m.recovering() {
		m.counters["faults.recoveries_interrupted"]++
	}
	for i, r := range replicas(m.machine.Node(), m.plan.Topic.Partitions) {
		p := kafka.PartitionID(i)
		w := &m.partitions[i]
		w.before, w.crash = readLog(m.machine.Disk, p, cached), c
		w.surviving = w.before.end
		m.forget(p, w, c)
		if c == sim.PowerLost {
			medium := readLog(m.machine.Disk, p, durable)
			w.surviving = medium.end
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
	if from := 1 + readLog(m.machine.Disk, p, durable).end; w.forgotten == 0 || from < w.forgotten {
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
	r := replicas(m.machine.Node(), m.plan.Topic.Partitions)[p]
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
	for _, r := range replicas(m.machine.Node(), m.plan.Topic.Partitions) {
		if r != nil && r.State() != partition.Online {
			return true
		}
	}
	return false
}

// checkSynced is S1 and S9 at the moment that matters: what the log takes for synced is on the
// medium, under a name that is durable.
func (m *monitor) checkSynced(p kafka.PartitionID, r *partition.Replica, medium *storedLog) {
	if r == nil || r.Log() == nil || r.Log().Fenced() || m.partitions[p].rotten {
		return
	}
	synced := r.Log().Synced()
	if synced > 0 {
		m.checked("S1")
		m.checked("S9")
	}
	if medium.end >= synced {
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
		medium.end, medium.problem)
}

// checkRecoveryPoints is S1 for the checkpoint: it never says durable of what is not.
func (m *monitor) checkRecoveryPoints() {
	for p, point := range m.recoveryPoints(durable) {
		if point == 0 || m.partitions[p].rotten {
			continue
		}
		m.checked("S1")
		if medium := readLog(m.machine.Disk, kafka.PartitionID(p), durable); medium.end < point {
			m.fails("S1", "%s: durable recovery point %d, but the medium has it to %d: %s",
				topicPartition(kafka.PartitionID(p)), point, medium.end, medium.problem)
		}
	}
}

// recoveryPoints returns the checkpointed recovery points by partition.
func (m *monitor) recoveryPoints(read reading) []kafka.Offset {
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
	log := readLog(m.machine.Disk, p, cached)
	m.checked("S3")
	if log.problem != "" || log.end != r.Log().Written() {
		m.fails("S3", "%s: online at %d, its files are sound to %d: %s", topicPartition(p),
			r.Log().Written(), log.end, log.problem)
	}
	if w.before == nil {
		return
	}
	if !w.rotten {
		m.checked("S1")
		if log.end < w.surviving {
			m.fails("S1", "%s: recovered to %d after %s, %d had to survive", topicPartition(p),
				log.end, w.crash, w.surviving)
		}
	}
	m.checked("S2")
	if at, ok := differ(w.before, log); ok {
		m.fails("S2", "%s: offset %d is not what it was before %s", topicPartition(p), at, w.crash)
	}
	w.before = nil
}

// differ finds the first batch in the part that two logs have in common that is not the same.
func differ(a, b *storedLog) (kafka.Offset, bool) {
	for i := range min(len(a.batches), len(b.batches)) {
		x, y := a.batches[i], b.batches[i]
		if x.BaseOffset() != y.BaseOffset() || x.CRC() != y.CRC() ||
			x.LeaderEpoch() != y.LeaderEpoch() {
			return x.BaseOffset(), true
		}
	}
	return 0, false
}

// checkAcknowledged is R10: when a client learns that a batch stands, it lies below the high
// watermark, in the log, and with flush mode on the medium.
func (m *monitor) checkAcknowledged(p kafka.PartitionID, acks int16, base kafka.Offset, count int) {
	last := base + kafka.Offset(count) - 1
	if base < 0 || acks == 0 {
		return
	}
	m.checked("R10")
	if acks == -1 {
		if high := m.ghost.at(p, 0).HighWatermark; last >= high {
			m.fails("R10", "%s: offset %d was acknowledged, the high watermark never passed %d",
				topicPartition(p), last, high)
		}
	}
	if !m.plan.FlushMode() || m.partitions[p].rotten {
		return
	}
	m.checked("R10")
	if !m.onMedium(p, base, last) {
		m.fails("R10", "%s: offsets %d to %d were acknowledged in flush mode and are not durable",
			topicPartition(p), base, last)
	}
}

// onMedium says whether the medium has the batch that holds offsets [base, last].
func (m *monitor) onMedium(p kafka.PartitionID, base, last kafka.Offset) bool {
	bases := segmentBases(m.machine.Disk, p)
	at := len(bases) - 1
	for at > 0 && bases[at] > base {
		at--
	}
	if at < 0 {
		return false
	}
	content, ok := m.machine.Disk.DurableBytes(segmentPath(p, bases[at], ".log"))
	if !ok {
		return false
	}
	l := &storedLog{end: bases[at], segments: []storedSegment{{base: bases[at]}}}
	epoch := kafka.NoLeaderEpoch
	l.readSegment(bases[at], content, &epoch)
	return l.end > last
}
