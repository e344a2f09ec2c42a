package golden

import (
	"stet/core/env"
	"stet/core/wire"
	"stet/sim"
)

// hold is a kind of requests of one node that wait before a controller reads them, until they may pass.
type hold struct {
	from, to sim.Place
	kind     string // as Kafka calls it: AlterPartition
}

// held is a request that waits.
type held struct {
	at    *sim.Machine
	life  int // of the controller that it has come to
	conn  *sieved
	frame env.Buffer
}

// holdBack has requests of a kind wait.
func holdBack(s *stage, a *args) {
	h := hold{s.place(a), s.place(a), a.next("a kind of request")}
	if h.kind != "AlterPartition" {
		a.fails("%q is no kind of request that can be held", h.kind)
	}
	if a.ok() {
		s.holds = append(s.holds, h)
	}
}

// holdsBack takes a request that has to wait.
func (s *stage) holdsBack(from sim.Place, r *sieved, key int16, frame env.Buffer) bool {
	if key != wire.KeyAlterPartition {
		return false
	}
	for _, h := range s.holds {
		if h.from == from && h.to == r.sieve.at {
			at := s.world.Machines[h.to-1]
			s.held = append(s.held, held{at, at.Lives(), r, frame})
			return true
		}
	}
	return false
}

// release lets everything arrive that waits, but for what came over connections that have ended.
func (s *stage) release() {
	waiting := s.held
	s.holds, s.held = nil, nil
	for _, h := range waiting {
		if h.conn.closed || !h.at.Running() || h.at.Lives() != h.life {
			continue
		}
		s.world.Scheduler.After(0, h.at.Owner(), sim.KindFrame, func() {
			if !h.conn.closed {
				h.conn.ConnReader.Deliver(h.frame)
			}
		})
	}
}
