package invariants

import (
	"stet/core/kafka"
	"stet/sim"
)

// damage is what a fault did to a replica that stood in the ISR or the ELR. It lasts until the replica
// has all that is committed again.
type damage struct {
	surviving kafka.Offset      // what it has at least
	epoch     kafka.BrokerEpoch // of the broker at that time
	life      int               // of its process
	down      bool              // the replica has been out of service since
}

// Damaged is told that a fault has damaged a replica, which has at least what is below an end: power
// loss with unsynced data, a failed write or sync, a directory that was lost. The promise P1 counts
// them: with fewer than the minimum of in-sync replicas at once, nothing may be lost.
func (r *Replicas) Damaged(p kafka.PartitionID, at sim.Place, surviving kafka.Offset) {
	x, id := r.partitions[p], kafka.BrokerID(at)
	_, part := r.partition(p)
	if part == nil {
		return
	}
	d := x.damaged[id]
	switch {
	case d == nil && !stands(part, id):
		return
	case d == nil:
		d = &damage{surviving: surviving}
		x.damaged[id] = d
		r.Counts.Damages++
	}
	d.surviving, d.life, d.down = min(d.surviving, surviving), r.At(p, at).Life, false
	if b := r.image().Broker(id); b != nil {
		d.epoch = b.Epoch
	}
}

// repaired ends the damage of a replica that has all that is committed.
func (r *Replicas) repaired(x *replicated, s *Replica) {
	if d := x.damaged[s.broker()]; d != nil && (d.down || s.Life > d.life) &&
		s.Log.agrees(&x.committed, x.committed.End()) {
		delete(x.damaged, s.broker())
	}
	if s.Log.agrees(&x.committed, min(s.HighWatermark, x.committed.End())) {
		s.doubted = false
	}
}

// UnhurtBut says whether no replica is damaged but those of one machine.
func (r *Replicas) UnhurtBut(at sim.Place) bool {
	for _, x := range r.partitions {
		if len(x.damaged) > 1 || len(x.damaged) == 1 && x.damaged[kafka.BrokerID(at)] == nil {
			return false
		}
	}
	return true
}

// spent says whether the damage at hand may have taken committed records from an offset on: that of as
// many replicas at once as have to hold them.
func (r *Replicas) spent(x *replicated) (from kafka.Offset, yes bool) {
	from = x.committed.End()
	for _, d := range x.damaged {
		from = min(from, d.surviving)
	}
	return from, len(x.damaged) >= r.minimum(x.id)
}

// lose takes it that committed records from an offset on are gone.
func (r *Replicas) lose(x *replicated, from kafka.Offset) {
	x.committed.cut(from)
	x.losses++
	r.Counts.Losses++
	for _, s := range x.replicas {
		s.doubted = true
	}
	r.Lost(x.id, from)
	r.Committed(x.id, from)
}
