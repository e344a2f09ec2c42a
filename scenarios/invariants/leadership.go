package invariants

// checkLeadership is R8: one leader a partition and epoch, and no replica ever goes back to an earlier
// epoch, not in another life either.
func (r *Replicas) checkLeadership(x *replicated, s *Replica) {
	if s.Epoch < 0 {
		return // it has not been told
	}
	r.findings.Checked("R8")
	if s.Epoch < s.before.Epoch {
		r.findings.Fails("R8", "%s: %s goes from epoch %d back to %d", r.name(x), s.Place, s.before.Epoch, s.Epoch)
	}
	if !s.Leads {
		return
	}
	at := term{x.id, s.Epoch}
	if other, known := r.leads[at]; known && other != s.Place {
		r.findings.Fails("R8", "%s: %s leads in epoch %d, and so does %s", r.name(x), s.Place, s.Epoch, other)
	}
	r.leads[at] = s.Place
}
