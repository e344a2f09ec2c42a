package invariants

import "stet/core/kafka"

// commit lets the oracle grow with a leader's high watermark, a deposed leader's too: everybody in its
// ISR has what it has passed, whoever was elected meanwhile among them.
//
// With it go R5, that every member of the ISR has what is committed, and R10, that so many have it as
// the topic demands: synced, where acknowledged means that.
func (r *Replicas) commit(x *replicated, s *Replica) {
	end := s.HighWatermark
	if end <= x.committed.End() || end > s.Log.End() || !s.Log.agrees(&x.committed, x.committed.End()) {
		return
	}
	x.committed.add(&s.Log, end)
	r.Committed(x.id, end)
	r.findings.Checked("R5")
	holders := 0
	for _, o := range x.replicas {
		has := o.Log.agrees(&x.committed, end)
		if has && x.damaged[o.broker()] == nil && (!r.Flush || o.Synced >= end) {
			holders++
		}
		if !has && o.Online && contains(s.MaximalISR, o.broker()) && x.damaged[o.broker()] == nil {
			r.findings.Fails("R5", "%s: %s commits up to %d in epoch %d, and %s of its ISR %v has %d", r.name(x), s.Place,
				end, s.Epoch, o.Place, s.MaximalISR, o.Log.End())
		}
	}
	if len(x.damaged) > 0 {
		return // what a damaged replica has is known when it is back
	}
	r.findings.Checked("R10")
	if least := r.minimum(x.id); holders < least {
		r.findings.Fails("R10", "%s: %s commits up to %d in epoch %d with ISR %v, and %d replicas have it, not %d", r.name(x),
			s.Place, end, s.Epoch, s.ISR, holders, least)
	}
}

func (r *Replicas) name(x *replicated) string {
	return kafka.TopicPartition{Topic: r.topic, Partition: x.id}.String()
}

// CommittedEnd returns the end of what is committed of a partition.
func (r *Replicas) CommittedEnd(p kafka.PartitionID) kafka.Offset {
	return r.partitions[p].committed.End()
}
