package broker

import (
	"stet/core/env"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is a client's connection. Requests that wait point to it, and give up when it is closed.
type conn struct {
	id     env.ConnID
	info   *env.ConnInfo
	closed bool
	parked []*fetchWait // fetches of this connection that wait
}

// origin is where an answer goes.
type origin struct {
	conn        *conn
	slot        env.Slot
	version     int16
	correlation int32
}

func (b *Broker) connOpened(ev *env.Event) {
	if ev.Conn.Link() {
		b.links.opened(b, ev.Conn)
		return
	}
	b.conns[ev.Conn] = &conn{id: ev.Conn, info: ev.Info}
}

func (b *Broker) connClosed(ev *env.Event) {
	if ev.Conn.Link() {
		b.links.closed(b, ev.Conn)
		return
	}
	c := b.conns[ev.Conn]
	if c == nil {
		return
	}
	c.closed = true
	delete(b.conns, ev.Conn)
	for _, w := range c.parked {
		w.cancel(b)
	}
	c.parked = nil
}

// originOf returns where to answer r. A connection that was not announced, or is closed already, is
// not remembered; the node drops what it is sent.
func (b *Broker) originOf(r *env.Request) origin {
	c := b.conns[r.Conn]
	if c == nil {
		c = &conn{id: r.Conn, info: r.Info}
	}
	return origin{c, r.Slot, r.Version, r.Correlation}
}

// respond answers with what has been appended to out.Bytes since start.
func (b *Broker) respond(o origin, start uint32) {
	if o.conn.closed {
		return
	}
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnRespond, Conn: o.conn.id, Slot: o.slot,
		Head: b.out.SpanFrom(start),
	})
}

// reply answers with a message of kmsg.
func (b *Broker) reply(o origin, m kmsg.Response) {
	if o.conn.closed {
		return
	}
	start := b.out.Mark()
	b.out.Bytes = wire.AppendResponse(b.out.Bytes, o.version, o.correlation, 0, m)
	b.respond(o, start)
}

// hangUp ends a connection once the answers before this one have left.
func (b *Broker) hangUp(o origin, reason env.Errno) {
	if !o.conn.closed {
		b.out.Conn = append(b.out.Conn, env.ConnOp{
			Op: env.ConnClose, Conn: o.conn.id,
			Slot: o.slot, Err: reason,
		})
	}
}
