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
//
// The broker in the process of a leader that was lost is likely to be lost with it.
type succession struct {
	at   env.Mono       // when this controller campaigns; 0: nothing is under way
	term uint64         // of the leader that is to be succeeded
	node kafka.BrokerID // of the last other leader that was known
}

// gone is told that nobody listens at a controller.
func (s *succession) gone(c *Controller, node kafka.BrokerID) {
	q := c.life.quorum
	if q == nil || q.Leading() || q.Leader() == 0 || c.nodeOf(q.Leader()) != node {
		return
	}
	s.term = q.Term()
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
	q := c.life.quorum
	if q == nil {
		return
	}
	if leader := q.Leader(); leader != 0 && leader != c.voter {
		s.node = c.nodeOf(leader)
	}
	if s.at == 0 || c.now.Mono < s.at {
		return
	}
	s.at = 0
	if q.Leader() == 0 && q.Term() == s.term {
		q.Campaign()
	}
}

// deadline is when step has something to do.
func (s *succession) deadline() env.Mono {
	if s.at == 0 {
		return env.Never
	}
	return s.at
}
