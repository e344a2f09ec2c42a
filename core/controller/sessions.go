package controller

import (
	"cmp"
	"slices"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
)

// sessions are what the active controller knows of the lives of brokers: when each was heard of, and
// how far it has applied the metadata log. They are soft. A controller that begins to lead gives
// every broker a whole session, since it does not know when its predecessor heard of it.
//
// The end of the connection over which a broker was heard tells more than silence: a process that is
// killed leaves it so, and a live one is back within the grace. A controller that was kept from running
// itself, or whose machine was, can not tell who was silent meanwhile, and lets all sessions begin anew.
//
// A broker whose session ends is fenced. All that end in one turn are fenced by one decision on one
// image: decided one after the other, the first might elect the second (KAFKA-13173).
type sessions struct{ all []session } // ascending by broker

type session struct {
	broker kafka.BrokerID
	epoch  kafka.BrokerEpoch
	until  env.Mono
	conn   env.ConnID     // over which it was last heard; 0: it was not yet
	seen   metadata.Index // up to where it has applied the log
}

func (s *sessions) find(broker kafka.BrokerID) (i int, ok bool) {
	return slices.BinarySearchFunc(s.all, broker, func(x session, id kafka.BrokerID) int {
		return cmp.Compare(x.broker, id)
	})
}

// restart begins a session for every broker that is not fenced: a long one, since each has to find out
// that the former controller does not lead any more, but a short one for the broker in its process.
func (s *sessions) restart(c *Controller) {
	s.clear()
	for b := range c.image.Brokers() {
		if !b.Fenced {
			s.touch(c, 0, b.ID, b.Epoch, 0)
		}
	}
	for i := range s.all {
		switch x := &s.all[i]; {
		case x.until == env.Never:
		case x.broker == c.succession.node:
			x.hasten(c)
		default:
			x.until = x.until.Add(c.config.SessionTimeout)
		}
	}
}

func (s *sessions) clear() { s.all = nil }

// touch notes that a life of a broker was heard of.
func (s *sessions) touch(
	c *Controller, conn env.ConnID, broker kafka.BrokerID, epoch kafka.BrokerEpoch, seen metadata.Index,
) {
	x := session{broker, epoch, c.now.Mono.Add(c.config.SessionTimeout), conn, seen}
	if c.own(broker) {
		x.until = env.Never
	}
	i, ok := s.find(broker)
	if !ok {
		s.all = slices.Insert(s.all, i, x)
		return
	}
	if s.all[i].epoch == epoch {
		x.seen = max(seen, s.all[i].seen)
	}
	s.all[i] = x
}

// hungUp is told that a connection has ended.
func (s *sessions) hungUp(c *Controller, conn env.ConnID) {
	for i := range s.all {
		if s.all[i].conn == conn && !c.own(s.all[i].broker) {
			s.all[i].hasten(c)
		}
	}
}

// hasten leaves a broker that seems to have ended no more than the grace.
func (x *session) hasten(c *Controller) {
	x.until = min(x.until, c.now.Mono.Add(c.config.ReconnectGrace))
}

// live says whether another process with the id of a registered broker has to be refused. A broker
// in controlled shutdown may be followed by its next life at any time.
func (s *sessions) live(c *Controller, broker kafka.BrokerID) bool {
	b := c.queue.latest.Broker(broker)
	i, ok := s.find(broker)
	return ok && b != nil && s.all[i].epoch == b.Epoch && !b.Stopping() && !c.own(broker)
}

// end forgets a broker that has shut down.
func (s *sessions) end(broker kafka.BrokerID) {
	if i, ok := s.find(broker); ok {
		s.all = slices.Delete(s.all, i, i+1)
	}
}

// seen returns up to where a broker has applied the log, as far as it has said.
func (s *sessions) seen(broker kafka.BrokerID) metadata.Index {
	if i, ok := s.find(broker); ok {
		return s.all[i].seen
	}
	return 0
}

// own says whether the broker is the one in this process, in a quorum of one: its session does not
// end, because it lives and dies with the only controller, and the lock of their data directory, not
// a session, keeps a second process with its id away.
func (c *Controller) own(broker kafka.BrokerID) bool {
	return broker == c.config.NodeID && c.alone()
}

// expire fences the brokers whose sessions have ended.
func (s *sessions) expire(c *Controller) {
	if !c.Ready() || s.late(c) {
		return
	}
	var ended []kafka.BrokerID
	for i := range s.all {
		if c.now.Mono >= s.all[i].until {
			ended = append(ended, s.all[i].broker)
		}
	}
	if len(ended) == 0 {
		return
	}
	records := metadata.FenceBrokers(c.queue.latest, ended)
	if len(records) > 0 {
		if _, ok := c.propose(records); !ok {
			return // too much is under way: the next turn tries again
		}
		c.Metrics.Fenced += uint64(len(ended))
		invariant.Sometimes(true, invariant.MarkBrokerFenced)
		for _, id := range ended {
			c.trace(TraceFenced, int64(id), 0, 0, "is not heard of any more, and is fenced")
		}
	}
	s.all = slices.DeleteFunc(s.all, func(x session) bool { return c.now.Mono >= x.until })
}

// lateness is how much later than asked for a turn may come that ends a session.
const lateness = 100 * time.Millisecond

// late says whether the turn comes so late that silence proves nothing. Then all sessions begin anew.
func (s *sessions) late(c *Controller) bool {
	now, at := c.now.Mono, s.deadline()
	if at == env.Never || now <= at.Add(lateness) {
		return false
	}
	for i := range s.all {
		if s.all[i].until != env.Never {
			s.all[i].until = now.Add(c.config.SessionTimeout)
		}
	}
	return true
}

// deadline is when the next session ends.
func (s *sessions) deadline() env.Mono {
	at := env.Never
	for i := range s.all {
		at = min(at, s.all[i].until)
	}
	return at
}
