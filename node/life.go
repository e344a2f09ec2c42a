package node

import (
	"sync"
	"sync/atomic"

	"stet/core/env"
)

// life joins what the loops of a node say of themselves into its status, and passes the word from
// one to the other where the life of one waits for the other's. The loops share nothing, so each
// says what it knows when its turn is over.
type life struct {
	news          atomic.Bool // something has changed that after has not looked at
	mu            sync.Mutex
	loops         [LoopCount]Status
	told          Status
	begun         bool // the broker's loop was woken
	stopsFollowed bool // the controller was asked to stop because the broker has
}

// watched tells the node how its loop is after each turn.
type watched struct {
	Core
	node *Node
	last Status
}

// Turn implements Core.
func (c *watched) Turn(now env.Now, in []env.Event, out *env.Effects) {
	c.Core.Turn(now, in, out)
	id, s := c.node.statusOf(c.Core)
	if s != c.last {
		c.last = s
		c.node.changed(id, s)
	}
}

// statusOf asks a state machine for its status. Its runner calls it.
func (n *Node) statusOf(c Core) (LoopID, Status) {
	if n.broker != nil && c == Core(n.broker) {
		b := n.broker
		return BrokerLoop, Status{b.Ready(), b.Stopped(), b.ClusterID(), b.Fatal()}
	}
	k := n.controller
	return ControllerLoop, Status{k.Opened(), k.Stopped(), k.Image().ClusterID(), k.Fatal()}
}

// changed tells the host the status of the node, if it has changed with that of a loop.
func (n *Node) changed(id LoopID, s Status) {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	n.life.loops[id] = s
	n.life.news.Store(true)
	if s := n.status(); s != n.life.told {
		n.life.told = s
		n.host.Changed(s)
	}
}

// status joins the statuses of the loops: a broker answers for the node's readiness if there is one.
func (n *Node) status() Status {
	b, c := n.life.loops[BrokerLoop], n.life.loops[ControllerLoop]
	switch {
	case n.controller == nil:
		return b
	case n.broker == nil:
		return c
	}
	s := Status{b.Ready, b.Stopped && c.Stopped, b.ClusterID, b.Fatal}
	if s.Fatal == nil {
		s.Fatal = c.Fatal
	}
	return s
}

// skipBroker says whether a node that stops has a broker that still waits for its controller: it never
// begins then, and counts as stopped.
func (n *Node) skipBroker() bool {
	l := &n.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.controller == nil || l.begun {
		return false
	}
	l.begun, l.stopsFollowed = true, true
	l.loops[BrokerLoop].Stopped = true
	return true
}

// after is told of every turn. In a node with both loops, the broker begins once the controller has
// opened its directory, and the controller stops once the broker has.
func (n *Node) after(w Worker) {
	l := &n.life
	if n.broker == nil || n.controller == nil || !l.news.Load() {
		return
	}
	l.news.Store(false)
	l.mu.Lock()
	begin := !l.begun && l.loops[ControllerLoop].Ready
	l.begun = l.begun || begin
	stop := !l.stopsFollowed && l.loops[BrokerLoop].Stopped
	l.stopsFollowed = l.stopsFollowed || stop
	l.mu.Unlock()
	if begin {
		n.loops[BrokerLoop].Tick(w)
	}
	if stop {
		n.stopController(w)
	}
}
