package invariants

import "stet/core/quorum"

// elections has the voter that was seen to lead in a term.
type elections map[uint64]uint64

// checkElection is Q1: one leader a term.
func (c *Cluster) checkElection(v *Voter, before *seen) {
	s := &v.Status
	if s.Role != quorum.Leader || before.role == quorum.Leader && before.term == s.Hard.Term {
		return
	}
	c.findings.Checked("Q1")
	if other, known := c.elections[s.Hard.Term]; known && other != s.Voter {
		c.findings.Fails("Q1", "%s: voter %x leads in term %d, and so did voter %x", v.Place, s.Voter,
			s.Hard.Term, other)
	}
	c.elections[s.Hard.Term] = s.Voter
}

// Elections counts the terms in which somebody led.
func (c *Cluster) Elections() int { return len(c.elections) }
