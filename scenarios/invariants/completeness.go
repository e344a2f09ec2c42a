package invariants

import (
	"slices"

	"stet/core/quorum"
)

// checkCompleteness is Q3: who is elected has everything that was committed in earlier terms. Of
// what is committed in its own term or in later ones it need not know: it may be late to learn that
// it was elected. Position and term stand for all that is below: Q2.
func (c *Cluster) checkCompleteness(v *Voter, before *seen) {
	s := &v.Status
	if s.Role != quorum.Leader || before.role == quorum.Leader && before.term == s.Hard.Term {
		return
	}
	need, ok := c.Ledger.before(s.Hard.Term)
	if !ok {
		return
	}
	c.findings.Checked("Q3")
	if term, has := v.Log.TermAt(need.Index); s.Start.Index < need.Index && (!has || term != need.Term) {
		c.findings.Fails("Q3", "%s: leads in term %d without entry %d of term %d: has %v %d", v.Place,
			s.Hard.Term, need.Index, need.Term, has, term)
	}
}

// before returns the last entry that was committed in an earlier term than the given one.
func (l *Ledger) before(term uint64) (quorum.Position, bool) {
	i, _ := slices.BinarySearchFunc(l.entries, term, func(e Committed, term uint64) int {
		if e.Term < term {
			return -1
		}
		return 1
	})
	if i == 0 {
		return quorum.Position{}, false
	}
	e := &l.entries[i-1]
	return quorum.Position{Index: e.Index, Term: e.Term}, true
}
