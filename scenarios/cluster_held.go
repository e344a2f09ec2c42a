package scenarios

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// heldBack is a kind of request that a machine's connections do not let through until some time. The
// first frame of a connection is held for the whole rest, and with it all that comes behind it there.
type heldBack struct {
	place sim.Place
	key   int16
	both  bool // also what others send to the machine
	until sim.Time
	conns map[heldConn]bool
}

// heldConn is one direction of a connection.
type heldConn struct {
	id      uint64
	request bool
}

// hold returns how long a frame is held back, 0 for not at all.
func (i *clusterImproviser) hold(f *sim.FrameInfo) sim.Time {
	now := i.world.Scheduler.Now()
	for n := range i.held {
		h := &i.held[n]
		direction := heldConn{f.Conn, f.Request}
		if now >= h.until || f.Key != h.key || f.From != h.place && (!h.both || f.To != h.place) ||
			h.conns[direction] {
			continue
		}
		h.conns[direction] = true
		return h.until - now
	}
	return 0
}

// holdBack begins to hold back what a strike says.
func (i *clusterImproviser) holdBack(s *clusterStrike, m *sim.Machine) {
	i.held = append(i.held, heldBack{
		place: m.Place, key: s.key, both: s.both, until: i.world.Scheduler.Now() + s.span,
		conns: map[heldConn]bool{},
	})
}

// sent implements director.
func (i *clusterImproviser) sent(f sim.FrameInfo) *schedule.Action {
	if span := i.hold(&f); span > 0 {
		return &schedule.Action{Verb: schedule.Hold, Span: span}
	}
	r := &i.plan.net
	if r.only >= 0 && r.only != f.Key {
		return nil
	}
	switch {
	case i.stream.Chance(r.hold, 4096):
		return &schedule.Action{Verb: schedule.Hold, Span: i.stream.Delay(r.holdFor.Low, r.holdFor.High)}
	case i.stream.Chance(r.reset, 4096):
		return &schedule.Action{Verb: schedule.Cut}
	case i.stream.Chance(r.vanish, 4096):
		return &schedule.Action{Verb: schedule.Vanish}
	}
	return nil
}
