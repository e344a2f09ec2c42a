package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/quorum"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// link is a connection that this controller opens to another one. Requests go one way over it; the
// other controller has a link of its own for its requests.
type link struct {
	conn  env.ConnID // zero: none
	open  bool       // requests can be sent
	slot  env.Slot   // of the last request
	asked []asked    // under way, in the order they were sent
	bytes int        // of asked
}

// asked is a request that is under way.
type asked struct {
	slot  env.Slot
	key   int16
	bytes int
	until env.Mono        // when to give the link up
	round uint64          // of a hello: see bootstrap
	at    quorum.Position // of a piece of a snapshot
}

// dial asks for a new link.
func (l *link) dial(c *Controller, conn env.ConnID, addr string) {
	*l = link{conn: conn}
	start := c.out.Mark()
	c.out.Bytes = append(c.out.Bytes, addr...)
	c.out.Conn = append(c.out.Conn, env.ConnOp{
		Op: env.ConnDial, Conn: conn, Head: c.out.SpanFrom(start),
	})
}

// send asks over an open link. What is known of the answer beforehand comes back with it.
func (l *link) send(c *Controller, m kmsg.Request, a asked) {
	l.slot++
	start := c.out.Mark()
	c.out.Bytes = wire.AppendRequest(c.out.Bytes, int32(l.slot), "stet-controller", m)
	head := c.out.SpanFrom(start)
	c.out.Conn = append(c.out.Conn, env.ConnOp{
		Op: env.ConnSend, Conn: l.conn, Slot: l.slot, Head: head,
	})
	a.slot, a.key, a.bytes = l.slot, m.Key(), head.Len()
	a.until = c.now.Mono.Add(c.config.RequestTimeout)
	l.asked = append(l.asked, a)
	l.bytes += a.bytes
}

// answered takes a request off; ok is false if it is not under way.
func (l *link) answered(slot env.Slot) (a asked, ok bool) {
	i := slices.IndexFunc(l.asked, func(a asked) bool { return a.slot == slot })
	if i < 0 {
		return a, false
	}
	a = l.asked[i]
	l.asked = slices.Delete(l.asked, i, i+1)
	l.bytes -= a.bytes
	return a, true
}

// asking says whether a request of this key is under way.
func (l *link) asking(key int16) bool {
	return slices.ContainsFunc(l.asked, func(a asked) bool { return a.key == key })
}

// overdue is when the oldest request has waited too long. A link that does not answer is no better
// than none, and a new one may be.
func (l *link) overdue() env.Mono {
	if len(l.asked) == 0 {
		return env.Never
	}
	return l.asked[0].until
}

// close gives the link up.
func (l *link) close(c *Controller, err env.Errno) {
	c.out.Conn = append(c.out.Conn, env.ConnOp{Op: env.ConnClose, Conn: l.conn, Err: err})
	*l = link{}
}
