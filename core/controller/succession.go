package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
)

// succession is an election that need not wait for silence. A leader whose process has ended leaves its
// links, and nobody listens where it did: then the others forget it, and campaign one after the other.
// That is no proof, and needs none: whoever is elected is elected as ever, by a majority that has not
// heard of a leader, and one that lives after all only loses its term.
type succession struct {
	at   env.Mono       // when this controller campaigns; 0: nothing is under way
	node kafka.BrokerID // of the leader that was lost last
	term uint64         // that it led
}

// gone is told that nobody listens at a controller.
func (s *succession) gone(c *Controller, node kafka.BrokerID) {
	q := c.life.quorum
	if q == nil || q.Leading() || q.Leader() == 0 || c.nodeOf(q.Leader()) != node {
		return
	}
	s.node, s.term = node, q.Term()
	s.at = c.now.Mono.Add(c.config.TickInterval / 2)
	heirs := slices.DeleteFunc(slices.Clone(q.Members().Voters), func(v uint64) bool { return v == q.Leader() })
	slices.Sort(heirs)
	for range max(0, slices.Index(heirs, c.voter)) {
		s.at = s.at.Add(c.config.TickInterval)
	}
	q.Forget()
}

// step campaigns if it is time, unless there is a leader by now.
func (s *succession) step(c *Controller) {
	if s.at == 0 || c.now.Mono < s.at {
		return
	}
	s.at = 0
	if q := c.life.quorum; q != nil && q.Leader() == 0 && q.Term() == s.term {
		q.Campaign()
	}
}

// lost says whether a broker was in the process of the leader before this one, and went with it.
func (s *succession) lost(c *Controller, broker kafka.BrokerID) bool {
	return s.term != 0 && c.term == s.term+1 && broker == s.node
}

// deadline is when step has something to do.
func (s *succession) deadline() env.Mono {
	if s.at == 0 {
		return env.Never
	}
	return s.at
}
