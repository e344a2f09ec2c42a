package quorum

// The functions of this file are for the judges and the stages of a simulation.

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

// Log returns the entries of the log in memory, committed or not, and how many of them are committed.
func (q *Quorum) Log() (entries []Entry, committed int) {
	for _, e := range q.storage.entries {
		entries = append(entries, entryOf(e))
		if e.GetIndex() <= q.storage.hard.Commit {
			committed++
		}
	}
	return entries, committed
}
