package controller

import "stet/core/env"

// ticker moves raft's clock while there is anybody else to hear of. After a pause of the process it
// goes on from now: what did not happen is not made up for.
type ticker struct{ at env.Mono }

// step ticks if it is time, and says whether it did.
func (t *ticker) step(c *Controller) bool {
	if c.life.quorum == nil || c.alone() {
		t.at = env.Never
		return false
	}
	if t.at != env.Never && c.now.Mono < t.at {
		return false
	}
	t.at = c.now.Mono.Add(c.config.TickInterval)
	c.life.quorum.Tick()
	return true
}

// alone says whether this controller is the only member of its quorum: then it leads without being
// elected, and nothing times out.
func (c *Controller) alone() bool {
	q := c.life.quorum
	if q == nil {
		return false
	}
	m := q.Members()
	return len(m.Voters) == 1 && m.Voters[0] == c.voter && len(m.Learners) == 0 &&
		len(m.VotersOutgoing) == 0 && len(m.LearnersNext) == 0
}
