package scenarios

import (
	"fmt"
	"slices"

	"stet/core/broker"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/linearizability"
	"stet/scenarios/invariants"
	"stet/scenarios/storedlog"
	"stet/sim"
	"stet/sim/client"
)

// replicaWatch watches the replicas of the topic on every machine: after each turn of a broker, and
// when a fault damages them.
type replicaWatch struct {
	*replicationRun
	state *invariants.Replicas
	logs  map[replicaAt]*seenLog
}

// replicaAt is a replica of the topic.
type replicaAt struct {
	place     sim.Place
	partition kafka.PartitionID
}

// seenLog is what was seen of the log of a replica in the turn before.
type seenLog struct {
	replica *partition.Replica
	state   partition.State
	epoch   kafka.LeaderEpoch
}

func newReplicaWatch(r *replicationRun) *replicaWatch {
	w := &replicaWatch{
		replicationRun: r, logs: map[replicaAt]*seenLog{},
		state: invariants.NewReplicas(stateFindings{r.findings}, r.watch.state.Ledger, topicName, r.plan.Topic.Partitions),
	}
	w.state.Flush = r.plan.FlushMode()
	w.state.Committed = r.recorder.ghost.see
	w.state.Lost = func(p kafka.PartitionID, from kafka.Offset) {
		r.recorder.excuse(p, from, "more replicas damaged at once than the promise stands")
	}
	r.watch.state.Committed = w.state.Changed
	return w
}

// turned looks at the replicas of a broker after its turn.
func (w *replicaWatch) turned(m *sim.Machine, b *broker.Broker) {
	for i := range w.plan.Topic.Partitions {
		p := partitionID(i)
		r := b.Replica(topicPartition(p))
		if r == nil {
			continue
		}
		at := replicaAt{m.Place, p}
		if w.logs[at] == nil {
			w.logs[at] = &seenLog{}
		}
		w.look(m, p, r, w.logs[at])
	}
}

func (w *replicaWatch) look(m *sim.Machine, p kafka.PartitionID, r *partition.Replica, before *seenLog) {
	s := w.state.At(p, m.Place)
	log := r.Log()
	wasOnline := before.replica == r && before.state == partition.Online
	before.replica, before.state = r, r.State()
	s.Online = r.State() == partition.Online && log != nil && !log.Fenced()
	if !s.Online {
		if wasOnline {
			w.state.Seen(p, s)
		}
		return
	}
	if what := s.Log.Follow(m.Disk, partitionPath(p), log.Written(), !wasOnline); what != "" {
		w.findings.fails("S3", "%s of %s, written to %d: %s", topicPartition(p), m.Place, log.Written(), what)
		s.Online = false
		return
	}
	s.Life, s.Synced, s.HighWatermark = m.Lives(), log.Synced(), r.HighWatermark()
	var in partition.InSync
	if in, s.Leads = r.InSync(); s.Leads {
		s.Epoch = r.LeaderEpoch()
	} else if f, follows := r.Following(); follows {
		s.Epoch = f.Epoch
	}
	s.ISR, s.MaximalISR, s.PartitionEpoch, s.Pending = in.ISR, in.Maximal, in.PartitionEpoch, in.Pending
	if !wasOnline || before.epoch != s.Epoch {
		s.Epochs = log.DerivedState().Epochs
		before.epoch = s.Epoch
	}
	w.checkOffsets(m, p, r)
	w.state.Seen(p, s)
}

// checkOffsets is R9, and the part of R11 that no record tells: a leader's own epoch is the last that its
// log knows of, from before its first record on.
func (w *replicaWatch) checkOffsets(m *sim.Machine, p kafka.PartitionID, r *partition.Replica) {
	log, high := r.Log(), r.HighWatermark()
	w.findings.checked("R9")
	if start := r.LogStartOffset(); start > r.LastStableOffset() || r.LastStableOffset() > high || high > log.Written() {
		w.findings.fails("R9", "%s of %s: start %d, stable %d, high %d, written %d", topicPartition(p), m.Place, start,
			r.LastStableOffset(), high, log.Written())
	}
	if own := r.LeaderEpoch(); own >= 0 && log.LatestEpoch() != own {
		w.findings.fails("R11", "%s: %s leads in epoch %d, and the last that its log knows of is %d", topicPartition(p),
			m.Place, own, log.LatestEpoch())
	}
}

