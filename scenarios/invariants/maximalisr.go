package invariants

import (
	"slices"

	"stet/core/kafka"
)

// checkMaximalISR is R4: a leader that commits waits for everybody whom the controller could elect, and
// with no change under way its ISR is that of the controller.
func (r *Replicas) checkMaximalISR(x *replicated, s *Replica) {
	t, part := r.partition(x.id)
	if part == nil || part.LeaderEpoch != s.Epoch || part.Leader != s.broker() {
		return
	}
	r.findings.Checked("R4")
	if len(s.ISR) >= minISR(r.image(), t, part) {
		for _, id := range slices.Concat(part.ISR, part.ELR) {
			if !contains(s.MaximalISR, id) {
				r.findings.Fails("R4", "%s: %s leads in epoch %d and waits for %v, without %d of ISR %v, ELR %v", r.name(x),
					s.Place, s.Epoch, s.MaximalISR, id, part.ISR, part.ELR)
			}
		}
	}
	if !s.Pending && s.PartitionEpoch == part.Epoch && !sameMembers(s.ISR, part.ISR) {
		r.findings.Fails("R4", "%s: %s leads in epoch %d with ISR %v, which is %v in partition epoch %d", r.name(x), s.Place,
			s.Epoch, s.ISR, part.ISR, part.Epoch)
	}
}

func contains(list []kafka.BrokerID, id kafka.BrokerID) bool { return slices.Contains(list, id) }

func sameMembers(a, b []kafka.BrokerID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id kafka.BrokerID) bool { return !contains(b, id) })
}
