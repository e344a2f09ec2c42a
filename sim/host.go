package sim

import (
	"stet/core/env"
	"stet/node"
)

// Pace is how long a node takes between finding that there is something to do and doing it. What
// the law of effects leaves free is permuted by it.
type Pace struct {
	Turn, Work Interval
	// LateOf256 of 256 waits take an extra time from Late.
	LateOf256 uint64
	Late      Interval
}

// DefaultPace is a busy machine.
func DefaultPace() Pace {
	return Pace{
		Turn: Interval{0, 5 * Microsecond}, Work: Interval{0, 20 * Microsecond},
		LateOf256: 2, Late: Interval{100 * Microsecond, 20 * Millisecond},
	}
}

func (p *Pace) draw(s *Stream, of Interval) Time {
	d := s.Delay(of.Low, of.High)
	if s.Chance(p.LateOf256, 256) {
		d += s.Delay(p.Late.Low, p.Late.High)
	}
	return d
}

// host implements node.Host and node.Worker for one life of a node.
type host struct {
	scheduler *Scheduler
	network   *Network
	owner     Owner
	place     Place
	clock     *Clock
	mount     env.Disk
	turns     [node.LoopCount]*Stream // when the loops run
	works     [len(workNames)]*Stream // when the entries of queues do
	pace      *Pace
	changed   func(node.Status)
	alarms    [node.LoopCount]alarm
}

// alarm is the wake-up that a loop asked for.
type alarm struct {
	wanted env.Mono
	armed  Time // of the event that will look, 0 for none
}

// newHost returns the host of a life that begins now.
func newHost(n *Network, o Owner, c *Clock, d *Disk, stream *Stream, pace *Pace) *host {
	s := n.scheduler
	h := &host{
		scheduler: s, network: n, owner: o, place: s.PlaceOf(o), clock: c, mount: d.Mount(o),
		pace: pace, changed: func(node.Status) {},
	}
	for l := range h.turns {
		h.turns[l] = stream.Sub(node.LoopID(l).String())
	}
	for w, name := range workNames {
		h.works[w] = stream.Sub(name)
	}
	return h
}

// Undigested keeps a node's digest from walking into the world.
func (h *host) Undigested() {}

// Now implements node.Host.
func (h *host) Now() env.Now { return h.clock.Now() }

// Disk implements node.Host.
func (h *host) Disk() env.Disk { return h.mount }

// Worker implements node.Host: the same for every entry, as it holds nothing.
func (h *host) Worker(node.Work) node.Worker { return h }

// Runnable implements node.Worker: the loop runs in an event of its own.
func (h *host) Runnable(l *node.Loop) {
	h.scheduler.After(h.pace.draw(h.turns[l.ID], h.pace.Turn), h.owner, KindTurn, func() { l.Run(h) })
}

// Ready implements node.Worker: the work runs in a task of its own.
func (h *host) Ready(w node.Work) {
	d := h.pace.draw(h.works[w.Kind()], h.pace.Work)
	h.scheduler.Spawn(d, h.owner, workNames[w.Kind()], func() { w.Run(h) })
}

var workNames = [...]string{
	node.WorkWrite: "write", node.WorkSlow: "slow file operation", node.WorkSend: "send",
	node.WorkJob: "job", node.WorkLink: "link",
}

// Finish implements node.Worker.
func (h *host) Finish() {}

// WakeAt implements node.Host. An event that comes earlier than what is wanted by then looks and
// waits again, so that a later wish costs nothing.
func (h *host) WakeAt(l *node.Loop, at env.Mono) {
	a := &h.alarms[l.ID]
	a.wanted = at
	h.arm(l, a)
}

func (h *host) arm(l *node.Loop, a *alarm) {
	when := h.clock.When(a.wanted)
	if when == Never || a.armed != 0 && a.armed <= when {
		return
	}
	armed := max(when, 1)
	a.armed = armed
	h.scheduler.At(armed, h.owner, KindTimer, func() {
		if a.armed != armed {
			return // replaced by an earlier one
		}
		a.armed = 0
		if h.clock.Now().Mono < a.wanted {
			h.arm(l, a)
			return
		}
		a.wanted = env.Never
		l.Tick(h)
	})
}

// Dial implements node.Host.
func (h *host) Dial(addr string, d env.Dialed) { h.network.DialName(h.owner, addr, d) }

// Log implements node.Host.
func (h *host) Log(_ *node.Loop, rec env.TraceRec) {
	h.scheduler.trace.Record(Record{
		Place: h.place, Kind: KindNote, What: "log",
		Detail: rec.S, A: rec.A, B: rec.B, C: rec.C,
	})
}

// Changed implements node.Host.
func (h *host) Changed(s node.Status) {
	h.scheduler.After(0, h.owner, KindNote, func() { h.changed(s) })
}
