package sim

import (
	"cmp"
	"maps"
	"slices"

	"stet/core/env"
)

// Network carries the bytes of connections between places: whole frames in order, or the
// connection dies. Delays, partitions, stalls and plans decide when.
type Network struct {
	// Plan decides which frames meet a fault. It may be replaced at any time.
	Plan NetFaults
	// OnViolation is told when bytes of a file range were changed between hand-out and delivery.
	// The default panics.
	OnViolation func(RangeViolation)

	scheduler *Scheduler
	faults    *FaultLog
	stream    *Stream
	profile   LinkProfile
	links     map[pair]*link
	listeners map[string]*listener
	places    map[string]Place // of addresses, whether somebody listens there or not
	open      []*conn          // in the order of dialling
	conns     uint64
	ordinals  map[frameKey]int
	counts    NetCounts
}

// NetCounts is what a network has done.
type NetCounts struct {
	Conns, Frames uint64
	Bytes         uint64 // delivered
	RangeBytes    uint64 // of those, resolved from files at delivery
	Resets        uint64
}

// frameKey counts ordinals.
type frameKey struct {
	from, to Place
	request  bool
	key      int16
}

// Times that the network's peers wait.
const (
	connectTimeout = 10 * Second
	silenceTimeout = 30 * Second // until TCP gives up on a peer that does not acknowledge
	windowBytes    = 256 << 10   // that a sender may have in flight before it blocks
)

// NewNetwork returns a network without listeners.
func NewNetwork(s *Scheduler, faults *FaultLog, stream *Stream) *Network {
	return &Network{
		Plan: NoNetFaults{}, OnViolation: func(v RangeViolation) { panic(v) },
		scheduler: s, faults: faults, stream: stream, profile: DefaultLinkProfile(),
		links: map[pair]*link{}, listeners: map[string]*listener{}, places: map[string]Place{},
		ordinals: map[frameKey]int{},
	}
}

// Counts returns what the network has done so far.
func (n *Network) Counts() NetCounts { return n.counts }

