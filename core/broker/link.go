package broker

import (
	"stet/core/env"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// controllerLink is a connection to the active controller. The node opens it, and opens another
// one when it breaks; requests that were under way then fail with env.EReset.
type controllerLink struct {
	conn     env.ConnID    // zero: none
	slot     env.Slot      // of the last request
	requests []linkRequest // under way, in the order they were sent
}

// answered is told how a request to the controller ended. With an error, or when the controller
// leads no more, nothing is known about what became of it.
type answered interface {
	answered(b *Broker, res kmsg.Response, err env.Errno)
}

// linkRequest is a request that is under way.
type linkRequest struct {
	slot   env.Slot
	caller answered
}

func (l *controllerLink) open(conn env.ConnID) { l.conn, l.slot = conn, 0 }

// up says whether requests can be sent.
func (l *controllerLink) up() bool { return l.conn != 0 }

// close fails everything that was under way.
func (l *controllerLink) close(b *Broker) {
	l.conn = 0
	requests := l.requests
	l.requests = nil
	for i := range requests {
		requests[i].caller.answered(b, nil, env.EReset)
	}
}

// send sends a request; without a link the caller is told at once.
func (l *controllerLink) send(b *Broker, m kmsg.Request, caller answered) {
	if !l.up() {
		caller.answered(b, nil, env.EReset)
		return
	}
	l.slot++
	l.requests = append(l.requests, linkRequest{l.slot, caller})
	start := b.out.Mark()
	b.out.Bytes = wire.AppendRequest(b.out.Bytes, int32(l.slot), "stet-broker", m)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnSend, Conn: l.conn, Slot: l.slot,
		Head: b.out.SpanFrom(start),
	})
}

// response takes an answer of the controller. One of a former link is late.
func (l *controllerLink) response(b *Broker, ev *env.Event) {
	if ev.Conn != l.conn {
		return
	}
	for i := range l.requests {
		if l.requests[i].slot != ev.Slot {
			continue
		}
		caller := l.requests[i].caller
		l.requests = append(l.requests[:i], l.requests[i+1:]...)
		res, _ := ev.Res.(kmsg.Response)
		err := ev.Err
		if res == nil && err == env.OK {
			err = env.EMalformed
		}
		caller.answered(b, res, err)
		return
	}
}
