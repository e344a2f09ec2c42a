package broker

import (
	"stet/core/env"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// controllerLink is a connection to a controller. When it breaks, requests that were under way fail
// with env.EReset, and after a pause the next controller of the configuration is dialled.
type controllerLink struct {
	conn     env.ConnID    // dialled last; zero: none
	stands   bool          // conn has opened
	dials    uint64        // links so far
	again    timer         // to the next dial
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

// dial opens the link to the controller whose turn it is.
func (l *controllerLink) dial(b *Broker) {
	controllers := b.config.Controllers
	addr := controllers[l.dials%uint64(len(controllers))].Addr
	l.dials++
	l.conn, l.slot = env.MakeLinkID(l.dials), 0
	start := b.out.Mark()
	b.out.Bytes = append(b.out.Bytes, addr...)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnDial, Conn: l.conn, Head: b.out.SpanFrom(start),
	})
}

// due dials again.
func (l *controllerLink) due(b *Broker) { l.dial(b) }

// opened has what waited for a link begin.
func (l *controllerLink) opened(b *Broker, conn env.ConnID) {
	if conn == l.conn {
		l.stands = true
		b.linkOpened()
	}
}

// up says whether requests can be sent.
func (l *controllerLink) up() bool { return l.stands }

// closed fails everything that was under way.
func (l *controllerLink) closed(b *Broker, conn env.ConnID) {
	if conn != l.conn {
		return
	}
	l.conn, l.stands = 0, false
	if b.phase < phaseStopped {
		b.timers.set(&l.again, b.now.Mono.Add(controllerPause), l)
	}
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
