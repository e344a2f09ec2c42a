package invariants

import "stet/core/quorum"

// synced is what a voter's log was after some turn, and after those since, as long as a sync has not
// covered a later one: a crash may leave any of them.
type synced struct {
	generation uint64
	file, sync int64      // of the log file, when the last state was noted
	states     []logState // the first is certain
}

// logState is a log after a turn.
type logState struct {
	file  int64 // bytes of the log file
	voter uint64
	hard  quorum.HardState
	start quorum.Position
	terms []uint64 // of the entries behind start
}

// last returns the index of the last entry.
func (s *logState) last() uint64 { return s.start.Index + uint64(len(s.terms)) }

// term returns the term of an entry.
func (s *logState) term(index uint64) (uint64, bool) {
	switch {
	case index == s.start.Index:
		return s.start.Term, true
	case index < s.start.Index || index > s.last():
		return 0, false
	}
	return s.terms[index-s.start.Index-1], true
}

// replacedBy returns the first entry that a later log has of another term, or where this one ends.
func (s *logState) replacedBy(later *logState) uint64 {
	for i := max(s.start.Index, later.start.Index) + 1; i <= s.last(); i++ {
		was, _ := s.term(i)
		if is, ok := later.term(i); ok && is != was {
			return i
		}
	}
	return s.last()
}

// noteSynced remembers the log of a voter after a turn.
func (c *Cluster) noteSynced(v *Voter) {
	s := &v.Status
	r := c.recovered[v.Place]
	if r == nil {
		r = &synced{}
		c.recovered[v.Place] = r
	}
	if len(r.states) > 0 && r.generation == s.Generation && r.file == s.FileBytes && r.sync == s.SyncedBytes {
		return
	}
	r.file, r.sync = s.FileBytes, s.SyncedBytes
	now := logState{file: s.FileBytes, voter: s.Voter, hard: s.Hard, start: s.Start}
	for i := s.Start.Index + 1; i <= s.Last.Index; i++ {
		term, _ := v.Log.TermAt(i)
		now.terms = append(now.terms, term)
	}
	if r.generation != s.Generation { // until something of the new file is synced, the old one counts
		r.generation = s.Generation
		for i := range r.states {
			r.states[i].file = 0
		}
	}
	r.states = append(r.states, now)
	// The last one that a sync has covered is certain now.
	certain := 0
	for i := range r.states {
		if st := &r.states[i]; st.file > 0 && st.file <= s.SyncedBytes {
			certain = i
		}
	}
	r.states = r.states[certain:]
}

// checkRecovered is Q8: a voter that has recovered has the log that it had at its last sync, or one
// that it had since. Entries may be there that were not synced, but none that had been replaced by
// what was, and none is missing. Its term and its vote did not go back.
func (c *Cluster) checkRecovered(v *Voter) {
	r := c.recovered[v.Place] // stays: a power loss may go back behind what was read from the cache
	if r == nil || len(r.states) == 0 {
		return
	}
	s := &v.Status
	certain := &r.states[0]
	if certain.voter != s.Voter {
		c.findings.Fails("Q8", "%s: the directory of voter %x is that of voter %x after a restart", v.Place,
			certain.voter, s.Voter)
		return
	}
	c.findings.Checked("Q8")
	if s.Hard.Term < certain.hard.Term {
		c.findings.Fails("Q8", "%s: recovered in term %d, %d was durable", v.Place, s.Hard.Term, certain.hard.Term)
	}
	if s.Hard.Term == certain.hard.Term && certain.hard.Vote != 0 && s.Hard.Vote != certain.hard.Vote {
		c.findings.Fails("Q8", "%s: recovered with a vote for %x in term %d, that for %x was durable", v.Place,
			s.Hard.Vote, s.Hard.Term, certain.hard.Vote)
	}
	shortest, newest := certain.last(), certain.hard.Term
	for i := range r.states {
		shortest = min(shortest, r.states[i].last())
		newest = max(newest, r.states[i].hard.Term)
		if i > 0 {
			// What replaces a tail is written from its first entry on, and any part of that may be there.
			shortest = min(shortest, r.states[i-1].replacedBy(&r.states[i]))
		}
	}
	if s.Last.Index < shortest {
		c.findings.Fails("Q8", "%s: recovered to entry %d, %d was durable", v.Place, s.Last.Index, shortest)
	}
	for i := max(s.Start.Index, 1); i <= s.Last.Index; i++ {
		term, ok := v.Log.TermAt(i)
		if !ok || i <= certain.start.Index || term > newest {
			continue // covered by a snapshot, or written by this life already
		}
		if !r.allows(i, term) {
			c.findings.Fails("Q8", "%s: recovered entry %d of term %d, which the log at the last sync did not have",
				v.Place, i, term)
			return
		}
	}
}

// allows says whether one of the states has an entry.
func (r *synced) allows(index, term uint64) bool {
	for i := range r.states {
		if t, ok := r.states[i].term(index); ok && t == term || index < r.states[i].start.Index {
			return true
		}
	}
	return false
}
