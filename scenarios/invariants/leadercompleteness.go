package invariants

// checkLeaderCompleteness is R2: whoever leads has all that was committed, from its first turn on. A
// leader that was deposed and does not know it may lack what was committed since.
func (r *Replicas) checkLeaderCompleteness(x *replicated, s *Replica) {
	_, part := r.partition(x.id)
	if part == nil || part.LeaderEpoch != s.Epoch || part.Leader != s.broker() {
		return
	}
	fresh := !s.before.Leads || s.before.Epoch != s.Epoch || !s.before.Online
	if fresh {
		r.findings.Checked("R2")
		r.Counts.Elections++
		if s.Log.End() == x.lastStart {
			r.Counts.EmptyElections++
		}
		x.lastStart = s.Log.End()
	}
	if s.Log.agrees(&x.committed, x.committed.End()) {
		return
	}
	at := s.Log.common(&x.committed)
	if from, spent := r.spent(x); !spent || at < from {
		r.findings.Fails("R2", "%s: %s leads in epoch %d and has what is committed up to %d, not %d", r.name(x), s.Place,
			s.Epoch, at, x.committed.End())
	}
	r.lose(x, at)
}
