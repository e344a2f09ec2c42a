package partition

import "stet/core/kafka"

// InSync is what a leader takes for in sync, for checks and metrics.
type InSync struct {
	ISR            []kafka.BrokerID // as the controller is known to have it
	Maximal        []kafka.BrokerID // and those that it may have by now: the high watermark waits for them
	PartitionEpoch kafka.PartitionEpoch
	Pending        bool // a change is asked for
}

// InSync returns who is in sync by what this replica knows, false unless it leads.
func (r *Replica) InSync() (InSync, bool) {
	if r.lead == nil {
		return InSync{}, false
	}
	s := &r.lead.isr
	out := InSync{ISR: s.committed, Maximal: s.committed, PartitionEpoch: s.partitionEpoch, Pending: s.proposal != nil}
	for _, f := range r.lead.followers {
		if s.mayHave(f.id) && !s.has(f.id) {
			out.Maximal = append(out.Maximal[:len(out.Maximal):len(out.Maximal)], f.id)
		}
	}
	return out, true
}
