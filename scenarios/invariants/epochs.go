package invariants

import "slices"

// checkEpochs is R11: the epoch cache of a log is what its records say, and what it knows of the leader
// epochs goes up.
func (r *Replicas) checkEpochs(x *replicated, s *Replica) {
	if s.Epochs == nil {
		return
	}
	r.findings.Checked("R11")
	if !slices.Equal(s.Epochs, s.Log.epochs) {
		r.findings.Fails("R11", "%s: %s knows of the epochs %v, its records say %v", r.name(x), s.Place, s.Epochs,
			s.Log.epochs)
	}
	s.Epochs = nil
}
