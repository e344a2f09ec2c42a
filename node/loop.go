package node

import (
	"sync"
	"sync/atomic"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/wire"
)

// Core is a deterministic state machine: core/broker and core/controller.
type Core interface {
	// Turn consumes the events and appends effects to out, which is empty.
	Turn(now env.Now, in []env.Event, out *env.Effects)
}

// LoopID tells the loops of a node apart.
type LoopID uint8

const (
	BrokerLoop LoopID = iota
	ControllerLoop
	LoopCount
)

// String gives the loop's name.
func (id LoopID) String() string { return [LoopCount]string{"broker", "controller"}[id] }

// maxTurnsInARow bounds how long a submitter is kept running other submitters' events.
const maxTurnsInARow = 8

// Loop runs the turns of one Core, one at a time, by flat combining: events go into an inbox, and
// whoever finds the loop idle runs it. Effects are put into their queues inside the turn, so that
// the order of turns is the order of every queue, and are performed outside of it.
type Loop struct {
	ID   LoopID
	core Core
	host Host
	tap  Tap

	openFiles    *OpenFiles   // of the node
	inside       env.Acceptor // of the node's other loop; nil: there is none
	linkMemory   *Memory      // for the frames of links
	maxLinkFrame int32
	after        func(w Worker) // told after each turn; nil: nobody

	// The fields below belong to the runner, whoever it is.
	out   env.Effects
	files map[env.FileID]*FileQueue
	conns map[env.ConnID]*Conn
	links map[env.ConnID]*Link
	// lastLink is the highest id of a link so far.
	lastLink env.ConnID
	spare    []env.Event
	turns    uint64
	// late are reports on answers that were given to connections which had ended; leaving are ends
	// that were put off for one turn. See next.
	late, leaving []env.Event

	lastConn atomic.Uint64

	mu       sync.Mutex
	inbox    []env.Event
	arrivals []*Conn     // connections whose EventConnOpened is in the inbox
	ends     []env.Event // EventConnClosed
	running  bool
}

// Tap watches the turns of a loop: the recorder, the simulator's trace. It must not keep what it is
// shown: events and their results belong to the turn, effects to the loop.
type Tap interface {
	// Turning is called before a turn.
	Turning(l LoopID, now env.Now, in []env.Event)
	// Turned is called after the turn, before its effects are routed.
	Turned(l LoopID, out *env.Effects)
}

// NewLoop returns an idle loop around core. tap may be nil.
func NewLoop(id LoopID, core Core, host Host, tap Tap) *Loop {
	return &Loop{
		ID: id, core: core, host: host, tap: tap,
		openFiles: NewOpenFiles(0), linkMemory: NewMemory(internalBudgetBytes),
		maxLinkFrame: wire.DefaultMaxFrameBytes,
		files:        map[env.FileID]*FileQueue{},
		conns:        map[env.ConnID]*Conn{},
		links:        map[env.ConnID]*Link{},
	}
}

// Core returns the state machine, for inspection between turns by a single-threaded world.
func (l *Loop) Core() Core {
	if w, ok := l.core.(*watched); ok {
		return w.Core
	}
	return l.core
}

// Turns returns how many turns were run. For a single-threaded world or a stopped loop.
func (l *Loop) Turns() uint64 { return l.turns }

// Conns returns how many connections the loop knows: those whose end it has not been told. For a
// single-threaded world or between turns.
func (l *Loop) Conns() int { return len(l.conns) }

// Links returns how many links the loop's core has opened so far, under the same terms.
func (l *Loop) Links() uint64 { return uint64(l.lastLink &^ env.MakeLinkID(0)) }

// Submit puts events into the inbox, in order, and makes sure that somebody runs the loop.
func (l *Loop) Submit(w Worker, events ...env.Event) {
	if len(events) == 0 {
		return
	}
	l.mu.Lock()
	l.inbox = append(l.inbox, events...)
	idle := !l.running
	l.running = true
	l.mu.Unlock()
	if idle {
		w.Runnable(l)
	}
}

// accept submits the opening of c. The runner enters c into the table before the turn that is
// told of it.
func (l *Loop) accept(w Worker, c *Conn) {
	l.mu.Lock()
	l.arrivals = append(l.arrivals, c)
	l.mu.Unlock()
	l.Submit(w, env.Event{Kind: env.EventConnOpened, Conn: c.id, Info: c.info})
}

// end submits the EventConnClosed of a connection, of which no other event may be submitted any
// more.
func (l *Loop) end(w Worker, ev env.Event) {
	l.mu.Lock()
	l.ends = append(l.ends, ev)
	idle := !l.running
	l.running = true
	l.mu.Unlock()
	if idle {
		w.Runnable(l)
	}
}

// Tick submits the wake-up that was asked for with Host.WakeAt.
func (l *Loop) Tick(w Worker) { l.Submit(w, env.Event{Kind: env.EventTick}) }

// Run runs turns until nothing is left to tell. It is called once for every Worker.Runnable. After
// maxTurnsInARow turns it asks for another Run instead, so that its caller gets on.
func (l *Loop) Run(w Worker) {
	for range maxTurnsInARow {
		l.mu.Lock()
		if !l.pending() {
			l.running = false
			l.mu.Unlock()
			return
		}
		in := l.next()
		for _, c := range l.arrivals {
			l.conns[c.id] = c
		}
		clear(l.arrivals)
		l.arrivals = l.arrivals[:0]
		l.mu.Unlock()

		l.turn(w, in)
		clear(in)
		l.spare = in[:0]
	}
	l.mu.Lock()
	more := l.pending()
	l.running = more
	l.mu.Unlock()
	if more {
		w.Runnable(l)
	}
}

