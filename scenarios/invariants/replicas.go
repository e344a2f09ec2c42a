package invariants

import (
	"slices"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/sim"
)

// Replicas is all checks of the replicas of one topic, with what they remember. Its oracle is, for each
// partition, what was committed: what any leader's high watermark has passed.
type Replicas struct {
	// Flush says that acknowledged means synced.
	Flush bool
	// Committed is told when more of a partition is committed, and with what was lost by faults that
	// the promise does not cover, also when less is.
	Committed func(p kafka.PartitionID, end kafka.Offset)
	// Lost is told that committed records from an offset on are gone, and rightly so.
	Lost func(p kafka.PartitionID, from kafka.Offset)

	topic      string
	findings   Findings
	ledger     *Ledger
	partitions []*replicated
	leads      map[term]sim.Place
	Counts     Counts
}

// Counts tell how often that happened which the checks are there for.
type Counts struct {
	Elections      int64 // leaderships that began
	EmptyElections int64 // of them, with no record since the one before
	Truncations    int64 // logs that were cut
	Divergences    int64 // of them, in a part that others have otherwise
	Shrinks        int64
	Expansions     int64
	ELRElections   int64 // leaders that came from the ELR
	Damages        int64 // replicas that were damaged while they stood in the ISR or the ELR
	Losses         int64 // of committed records
}

// term is a leadership.
type term struct {
	partition kafka.PartitionID
	epoch     kafka.LeaderEpoch
}

// replicated is one partition.
type replicated struct {
	id        kafka.PartitionID
	committed Chain
	replicas  []*Replica // by place
	damaged   map[kafka.BrokerID]*damage
	lastStart kafka.Offset // where the last leadership began
	losses    int
}

// Replica is what is seen of a replica, after each turn of its broker.
type Replica struct {
	Place  sim.Place
	Life   int
	Log    Chain // as it is written
	Synced kafka.Offset
	Online bool

	Epoch         kafka.LeaderEpoch // in which it leads or follows, kafka.NoLeaderEpoch for neither
	Leads         bool
	HighWatermark kafka.Offset
	// Of a leader:
	ISR, MaximalISR []kafka.BrokerID
	PartitionEpoch  kafka.PartitionEpoch
	Pending         bool // it has asked for a change of the ISR
	// Epochs is the epoch cache below the end of the log, nil where nobody has looked.
	Epochs []commitlog.EpochEntry

	before  *Replica
	doubted bool // its log may be of before a loss
}

func (r *Replica) broker() kafka.BrokerID { return kafka.BrokerID(r.Place) }

// NewReplicas returns the checks of a topic whose creation the ledger may not show yet.
func NewReplicas(f Findings, l *Ledger, topic string, partitions int32) *Replicas {
	r := &Replicas{
		topic: topic, findings: f, ledger: l, leads: map[term]sim.Place{},
		Committed: func(kafka.PartitionID, kafka.Offset) {}, Lost: func(kafka.PartitionID, kafka.Offset) {},
	}
	for i := range partitions {
		r.partitions = append(r.partitions, &replicated{
			id: kafka.PartitionID(i), damaged: map[kafka.BrokerID]*damage{},
		})
	}
	return r
}

// At returns what is remembered of the replica of a partition at a place: the caller updates it, and
// then tells Seen.
func (r *Replicas) At(p kafka.PartitionID, at sim.Place) *Replica {
	x := r.partitions[p]
	i, ok := slices.BinarySearchFunc(x.replicas, at, func(a *Replica, p sim.Place) int { return int(a.Place) - int(p) })
	if !ok {
		fresh := &Replica{Place: at, Epoch: kafka.NoLeaderEpoch, before: &Replica{Epoch: kafka.NoLeaderEpoch}}
		x.replicas = slices.Insert(x.replicas, i, fresh)
	}
	return x.replicas[i]
}

