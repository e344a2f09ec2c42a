package broker

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	controllerPause     = 50 * time.Millisecond // before a controller is dialled or asked again
	mostControllerPause = 400 * time.Millisecond
)

// controllerLink is the connection to the active controller, as far as the broker knows which one
// that is: it dials the controllers that it knows in turn, and follows what they say of who leads. It leaves a controller that does not lead, and one that is silent. Requests that are under
// way when a link ends fail with env.EReset. There is one link at a time.
type controllerLink struct {
	conn     env.ConnID                // dialled last; zero: none
	stands   bool                      // conn has opened
	place    int                       // among those known, of the controller that was or will be dialled
	joined   []kafka.ControllerAddress // that led and are not in the configuration, as others told
	dials    uint64                    // links so far
	failures uint                      // since a controller last answered as the one that leads
	again    timer                     // to the next dial

	slot     env.Slot      // of the last request
	requests []linkRequest // under way, in the order they were sent
	silence  linkSilence
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
	until  env.Mono // it is overdue from then on
	vital  bool     // and the link is taken for dead
}

// dial opens the link to the controller whose turn it is.
func (l *controllerLink) dial(b *Broker) {
	known := l.known(b)
	l.place %= len(known)
	l.dials++
	l.conn, l.slot = env.MakeLinkID(l.dials), 0
	start := b.out.Mark()
	b.out.Bytes = append(b.out.Bytes, known[l.place].Addr...)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnDial, Conn: l.conn, Head: b.out.SpanFrom(start),
	})
}

// due dials after a pause.
func (l *controllerLink) due(b *Broker) {
	if b.phase == phaseRunning {
		l.dial(b)
	}
}

// opened has what waited for a link begin.
func (l *controllerLink) opened(b *Broker, conn env.ConnID) {
	if conn == l.conn {
		l.stands = true
		b.linkOpened()
	}
}

// up says whether requests can be sent.
func (l *controllerLink) up() bool { return l.stands }

// closed takes the end of a link, or of a dial. Of one that was left it is no news.
func (l *controllerLink) closed(b *Broker, conn env.ConnID) {
	if conn == l.conn {
		l.end(b, kafka.NoBroker)
	}
}

// leave ends the link, to dial the controller of that node, or the next in turn if there is none.
func (l *controllerLink) leave(b *Broker, reason env.Errno, to kafka.BrokerID) {
	b.out.Conn = append(b.out.Conn, env.ConnOp{Op: env.ConnClose, Conn: l.conn, Err: reason})
	l.end(b, to)
}

// end fails everything that was under way and dials again after a pause.
func (l *controllerLink) end(b *Broker, to kafka.BrokerID) {
	l.conn, l.stands = 0, false
	if place, ok := l.find(b, to); ok {
		l.place = place
	} else {
		l.place++
	}
	pause := min(controllerPause<<min(l.failures, 8), mostControllerPause)
	l.failures++
	b.timers.set(&l.again, b.now.Mono.Add(pause), l)
	b.timers.clear(&l.silence.timer)
	requests := l.requests
	l.requests = nil
	for i := range requests {
		requests[i].caller.answered(b, nil, env.EReset)
	}
}

func (l *controllerLink) find(b *Broker, node kafka.BrokerID) (place int, ok bool) {
	place = slices.IndexFunc(l.known(b), func(c kafka.ControllerAddress) bool {
		return c.Node == node
	})
	return place, place >= 0
}

// known lists the controllers that may lead: those of the configuration, and who has joined them.
func (l *controllerLink) known(b *Broker) []kafka.ControllerAddress {
	return append(slices.Clip(b.config.Controllers), l.joined...)
}

// learn remembers where a controller is that is not in the configuration.
func (l *controllerLink) learn(b *Broker, c kafka.ControllerAddress) {
	configured := slices.ContainsFunc(b.config.Controllers, func(o kafka.ControllerAddress) bool {
		return o.Node == c.Node
	})
	if c.Addr == "" || configured || slices.Contains(l.joined, c) {
		return
	}
	l.joined = slices.DeleteFunc(l.joined, func(o kafka.ControllerAddress) bool { return o.Node == c.Node })
	l.joined = append(l.joined, c)
}

// peer names the controller that the link is to.
func (l *controllerLink) peer(b *Broker) string {
	known := l.known(b)
	c := known[l.place%len(known)]
	if c.Addr == "" {
		return "this node"
	}
	return c.Addr
}

// led is told that the controller has answered as the one that leads.
func (l *controllerLink) led() { l.failures = 0 }

// leadsNot is told that the controller has answered that it does not lead, and who does if it knows.
// With only one controller there is nothing to do but to ask it again.
func (l *controllerLink) leadsNot(b *Broker, leader kafka.BrokerID) {
	known := l.known(b)
	n := len(known)
	if l.stands && n > 1 && leader != known[l.place%n].Node {
		l.leave(b, env.OK, leader)
	}
}

// send sends a request, whose caller is told env.ETimedOut if there is no answer in time; without a
// link the caller is told at once.
func (l *controllerLink) send(b *Broker, m kmsg.Request, caller answered) {
	l.put(b, m, linkRequest{caller: caller, until: b.now.Mono.Add(b.config.RequestTimeout)})
}

// sendVital sends a request that a live controller answers within a time. If it does not, the peer
// may be gone without a word, and the link is left.
func (l *controllerLink) sendVital(b *Broker, patience time.Duration, m kmsg.Request,
	caller answered,
) {
	l.put(b, m, linkRequest{caller: caller, until: b.now.Mono.Add(patience), vital: true})
}

func (l *controllerLink) put(b *Broker, m kmsg.Request, r linkRequest) {
	if !l.up() {
		r.caller.answered(b, nil, env.EReset)
		return
	}
	l.slot++
	r.slot = l.slot
	l.requests = append(l.requests, r)
	l.silence.watch(b)
	start := b.out.Mark()
	b.out.Bytes = wire.AppendRequest(b.out.Bytes, int32(l.slot), "stet-broker", m)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnSend, Conn: l.conn, Slot: l.slot,
		Head: b.out.SpanFrom(start),
	})
}

// linkSilence is told when an answer is overdue.
type linkSilence struct{ timer }

// watch sets the timer to when the next answer is overdue.
func (s *linkSilence) watch(b *Broker) {
	b.timers.clear(&s.timer)
	at := env.Never
	for i := range b.link.requests {
		at = min(at, b.link.requests[i].until)
	}
	if at != env.Never {
		b.timers.set(&s.timer, at, s)
	}
}

func (s *linkSilence) due(b *Broker) {
	l := &b.link
	i := slices.IndexFunc(l.requests, func(r linkRequest) bool { return r.until <= b.now.Mono })
	if i < 0 {
		return
	}
	r := l.requests[i]
	if r.vital {
		l.leave(b, env.ETimedOut, kafka.NoBroker)
		return
	}
	l.requests = slices.Delete(l.requests, i, i+1)
	s.watch(b)
	r.caller.answered(b, nil, env.ETimedOut)
}

// response takes an answer of the controller. One of a former link, or to a request that was given
// up, is late.
func (l *controllerLink) response(b *Broker, ev *env.Event) {
	if ev.Conn != l.conn {
		return
	}
	for i := range l.requests {
		if l.requests[i].slot != ev.Slot {
			continue
		}
		caller := l.requests[i].caller
		l.requests = slices.Delete(l.requests, i, i+1)
		l.silence.watch(b)
		res, _ := ev.Res.(kmsg.Response)
		err := ev.Err
		if res == nil && err == env.OK {
			err = env.EMalformed
		}
		caller.answered(b, res, err)
		return
	}
}