// damaged is told that a fault has damaged what a machine has of the topic: one partition, or with -1
// all. What is durable is still there, or with lost nothing.
func (w *replicaWatch) damaged(m *sim.Machine, p kafka.PartitionID, lost bool) {
	if w.plan.FlushMode() && !lost {
		return
	}
	for i := range w.plan.Topic.Partitions {
		if p >= 0 && p != partitionID(i) {
			continue
		}
		surviving := kafka.Offset(0)
		if !lost {
			surviving = readLog(m.Disk, partitionID(i), storedlog.Durable).End
		}
		w.state.Damaged(partitionID(i), m.Place, surviving)
	}
}

// acknowledged is R10 for a client: what it is told that stands is committed.
func (w *replicaWatch) acknowledged(s *linearizability.Send, base offset) {
	last := base + kafka.Offset(len(s.Records)) - 1
	if base < 0 || s.Acks != -1 {
		return
	}
	w.findings.checked("R10")
	if high := w.recorder.ghost.at(s.Partition.Index, 0).HighWatermark; last >= high {
		w.findings.fails("R10", "%s: offset %d was acknowledged, and never more than %d was committed", s.Partition, last, high)
	}
}

// retried is P3: an answer to a retry has the offset at which the batch stands, with whoever leads when
// the client learns of it. What was acknowledged stands there too, whoever it was that did so.
func (w *replicaWatch) retried(s *linearizability.Send, base offset) {
	if m, leader := w.leader(s.Partition.Index); leader != nil && s.Acks == -1 {
		w.monitorOf(m).checkRetry(s, base)
	}
}

// image is the last committed one.
func (w *replicaWatch) image() *metadata.Image {
	l := w.watch.state.Ledger
	return l.Image(l.Last().Index)
}

// partition is a partition by the last committed entry, nil before there is one.
func (w *replicaWatch) partition(p kafka.PartitionID) *metadata.Partition {
	if t := w.image().Topic(topicName); t != nil && int(p) < t.PartitionCount() {
		return t.Partition(p)
	}
	return nil
}

// leader returns the replica that leads by the last committed entry, if it does so, and its machine.
func (w *replicaWatch) leader(p kafka.PartitionID) (*sim.Machine, *partition.Replica) {
	part := w.partition(p)
	if part == nil || part.Leader == kafka.NoBroker {
		return nil, nil
	}
	m := w.saboteur.machine(sim.Place(part.Leader))
	r := replicas(m, w.plan.Topic.Partitions)[p]
	if r == nil || r.State() != partition.Online || r.LeaderEpoch() != part.LeaderEpoch {
		return m, nil
	}
	return m, r
}

// led says whether every partition has a leader.
func (w *replicaWatch) led() bool {
	for i := range w.plan.Topic.Partitions {
		if _, r := w.leader(partitionID(i)); r == nil {
			return false
		}
	}
	return true
}

// whole is L2: every partition has a leader, and all its replicas are in sync.
func (w *replicaWatch) whole() bool {
	for i := range w.plan.Topic.Partitions {
		if part := w.partition(partitionID(i)); part == nil || len(part.ISR) < len(part.Replicas) {
			return false
		}
	}
	return w.led()
}

// level is the rest of it: every replica has as much as its leader, and everything is committed.
func (w *replicaWatch) level() bool {
	for i := range w.plan.Topic.Partitions {
		p := partitionID(i)
		_, leader := w.leader(p)
		if leader == nil || leader.HighWatermark() != leader.LogEndOffset() {
			return false
		}
		for _, id := range w.partition(p).Replicas {
			r := replicas(w.saboteur.machine(sim.Place(id)), w.plan.Topic.Partitions)[p]
			if r == nil || r.State() != partition.Online || r.LogEndOffset() != leader.LogEndOffset() {
				return false
			}
		}
	}
	return w.led()
}

// ends returns where the logs of the leaders end.
func (w *replicaWatch) ends() []offset {
	ends := make([]offset, w.plan.Topic.Partitions)
	for i := range ends {
		if _, r := w.leader(partitionID(int32(i))); r != nil {
			ends[i] = r.HighWatermark()
		}
	}
	return ends
}