// Seen judges a replica after a turn.
func (r *Replicas) Seen(p kafka.PartitionID, s *Replica) {
	x := r.partitions[p]
	if !s.Online {
		s.before.Online = false
		if d := x.damaged[s.broker()]; d != nil {
			d.down = true
		}
		return
	}
	r.noteCut(x, s)
	r.checkLeadership(x, s)
	if s.Leads {
		r.checkLeaderCompleteness(x, s)
		r.checkMaximalISR(x, s)
	}
	if s.Leads || s.before.Online && s.before.Leads { // it may have committed and resigned in one turn
		r.commit(x, s)
	}
	r.repaired(x, s)
	r.checkMatching(x, s)
	r.checkCandidate(x, s)
	r.checkEpochs(x, s)
	b := s.before
	b.Online, b.Life, b.Epoch, b.Leads, b.HighWatermark = true, s.Life, max(b.Epoch, s.Epoch), s.Leads, s.HighWatermark
	b.Log.hashes = s.Log.hashes
}

// Changed is told of each committed entry, with the image before it.
func (r *Replicas) Changed(before, after *metadata.Image) {
	t := after.Topic(r.topic)
	if t == nil {
		return
	}
	old := before.TopicByID(t.ID)
	for _, x := range r.partitions {
		if int(x.id) >= t.PartitionCount() {
			continue
		}
		now := t.Partition(x.id)
		was := &metadata.Partition{Standing: metadata.Standing{Leader: kafka.NoBroker}}
		if old != nil && int(x.id) < old.PartitionCount() {
			was = old.Partition(x.id)
		}
		if now != was {
			r.note(was, now)
			for _, s := range x.replicas {
				r.checkCandidate(x, s)
			}
		}
		r.checkExclusion(x, after, now)
	}
}

// note counts what a change is.
func (r *Replicas) note(was, now *metadata.Partition) {
	joins := func(id kafka.BrokerID) bool { return !slices.Contains(was.ISR, id) }
	leaves := func(id kafka.BrokerID) bool { return !slices.Contains(now.ISR, id) }
	if len(was.Replicas) == 0 {
		return
	}
	if slices.ContainsFunc(now.ISR, joins) {
		r.Counts.Expansions++
	}
	if slices.ContainsFunc(was.ISR, leaves) {
		r.Counts.Shrinks++
	}
	if now.Leader != was.Leader && slices.Contains(was.ELR, now.Leader) {
		r.Counts.ELRElections++
	}
}

// partition returns what the last committed entry says of a partition, nil if there is none yet.
func (r *Replicas) partition(p kafka.PartitionID) (*metadata.Topic, *metadata.Partition) {
	t := r.image().Topic(r.topic)
	if t == nil || int(p) >= t.PartitionCount() {
		return nil, nil
	}
	return t, t.Partition(p)
}

func (r *Replicas) image() *metadata.Image { return r.ledger.Image(r.ledger.Last().Index) }

// stands says whether a broker is in the ISR or the ELR.
func stands(p *metadata.Partition, id kafka.BrokerID) bool {
	return slices.Contains(p.ISR, id) || slices.Contains(p.ELR, id)
}

// minimum is the effective minimum of in-sync replicas of a partition.
func (r *Replicas) minimum(p kafka.PartitionID) int {
	t, part := r.partition(p)
	if t == nil {
		return 1
	}
	return minISR(r.image(), t, part)
}

// noteCut counts truncations: a log that is shorter than it was in an earlier turn, or has other
// records.
func (r *Replicas) noteCut(x *replicated, s *Replica) {
	old := &s.before.Log
	if old.End() == 0 || old.End() <= s.Log.End() && old.agrees(&s.Log, old.End()) {
		return
	}
	if s.before.Life == s.Life {
		r.Counts.Truncations++
		differs := func(o *Replica) bool {
			return o != s && o.Log.common(old) < min(o.Log.End(), old.End())
		}
		if slices.ContainsFunc(x.replicas, differs) {
			r.Counts.Divergences++
		}
	}
}
