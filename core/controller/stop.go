package controller

import (
	"time"

	"stet/core/env"
	"stet/core/quorum"
)

// Shutdown is the Res of an EventConfig that asks for a clean stop. A controller that leads others
// hands over first, so that they need not find out that it is gone; it waits for that no longer than
// they would need. Stopped then reports true. There is nothing else to close: what was answered is
// durable.
type Shutdown struct{}

// stop is the way to a clean stop.
type stop struct {
	asked, done bool
	until       env.Mono
}

func (c *Controller) configure(res any) {
	if _, ok := res.(Shutdown); ok && !c.stop.asked {
		c.stop.asked = true
		c.stop.until = c.now.Mono.Add(time.Duration(c.config.Quorum.ElectionTicks) * c.config.TickInterval)
	}
}

// stopping says whether a clean stop was asked for.
func (c *Controller) stopping() bool { return c.stop.asked }

// step hands over, until somebody else leads.
func (s *stop) step(c *Controller) {
	if !s.asked || s.done {
		return
	}
	q := c.life.quorum
	if q == nil || c.alone() || q.Status().Role != quorum.Leader || c.now.Mono >= s.until {
		s.done = true
		return
	}
	q.Transfer(0)
}

// deadline is when a successor is waited for no longer.
func (s *stop) deadline() env.Mono {
	if !s.asked || s.done {
		return env.Never
	}
	return s.until
}

// Opened says whether the data directory was opened once: its files are there, and are this node's.
func (c *Controller) Opened() bool { return c.opened }

// Stopped says whether a clean stop is done.
func (c *Controller) Stopped() bool { return c.stop.done }