// pending says whether there is anything to tell. l.mu is held.
func (l *Loop) pending() bool {
	return len(l.inbox)+len(l.ends)+len(l.leaving)+len(l.late) > 0
}

// next takes out what the next turn is told. l.mu is held.
//
// The end of a connection is told last of all its events, and before any event that may cause
// another answer to it. So it waits until the requests that came before it have had their turn, and
// stands in front of the next one, behind the reports on the answers that this turn gave in vain.
func (l *Loop) next() []env.Event {
	in := l.inbox
	if len(l.ends)+len(l.leaving)+len(l.late) == 0 {
		l.inbox = l.spare[:0]
		return in
	}
	told := append(append(l.spare[:0], l.late...), l.leaving...)
	l.late, l.leaving = l.late[:0], l.leaving[:0]
	if len(in) > 0 {
		l.leaving, l.ends = l.ends, l.leaving
	} else {
		told = append(told, l.ends...)
		l.ends = l.ends[:0]
	}
	told = append(told, in...)
	clear(in)
	l.inbox = in[:0]
	return told
}

// turn runs one turn and puts its effects into their queues.
func (l *Loop) turn(w Worker, in []env.Event) {
	l.turns++
	now := l.host.Now()
	l.out.Reset()
	if l.tap != nil {
		l.tap.Turning(l.ID, now, in)
	}
	l.core.Turn(now, in, &l.out)
	if l.tap != nil {
		l.tap.Turned(l.ID, &l.out)
	}
	l.route(w)
	for i := range in {
		l.settle(&in[i])
	}
	if l.after != nil {
		l.after(w)
	}
}

// settle gives back what an event lent to the turn.
func (l *Loop) settle(ev *env.Event) {
	switch ev.Kind {
	case env.EventRequest:
		if c := l.conns[ev.Conn]; c != nil {
			c.recycle(ev.Req)
		} else if ev.Req.Frame != nil {
			ev.Req.Frame.Release()
		}
	case env.EventResponse:
		if fetched, ok := ev.Res.(*wire.ReplicaFetchResponse); ok {
			fetched.Frame.Release()
		} else {
			l.linkMemory.sub(ev.N)
		}
	case env.EventConnClosed:
		delete(l.conns, ev.Conn)
		delete(l.links, ev.Conn)
	}
}

// route puts the effects of a turn into the queues of their files and connections.
func (l *Loop) route(w Worker) {
	for i := range l.out.File {
		l.routeFile(w, &l.out.File[i])
	}
	for i := range l.out.Conn {
		l.routeConn(w, &l.out.Conn[i])
	}
	for _, j := range l.out.Jobs {
		w.Ready(&jobWork{loop: l, start: j})
	}
	for _, t := range l.out.Trace {
		l.host.Log(l, t)
	}
	l.host.WakeAt(l, l.out.Wake)
}

func (l *Loop) routeFile(w Worker, op *env.FileOp) {
	q := l.files[op.File]
	if q == nil {
		q = newFileQueue(l, op.File)
		l.files[op.File] = q
	}
	var inline []byte
	if op.Op == env.FileWrite && op.Buf.Owner == nil && op.Inline.Len() > 0 {
		inline = append(inline, l.out.Bytes[op.Inline.Start:op.Inline.End]...)
	}
	q.push(w, op, inline)
	if op.Op == env.FileClose || op.Op == env.FileRemove {
		delete(l.files, op.File)
	}
}

func (l *Loop) routeConn(w Worker, op *env.ConnOp) {
	head := l.out.Bytes[op.Head.Start:op.Head.End]
	if op.Conn.Link() {
		l.routeLink(w, op, head)
		return
	}
	ranges := l.out.Ranges[op.Ranges.Start:op.Ranges.End]
	c := l.conns[op.Conn]
	if c == nil {
		invariant.Always(op.Token == 0, "a connection is given no ranges after its end was told")
		return
	}
	switch op.Op {
	case env.ConnRespond:
		c.fill(w, op, head, ranges)
	case env.ConnClose:
		c.closeAfter(w, op.Err)
	case env.ConnPause:
		c.setPaused(true)
	case env.ConnResume:
		c.setPaused(false)
	}
}

func (l *Loop) routeLink(w Worker, op *env.ConnOp, head []byte) {
	if op.Op == env.ConnDial {
		l.dial(w, op.Conn, string(head))
		return
	}
	k := l.links[op.Conn]
	switch op.Op {
	case env.ConnSend:
		invariant.Always(k != nil, "nothing is sent over a link whose end was told")
		k.send(w, op.Slot, head)
	case env.ConnClose:
		if k != nil {
			k.hangup(w, op.Err)
		}
	}
}

func (l *Loop) dial(w Worker, id env.ConnID, addr string) {
	invariant.Always(id > l.lastLink, "the ids of links are counted")
	l.lastLink = id
	k := newLink(l, id, addr)
	l.links[id] = k
	if addr == "" {
		w.Ready(&insideDial{host: l.host, dialed: k, acceptor: l.inside})
		return
	}
	l.host.Dial(addr, k)
}

func sentEvent(c env.ConnID, t env.Token, n int64, err env.Errno) env.Event {
	return env.Event{Kind: env.EventResponseSent, Conn: c, Token: t, N: n, Err: err}
}

// jobWork runs one job and reports its result.
type jobWork struct {
	loop  *Loop
	start env.JobStart
}

func (j *jobWork) Kind() WorkKind { return WorkJob }

func (j *jobWork) Run(w Worker) {
	res := j.start.Job.Run(j.loop.host.Disk())
	j.loop.Submit(w, env.Event{Kind: env.EventJobDone, Token: j.start.Token, Res: res})
}
