package client

import (
	"stet/core/kafka"
	"stet/sim"
)

// Host is where a client lives and whom it talks to.
type Host struct {
	Scheduler *sim.Scheduler
	Network   Network
	Owner     sim.Owner
	Name      string // the client id it sends
	Stream    *sim.Stream
	Observer  Observer

	// Server is the broker's place and address, of a client of one broker.
	Server sim.Place
	Addr   string
	// Servers, if set, are the brokers of a cluster. A producer, a consumer and a lister then follow the
	// leaders.
	Servers []Server

	// Topic is all that the client works on.
	Topic   string
	TopicID kafka.TopicID // learnt by Metadata; zero until then

	// RequestTimeout is how long a client waits for an answer before it gives the connection up.
	RequestTimeout sim.Interval
	// Pause is how long it waits between two tries to connect, and before a retry.
	Pause sim.Interval
}

// pause suspends the running task for a drawn while.
func (h *Host) pause() { h.Scheduler.Await(h.Stream.Delay(h.Pause.Low, h.Pause.High)) }

// timeout draws when a request that is sent now is given up.
func (h *Host) timeout() sim.Time {
	return h.Stream.Delay(h.RequestTimeout.Low, h.RequestTimeout.High)
}

// signal wakes tasks that wait for a change.
type signal struct{ tasks []*sim.Task }

func (s *signal) raise(sched *sim.Scheduler) {
	for _, t := range s.tasks {
		sched.Unpark(t, 0)
	}
	s.tasks = s.tasks[:0]
}

// wait suspends the running task until done says so after a raise, or until the deadline passes.
// It returns the last answer of done.
func (h *Host) wait(s *signal, deadline sim.Time, done func() bool) bool {
	sched := h.Scheduler
	armed := false
	for {
		if done() {
			return true
		}
		if sched.Now() >= deadline {
			return false
		}
		t := sched.Current()
		if !armed && deadline != sim.Never {
			armed = true
			sched.At(deadline, h.Owner, sim.KindTimer, func() { sched.Unpark(t, 0) })
		}
		s.tasks = append(s.tasks, t)
		sched.Park()
	}
}
