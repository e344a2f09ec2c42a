package broker

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	linkPause     = 50 * time.Millisecond // before a peer is dialled or asked again
	mostLinkPause = 400 * time.Millisecond
)

// link is a connection that the broker opens, and opens again after a pause when it has ended. Requests
// that are under way when it ends fail with env.EReset.
type link struct {
	owner    linkOwner
	conn     env.ConnID // dialled last; zero: none
	stands   bool       // conn has opened
	failures uint       // since the peer last answered as it should
	again    timer      // to the next dial

	slot     env.Slot      // of the last request
	requests []linkRequest // under way, in the order they were sent
	silence  linkSilence
}

// linkOwner is whose link it is.
type linkOwner interface {
	// address says where to dial; ok is false if there is nowhere to, until dial is called again.
	address(b *Broker) (addr string, ok bool)
	linkOpened(b *Broker)
	linkEnded(b *Broker) // before the requests under way fail and the pause begins
}

// answered is told how a request over a link ended, with the decoded response: a kmsg.Response, or a
// *wire.ReplicaFetchResponse to a Fetch. With an error, or when the controller that was
// asked leads no more, nothing is known about what became of it.
type answered interface {
	answered(b *Broker, res any, err env.Errno)
}

// linkRequest is a request that is under way.
type linkRequest struct {
	slot   env.Slot
	caller answered
	until  env.Mono // it is overdue from then on
	vital  bool     // and the link is taken for dead
}

// links finds the link that an event is about.
type links struct {
	dials  uint64 // so far
	byConn map[env.ConnID]*link
}

// opened has what waited for a link begin. Of one that was left it is no news.
func (t *links) opened(b *Broker, conn env.ConnID) {
	if l := t.byConn[conn]; l != nil {
		l.stands = true
		l.owner.linkOpened(b)
	}
}

// closed takes the end of a link, or of a dial. Of one that was left it is no news.
func (t *links) closed(b *Broker, conn env.ConnID) {
	if l := t.byConn[conn]; l != nil {
		l.end(b)
	}
}

// response passes on an answer. One of a former link is late.
func (t *links) response(b *Broker, ev *env.Event) {
	if l := t.byConn[ev.Conn]; l != nil {
		l.response(b, ev)
	}
}

// dial opens the link. There is none yet, or its end is known.
func (l *link) dial(b *Broker) {
	addr, ok := l.owner.address(b)
	if !ok {
		return
	}
	b.timers.clear(&l.again)
	b.links.dials++
	l.conn, l.slot = env.MakeLinkID(b.links.dials), 0
	b.links.byConn[l.conn] = l
	start := b.out.Mark()
	b.out.Bytes = append(b.out.Bytes, addr...)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnDial, Conn: l.conn, Head: b.out.SpanFrom(start),
	})
}

// due dials after a pause.
func (l *link) due(b *Broker) {
	if b.phase == phaseRunning {
		l.dial(b)
	}
}

// up says whether requests can be sent.
func (l *link) up() bool { return l.stands }

// worked is told that the peer has answered as it should.
func (l *link) worked() { l.failures = 0 }

// leave ends the link, to dial anew after a pause.
func (l *link) leave(b *Broker, reason env.Errno) {
	if l.conn == 0 {
		return
	}
	b.out.Conn = append(b.out.Conn, env.ConnOp{Op: env.ConnClose, Conn: l.conn, Err: reason})
	l.end(b)
}

// close ends the link for good. Whoever waits for an answer over it is not told.
func (l *link) close(b *Broker) {
	if l.conn != 0 {
		b.out.Conn = append(b.out.Conn, env.ConnOp{Op: env.ConnClose, Conn: l.conn})
		delete(b.links.byConn, l.conn)
	}
	l.conn, l.stands, l.requests = 0, false, nil
	b.timers.clear(&l.again)
	b.timers.clear(&l.silence.timer)
}

// end fails everything that was under way and dials again after a pause.
func (l *link) end(b *Broker) {
	delete(b.links.byConn, l.conn)
	l.conn, l.stands = 0, false
	l.owner.linkEnded(b)
	pause := min(linkPause<<min(l.failures, 8), mostLinkPause)
	l.failures++
	b.timers.set(&l.again, b.now.Mono.Add(pause), l)
	b.timers.clear(&l.silence.timer)
	requests := l.requests
	l.requests = nil
	for i := range requests {
		requests[i].caller.answered(b, nil, env.EReset)
	}
}

// send sends a request, whose caller is told env.ETimedOut if there is no answer in time; without a
// link the caller is told at once.
func (l *link) send(b *Broker, m kmsg.Request, caller answered) {
	l.put(b, m, linkRequest{caller: caller, until: b.now.Mono.Add(b.config.RequestTimeout)})
}

// sendVital sends a request that a live controller answers within a time. If it does not, the peer
// may be gone without a word, and the link is left.
func (l *link) sendVital(b *Broker, patience time.Duration, m kmsg.Request,
	caller answered,
) {
	l.put(b, m, linkRequest{caller: caller, until: b.now.Mono.Add(patience), vital: true})
}

func (l *link) put(b *Broker, m kmsg.Request, r linkRequest) {
	if !l.up() {
		r.caller.answered(b, nil, env.EReset)
		return
	}
	l.slot++
	r.slot = l.slot
	l.requests = append(l.requests, r)
	l.silence.watch(b, l)
	start := b.out.Mark()
	b.out.Bytes = wire.AppendRequest(b.out.Bytes, int32(l.slot), "stet-broker", m)
	b.out.Conn = append(b.out.Conn, env.ConnOp{
		Op: env.ConnSend, Conn: l.conn, Slot: l.slot,
		Head: b.out.SpanFrom(start),
	})
}

// linkSilence is told when an answer is overdue.
type linkSilence struct {
	timer
	of *link
}

// watch sets the timer to when the next answer is overdue.
func (s *linkSilence) watch(b *Broker, l *link) {
	b.timers.clear(&s.timer)
	at := env.Never
	for i := range l.requests {
		at = min(at, l.requests[i].until)
	}
	if at != env.Never {
		s.of = l
		b.timers.set(&s.timer, at, s)
	}
}

func (s *linkSilence) due(b *Broker) {
	l := s.of
	i := slices.IndexFunc(l.requests, func(r linkRequest) bool { return r.until <= b.now.Mono })
	if i < 0 {
		return
	}
	r := l.requests[i]
	if r.vital {
		l.leave(b, env.ETimedOut)
		return
	}
	l.requests = slices.Delete(l.requests, i, i+1)
	s.watch(b, l)
	r.caller.answered(b, nil, env.ETimedOut)
}

// response takes an answer of the peer. One to a request that was given up is late.
func (l *link) response(b *Broker, ev *env.Event) {
	i := slices.IndexFunc(l.requests, func(r linkRequest) bool { return r.slot == ev.Slot })
	if i < 0 {
		return
	}
	caller := l.requests[i].caller
	l.requests = slices.Delete(l.requests, i, i+1)
	l.silence.watch(b, l)
	err := ev.Err
	if ev.Res == nil && err == env.OK {
		err = env.EMalformed
	}
	caller.answered(b, ev.Res, err)
}
