package sim

import (
	"stet/core/invariant"
)

// Scheduler runs events one after the other in the order of (time, sequence). It is used by one
// thread; tasks run inside of it. Close must be called at the end.
type Scheduler struct {
	now     Time
	seq     uint64
	events  eventHeap
	owners  []*ownerState
	trace   *Trace
	current *Task        // the task that runs now, nil in a plain event
	idle    []*coroutine // ready for another task
	all     []*coroutine // for Close
	ran     uint64
	closed  bool

	// BeforeEvent, when set, is called before each event, with the place whose event it is.
	BeforeEvent func(p Place)
}

// NewScheduler returns a scheduler at time zero that chains every event into trace.
func NewScheduler(trace *Trace) *Scheduler {
	return &Scheduler{trace: trace, owners: []*ownerState{{}}}
}

// Now returns the virtual time.
func (s *Scheduler) Now() Time { return s.now }

// Trace returns the trace that the scheduler writes to.
func (s *Scheduler) Trace() *Trace { return s.trace }

// EventCount returns how many events have run, without those of KindFault in which no fault came.
func (s *Scheduler) EventCount() uint64 { return s.ran }

// At has run called at time t, or now if t has passed, unless owner dies before.
func (s *Scheduler) At(t Time, owner Owner, kind Kind, run func()) {
	s.push(event{at: t, owner: owner, kind: kind, run: run})
}

// After has run called d from now, unless owner dies before.
func (s *Scheduler) After(d Time, owner Owner, kind Kind, run func()) {
	s.push(event{at: s.later(d), owner: owner, kind: kind, run: run})
}

// later returns now+d, or Never if that is later.
func (s *Scheduler) later(d Time) Time {
	invariant.Always(d >= 0, "a delay is not negative")
	if d > Never-s.now {
		return Never
	}
	return s.now + d
}

func (s *Scheduler) push(e event) {
	if s.closed || !s.Alive(e.owner) || e.at == Never {
		return
	}
	s.seq++
	e.seq, e.at = s.seq, max(e.at, s.now)+planted()
	s.events.push(e)
}

// Next returns the time of the earliest event, which may belong to a dead owner, or Never.
func (s *Scheduler) Next() Time {
	if len(s.events) == 0 {
		return Never
	}
	return s.events[0].at
}

// Step runs the earliest event of a living owner and says whether there was one.
func (s *Scheduler) Step() bool { return s.step(Never) }

// step is Step for events up to and including time limit.
func (s *Scheduler) step(limit Time) bool {
	invariant.Always(s.current == nil, "a task steps the scheduler")
	for len(s.events) > 0 && s.events[0].at <= limit {
		e := s.events.pop()
		if s.owners[e.owner].dead != 0 {
			continue
		}
		if resume := s.owners[e.owner].paused; resume > e.at {
			e.at = resume
			s.push(e)
			continue
		}
		s.dispatch(&e)
		return true
	}
	return false
}

func (s *Scheduler) dispatch(e *event) {
	invariant.Always(e.at >= s.now, "an event is in the past")
	s.now = e.at
	place := s.owners[e.owner].place
	if e.kind != KindFault {
		s.count(place, e.kind)
	}
	if s.BeforeEvent != nil {
		s.BeforeEvent(place)
	}
	if e.task != nil {
		e.task.resume()
		return
	}
	e.run()
}

func (s *Scheduler) count(p Place, k Kind) {
	s.ran++
	s.trace.event(s.now, p, k)
}

// Strike counts the running event of KindFault, because a fault comes in it. Those in which none
// comes are no part of the run: whoever looks for a chance leaves no trace.
func (s *Scheduler) Strike() { s.count(0, KindFault) }

// RunUntil runs all events up to and including time t and then stands at t. It stops early, and
// says false, when stop (which may be nil) says so after an event.
func (s *Scheduler) RunUntil(t Time, stop func() bool) bool {
	for s.step(t) {
		if stop != nil && stop() {
			return false
		}
	}
	if t != Never {
		s.now = max(s.now, t)
	}
	return true
}

// Close unwinds every task and ends every coroutine. Nothing runs afterwards.
func (s *Scheduler) Close() {
	if s.closed {
		return
	}
	for o := 1; o < len(s.owners); o++ {
		s.Kill(Owner(o), Retired)
	}
	for _, t := range append([]*Task(nil), s.owners[0].tasks...) {
		t.kill()
	}
	s.closed = true
	for _, c := range s.all {
		c.stop()
	}
	s.events, s.idle, s.all = nil, nil, nil
}
