package scenarios

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/node"
	"stet/scenarios/schedule"
	"stet/scenarios/storedlog"
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

	before    *storedlog.Log // in the page cache at the last crash
	surviving kafka.Offset   // what a recovery must find at least
	crash     sim.Cause      // the last one

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
func (m *monitor) started(*sim.Machine) {
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
	for i, r := range replicas(m.machine, m.plan.Topic.Partitions) {
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

// wiped is told that the directory is lost, which happens in clusters only.
func (m *monitor) wiped(*sim.Machine) {}

// struck is told that a call of the disk meets a fault that it will return.
func (m *monitor) struck(op sim.DiskOp, v schedule.Verb) {
	if m.recorder.inFlight > 0 {
		m.counters[CounterInFlight]++
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
	m.recorder.excuse(p, readLog(m.machine.Disk, p, storedlog.Durable).End, reason)
}
