package sim

import (
	"slices"

	"stet/core/env"
)

// conn is a connection: two ends and a pipe from each to the other. ends[0] dialled.
type conn struct {
	network     *Network
	id          uint64
	established bool
	ends        [2]*end
	pipes       [2]*pipe // pipes[i] carries what ends[i] sends
	dead        [2]bool  // the end has been told, or has no process any more
	requests    []sentRequest
}

// end is one side of a connection; it implements env.ConnWriter.
type end struct {
	conn   *conn
	side   int
	owner  Owner
	place  Place
	reader env.ConnReader
	silent bool // its machine lost power: it neither acknowledges nor resets
}

// Undigested keeps a node's digest from walking into the world.
func (e *end) Undigested() {}

// Send implements env.ConnWriter. A task blocks while the window is full; an event does not.
func (e *end) Send(parts []env.Part) (int64, env.Errno) {
	c := e.conn
	n := c.network
	handed := handOver(parts)
	if t := n.scheduler.Current(); t != nil {
		l := n.link(e.place, c.ends[1-e.side].place)
		n.scheduler.Await(l.stream.Delay(Microsecond, 20*Microsecond))
		for !c.dead[e.side] && c.pipes[e.side].unread >= windowBytes {
			c.pipes[e.side].blocked = append(c.pipes[e.side].blocked, t)
			n.scheduler.Park()
		}
	}
	if c.dead[e.side] {
		return 0, env.EReset
	}
	return c.pipes[e.side].send(parts, handed)
}

// Resume implements env.ConnWriter.
func (e *end) Resume() {
	p := e.conn.pipes[1-e.side]
	p.paused = false
	p.schedule()
}

// Close implements env.ConnWriter: what was sent still arrives, then the peer sees the end.
func (e *end) Close() {
	c := e.conn
	if c.dead[e.side] {
		return
	}
	c.fail(e.side, env.OK)
	c.pipes[e.side].finish()
}

// fail tells one end, in an event of its own, that the connection is over for it.
func (c *conn) fail(side int, err env.Errno) {
	if c.dead[side] {
		return
	}
	c.dead[side] = true
	e := c.ends[side]
	c.pipes[side].release()
	if e.reader == nil {
		return
	}
	c.network.scheduler.After(0, e.owner, KindClosed, func() {
		c.network.scheduler.trace.Record(Record{
			Place: e.place, Kind: KindClosed, What: "closed",
			A: int64(c.id), B: int64(err),
		})
		c.pipes[1-side].drop()
		e.reader.Closed(err)
	})
}

// reset ends the connection for both ends at once.
func (c *conn) reset() {
	c.network.counts.Resets++
	for side := range c.ends {
		c.fail(side, env.EReset)
	}
	c.forget()
}

// forget takes a connection that is over for both ends out of the network.
func (c *conn) forget() {
	n := c.network
	if i := slices.Index(n.open, c); i >= 0 {
		n.open = slices.Delete(n.open, i, i+1)
	}
}

// ownerDied is what the kernel, or its absence, does when the process of an end dies.
func (e *end) ownerDied(cause Cause) {
	c := e.conn
	if c.dead[e.side] {
		return
	}
	c.dead[e.side] = true
	c.pipes[1-e.side].drop()
	out := c.pipes[e.side]
	out.release()
	switch {
	case cause == Retired:
	case cause == PowerLost:
		e.losePower()
	case c.network.stream.Chance(1, 2):
		out.finish() // the kernel sends what it has, then the end
	default:
		out.cutAt(e.onTheWire(len(out.queue)))
		out.finish()
	}
}

// losePower loses what has not left the machine of an end whose process is dead.
func (e *end) losePower() {
	out := e.conn.pipes[e.side]
	e.silent = true
	out.cutAt(e.onTheWire(len(out.queue)))
	out.readRanges() // what left the machine did so before its disk forgot
	e.conn.giveUpLater(1 - e.side)
}

// losePower ends what the kernel of a machine did for processes that had died before.
func (n *Network) losePower(p Place) {
	for _, c := range slices.Clone(n.open) {
		for side, e := range c.ends {
			if e.place == p && c.dead[side] && !e.silent {
				e.losePower()
			}
		}
	}
}

// onTheWire draws how many of the sends in flight have left the machine.
func (e *end) onTheWire(sends int) int {
	return int(e.conn.network.stream.Between(0, int64(sends)))
}

// giveUpLater ends the connection for the side whose peer is silent: when TCP gives up, or when
// the peer's machine answers again that it knows of no connection.
func (c *conn) giveUpLater(side int) {
	n := c.network
	wait := n.stream.Delay(silenceTimeout/2, silenceTimeout)
	n.scheduler.After(wait, 0, KindClosed, func() {
		c.fail(side, env.ETimedOut)
		c.forget()
	})
}

// answerFromTheGrave resets the connection when its silent peer's machine is up again: it answers
// a send that it knows of no such connection.
func (c *conn) answerFromTheGrave(silent int) {
	n := c.network
	there, back := n.link(c.ends[1-silent].place, c.ends[silent].place), n.link(c.ends[silent].place,
		c.ends[1-silent].place)
	if there.cut || back.cut || !n.listens(c.ends[silent].place) {
		return
	}
	delay := there.transit(0) + back.transit(0)
	n.scheduler.After(delay, 0, KindClosed, func() {
		c.fail(1-silent, env.EReset)
		c.forget()
	})
}

// vanish makes an end silent without killing its process: a middle box forgot the connection.
func (c *conn) vanish(side int) {
	c.ends[side].silent = true
	c.pipes[side].cutAt(0)
	c.giveUpLater(1 - side)
	c.giveUpLater(side)
}