// deposed says whether a broker that was asked since a step may not have led when it answered.
func (w *replicaWatch) deposed(p kafka.PartitionID, asked client.Server, since linearizability.Step) bool {
	now := w.partition(p)
	if now == nil || sim.Place(now.Leader) != asked.Place {
		return true
	}
	// The epoch that holds now has to have begun before the question.
	for _, e := range slices.Backward(w.watch.state.Ledger.Entries()) {
		if e.Step < int64(since) {
			t := e.Image.Topic(topicName)
			return t == nil || t.Partition(p).LeaderEpoch != now.LeaderEpoch
		}
	}
	return true
}

// inspect takes the dumps, and is R14: when all is quiet, all replicas are the same to the byte.
func (w *replicaWatch) inspect() {
	for i := range w.plan.Topic.Partitions {
		p := partitionID(i)
		part := w.partition(p)
		_, leader := w.leader(p)
		if leader == nil {
			w.findings.fails("L1", "%s has no leader at the end", topicPartition(p))
			continue
		}
		var first *storedlog.Log
		for _, id := range part.Replicas {
			m := w.saboteur.machine(sim.Place(id))
			log := readLog(m.Disk, p, storedlog.Cached)
			w.findings.checked("S3")
			if log.Problem != "" {
				w.findings.fails("S3", "%s of %s is sound to %d: %s", topicPartition(p), m.Place, log.End, log.Problem)
			}
			checkSequences(w.findings, p, log)
			checkIndexes(w.findings, m.Disk, p, log)
			w.monitorOf(m).checkDerived(p, replicas(m, w.plan.Topic.Partitions)[p].Log())
			w.recorder.history.Dumps = append(w.recorder.history.Dumps,
				dump(w.recorder.step(), p, id, id == part.Leader, log, leader.HighWatermark()))
			if first == nil {
				first = log
			}
			w.findings.checked("R14")
			if at, differs := differ(first, log); differs || first.End != log.End {
				w.findings.fails("R14", "%s: the replicas of %d and %d differ at %d, and end at %d and %d", topicPartition(p),
					part.Replicas[0], id, at, first.End, log.End)
			}
		}
	}
}

// monitorOf returns what looks into one machine as into one node.
func (w *replicaWatch) monitorOf(m *sim.Machine) *monitor {
	return &monitor{
		world: w.world, machine: m, plan: w.plan.Schedule, recorder: w.recorder, findings: w.findings,
		clones: uint64(m.Place) << 32, // whose seeds differ between machines
	}
}

// count adds what happened to the counters of the run.
func (w *replicaWatch) count(c counters) {
	n := w.state.Counts
	c["replicas.elections"], c["replicas.elections_without_records"] = n.Elections, n.EmptyElections
	c["replicas.truncations"], c["replicas.divergences"] = n.Truncations, n.Divergences
	c["replicas.isr_shrinks"], c["replicas.isr_expansions"] = n.Shrinks, n.Expansions
	c["replicas.elections_from_elr"], c["replicas.damaged"] = n.ELRElections, n.Damages
	c["replicas.losses"] = n.Losses
}

// describe tells where the replicas stand.
func (w *replicaWatch) describe() (lines []string) {
	for i := range w.plan.Topic.Partitions {
		p := partitionID(i)
		part := w.partition(p)
		if part == nil {
			lines = append(lines, fmt.Sprintf("%s: not there", topicPartition(p)))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: leader %d in epoch %d.%d, ISR %v, ELR %v, committed %d", topicPartition(p),
			part.Leader, part.LeaderEpoch, part.Epoch, part.ISR, part.ELR, w.state.CommittedEnd(p)))
		for _, id := range part.Replicas {
			m := w.saboteur.machine(sim.Place(id))
			if r := replicas(m, w.plan.Topic.Partitions)[p]; r != nil {
				in, _ := r.InSync()
				follows, _ := r.Following()
				lines = append(lines, fmt.Sprintf("  %s: %s, leads in %d with %+v, follows %d in %d, high watermark %d, end %d, %v",
					m.Place, r.State(), r.LeaderEpoch(), in, follows.Leader, follows.Epoch, r.HighWatermark(), r.LogEndOffset(),
					r.Err()))
			}
		}
	}
	return lines
}
