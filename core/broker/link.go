package broker

import (
	"stet/core/env"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// controllerLink is a connection to the active controller. The node opens it, and opens another
// one when it breaks; requests that were under way then fail with env.EReset.
type controllerLink struct {
	conn        env.ConnID // zero: none
	correlation int32
	requests    []*linkRequest // under way, in the order they were sent
}

// answered is told how a request to the controller ended. With an error, or when the controller
// leads no more, nothing is known about what became of it.
type answered interface {
	answered(b *Broker, res kmsg.Response, err env.Errno)
}

// linkRequest is a request that is under way.
type linkRequest struct {
	link   *controllerLink
	token  env.Token
	caller answered
}

func (l *controllerLink) open(conn env.ConnID) {
	l.conn, l.correlation = conn, 0
}

// up says whether requests can be sent.
func (l *controllerLink) up() bool { return l.conn != 0 }

// close fails everything that was under way.
func (l *controllerLink) close(b *Broker) {
	l.conn = 0
	requests := l.requests
	l.requests = nil
	for _, r := range requests {
		delete(b.pending, r.token)
		r.caller.answered(b, nil, env.EReset)
	}
}

// send sends a request; without a link the caller is told at once.
func (l *controllerLink) send(b *Broker, m kmsg.Request, caller answered) {
	if !l.up() {
		caller.answered(b, nil, env.EReset)
		return
	}
	r := &linkRequest{link: l, caller: caller}
	r.token = b.nextToken(r)
	l.requests = append(l.requests, r)
	l.correlation++
	start := b.out.Mark()
	b.out.Bytes = wire.AppendRequest(b.out.Bytes, l.correlation, "stet-broker", m)
	b.out.Conn = append(b.out.Conn, env.ConnOp{Op: env.ConnSend, Conn: l.conn,
		Head: b.out.SpanFrom(start), Token: r.token})
}

func (r *linkRequest) completed(b *Broker, ev *env.Event) {
	for i := range r.link.requests {
		if r.link.requests[i] == r {
			r.link.requests = append(r.link.requests[:i], r.link.requests[i+1:]...)
			break
		}
	}
	res, _ := ev.Res.(kmsg.Response)
	err := ev.Err
	if res == nil && err == env.OK {
		err = env.EMalformed
	}
	r.caller.answered(b, res, err)
}
