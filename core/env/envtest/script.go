package envtest

import (
	"slices"
	"sync"

	"stet/core/env"
)

// Script is a state machine for a loop under test: each turn it hands over the events that it was
// given, and emits the effects that were asked for since.
type Script struct {
	mu      sync.Mutex
	pending []*env.Effects
	events  []env.Event
	ended   map[env.ConnID]bool // connections whose end was told
	// Told, if set, is called after events have been taken in.
	Told func()
}

// Ask queues effects for the next turn. The caller then makes the loop run one.
func (s *Script) Ask(e *env.Effects) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, e)
}

// Turn implements the loop's state machine. Like any, it says nothing to a connection whose end it
// was told.
func (s *Script) Turn(_ env.Now, in []env.Event, out *env.Effects) {
	s.mu.Lock()
	for _, ev := range in {
		if ev.Kind == env.EventTick && len(s.pending) > 0 {
			continue // the turn that was made to run
		}
		if ev.Kind == env.EventRequest {
			ev.Req = &env.Request{Correlation: ev.Req.Correlation} // the rest is gone after the turn
		}
		if ev.Kind == env.EventConnClosed {
			if s.ended == nil {
				s.ended = map[env.ConnID]bool{}
			}
			s.ended[ev.Conn] = true
		}
		s.events = append(s.events, ev)
	}
	if len(s.pending) > 0 {
		*out = *s.pending[0]
		out.Conn = slices.DeleteFunc(out.Conn, func(op env.ConnOp) bool { return s.ended[op.Conn] })
		s.pending = s.pending[1:]
		if len(s.pending) > 0 {
			out.WakeBy(1) // two were asked for before the loop ran
		}
	}
	s.mu.Unlock()
	if s.Told != nil {
		s.Told()
	}
}

// Take removes and returns the first event.
func (s *Script) Take() (env.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		return env.Event{}, false
	}
	ev := s.events[0]
	s.events = slices.Delete(s.events, 0, 1)
	return ev, true
}
