package invariants

// checkMatching is R1: below its high watermark a replica has what was committed, and two logs whose
// last records are of one epoch are the same as far as the shorter one goes.
//
// A replica that has not been cut yet after a loss of committed records still has those.
func (r *Replicas) checkMatching(x *replicated, s *Replica) {
	if s.doubted {
		return
	}
	r.findings.Checked("R1")
	switch high := s.HighWatermark; {
	case high > x.committed.End():
		r.findings.Fails("R5", "%s: the high watermark of %s is %d, and %d is committed", r.name(x), s.Place, high,
			x.committed.End())
	case !s.Log.agrees(&x.committed, high):
		r.findings.Fails("R1", "%s: %s differs at %d, below its high watermark %d", r.name(x), s.Place,
			s.Log.common(&x.committed), high)
	}
	if s.Log.End() == s.before.Log.End() {
		return
	}
	for _, o := range x.replicas {
		if end := min(s.Log.End(), o.Log.End()); o != s && !o.doubted && o.Log.lastEpoch() == s.Log.lastEpoch() &&
			!s.Log.agrees(&o.Log, end) {
			r.findings.Fails("R1", "%s: %s and %s end in epoch %d and differ at %d", r.name(x), s.Place, o.Place,
				s.Log.lastEpoch(), s.Log.common(&o.Log))
		}
	}
}
