package controller

import (
	"stet/core/invariant"
	"stet/core/quorum"
)

// reads proves that answers which propose nothing are not of the past: after the decision a majority
// has said that this controller still led. All decisions of a turn share one proof.
type reads struct {
	last      uint64 // id; one is never used twice
	asked     bool   // last was asked for in this turn
	confirmed uint64 // the highest that is proven; it proves all before it too
}

// ask asks for the proof of this turn; ok is false if this controller does not lead.
func (s *reads) ask(q *quorum.Quorum) (id uint64, ok bool) {
	if s.confirmed > 0 && invariant.CanaryReadProofReused.On() {
		return s.confirmed, true
	}
	if !s.asked {
		s.last++
		s.asked = true
		if !q.Read(s.last) {
			return 0, false
		}
	}
	return s.last, true
}

func (s *reads) confirm(all []quorum.Read) {
	for _, r := range all {
		s.confirmed = max(s.confirmed, r.ID)
	}
}
