package quorum

// TermAt returns the term of an entry of the log, or of the position that the log starts from. It is
// for the judges of a simulation.
func (q *Quorum) TermAt(index uint64) (term uint64, ok bool) {
	s := q.storage
	if index < s.start.Index || index > s.last().Index {
		return 0, false
	}
	term, err := s.Term(index)
	return term, err == nil
}
