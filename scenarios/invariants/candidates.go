package invariants

// checkCandidate is R3: every replica in the ISR or the ELR that runs has all that was committed, but
// for those whose damage the controller has not been told of yet.
func (r *Replicas) checkCandidate(x *replicated, s *Replica) {
	_, part := r.partition(x.id)
	if part == nil || !s.Online || s.doubted || x.damaged[s.broker()] != nil || !stands(part, s.broker()) {
		return
	}
	r.findings.Checked("R3")
	if !s.Log.agrees(&x.committed, x.committed.End()) {
		r.findings.Fails("R3", "%s: %s stands in ISR %v, ELR %v, and has what is committed up to %d, not %d", r.name(x),
			s.Place, part.ISR, part.ELR, s.Log.common(&x.committed), x.committed.End())
		r.lose(x, s.Log.common(&x.committed))
	}
}