// directions lists all directions that were ever used, in order.
func (n *Network) directions() []pair {
	return slices.SortedFunc(maps.Keys(n.links), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

type listener struct {
	owner    Owner
	acceptor env.Acceptor
}

// Listen admits connections to addr for as long as owner lives. The name is any; two living
// listeners do not share one.
func (n *Network) Listen(owner Owner, addr string, a env.Acceptor) {
	l := &listener{owner, a}
	n.listeners[addr] = l
	n.scheduler.AtDeath(owner, func(Cause) {
		if n.listeners[addr] == l {
			delete(n.listeners, addr)
		}
	})
}

// listens says whether any process at a place listens.
func (n *Network) listens(p Place) bool {
	for _, addr := range slices.Sorted(maps.Keys(n.listeners)) {
		if n.scheduler.PlaceOf(n.listeners[addr].owner) == p {
			return true
		}
	}
	return false
}

// Name makes an address known as one at a place, for DialName.
func (n *Network) Name(addr string, at Place) { n.places[addr] = at }

// DialName opens a connection of owner to whoever listens at addr, as Dial does. An address without
// a place is refused.
func (n *Network) DialName(owner Owner, addr string, d env.Dialed) {
	to, known := n.places[addr]
	if !known {
		n.scheduler.After(0, owner, KindClosed, func() { d.Closed(env.ERefused) })
		return
	}
	n.Dial(owner, to, addr, d)
}

// Dial opens a connection of owner to whoever listens at addr, which lies at place to. Frames
// that are sent before it stands wait. The outcome is reported through r: its Closed is called
// with ERefused if nobody listens, with ETimedOut if nobody answers; if it is an env.Dialed, it is
// told first when the connection stands.
func (n *Network) Dial(owner Owner, to Place, addr string, r env.ConnReader) env.ConnWriter {
	n.conns++
	n.counts.Conns++
	c := &conn{network: n, id: n.conns}
	from := n.scheduler.PlaceOf(owner)
	c.ends[0] = &end{conn: c, side: 0, owner: owner, place: from, reader: r}
	c.ends[1] = &end{conn: c, side: 1, place: to}
	for side := range c.pipes {
		c.pipes[side] = &pipe{conn: c, side: side, receiver: c.ends[1-side]}
	}
	n.open = append(n.open, c)
	n.scheduler.AtDeath(owner, func(cause Cause) { c.ends[0].ownerDied(cause) })
	c.attempt(addr, n.scheduler.later(connectTimeout))
	return c.ends[0]
}

// attempt tries to reach the listener, again and again while the way is cut.
func (c *conn) attempt(addr string, deadline Time) {
	n := c.network
	there, back := n.link(c.ends[0].place, c.ends[1].place), n.link(c.ends[1].place, c.ends[0].place)
	delay := there.transit(0) + back.transit(0)
	n.scheduler.After(delay, 0, KindOpen, func() {
		now := n.scheduler.Now()
		switch {
		case c.dead[0]:
		case now >= deadline:
			c.fail(0, env.ETimedOut)
			c.forget()
		case there.cut || back.cut || now < there.stalled || now < back.stalled:
			n.scheduler.After(200*Millisecond, 0, KindOpen, func() { c.attempt(addr, deadline) })
		default:
			c.establish(n.listeners[addr])
		}
	})
}

// establish asks the listener and opens both directions.
func (c *conn) establish(l *listener) {
	n := c.network
	if l == nil {
		c.fail(0, env.ERefused)
		c.forget()
		return
	}
	server := c.ends[1]
	server.owner = l.owner
	info := env.ConnInfo{Remote: c.ends[0].place.String()}
	n.scheduler.trace.Record(Record{
		Place: server.place, Kind: KindOpen, What: "accept",
		Detail: info.Remote, A: int64(c.id),
	})
	server.reader = l.acceptor.Accept(server, info)
	if server.reader == nil {
		c.dead[1] = true
		c.fail(0, env.EReset)
		c.forget()
		return
	}
	c.established = true
	c.opened()
	n.scheduler.AtDeath(l.owner, func(cause Cause) { server.ownerDied(cause) })
	c.pipes[0].schedule()
}

// opened tells the end that dialled, in an event of its own, that the connection stands.
func (c *conn) opened() {
	e := c.ends[0]
	d, ok := e.reader.(env.Dialed)
	if !ok {
		return
	}
	info := env.ConnInfo{Remote: c.ends[1].place.String()}
	c.network.scheduler.After(0, e.owner, KindOpen, func() { d.Opened(e, info) })
}

// Reset resets a connection by its number, if it is open: what is in flight is lost.
func (n *Network) Reset(id uint64) bool {
	for _, c := range n.open {
		if c.id == id {
			n.fault("reset", c.ends[0].place, c.ends[1].place, "connection "+itoa(int64(id)))
			c.reset()
			return true
		}
	}
	return false
}

// OpenConn describes an open connection.
type OpenConn struct {
	ID             uint64
	Dialer, Server Place
	InFlight       int64 // bytes of both directions
}

// OpenConns lists the open connections in the order of dialling.
func (n *Network) OpenConns() []OpenConn {
	var out []OpenConn
	for _, c := range n.open {
		out = append(out, OpenConn{
			c.id, c.ends[0].place, c.ends[1].place,
			c.pipes[0].unread + c.pipes[1].unread,
		})
	}
	return out
}

// keepPages has every connection keep what it has to send of a file whose pages are evicted.
func (n *Network) keepPages(of *inode) {
	for _, c := range n.open {
		for _, p := range c.pipes {
			p.keepPages(of)
		}
	}
}

// busyConns returns how many connections of a place have bytes in flight.
func (n *Network) busyConns(p Place) (count int) {
	for _, c := range n.open {
		if (c.ends[0].place == p || c.ends[1].place == p) && c.pipes[0].unread+c.pipes[1].unread > 0 {
			count++
		}
	}
	return count
}
