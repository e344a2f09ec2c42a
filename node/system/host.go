package system

import (
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"stet/core/env"
	"stet/node"
)

// exitAssertion is the exit code of a broken assertion.
const exitAssertion = 12

// host is production's node.Host: real clocks, real files, goroutines.
type host struct {
	start   time.Time
	disk    env.Disk
	log     *slog.Logger
	changes chan node.Status
	alarms  [node.LoopCount]alarm
	workers freeWorkers
	dialer  *dialer
	silent  atomic.Bool // the node is done: no timer and no link begins any more
}

func newHost(disk env.Disk, log *slog.Logger) *host {
	return &host{
		start: time.Now(), disk: disk, log: log, changes: make(chan node.Status, 16),
		dialer: newDialer(),
	}
}

// close ends the links of a node that is done, and lets it sleep for good.
func (h *host) close() {
	h.silent.Store(true)
	h.dialer.close()
}

// Now implements node.Host.
func (h *host) Now() env.Now {
	now := time.Now()
	return env.Now{Mono: env.Mono(now.Sub(h.start)), WallMs: now.UnixMilli()}
}

// Disk implements node.Host.
func (h *host) Disk() env.Disk { return h.disk }

// Dial implements node.Host.
func (h *host) Dial(addr string, d env.Dialed) { go h.dialer.dial(addr, d) }

// Log implements node.Host.
func (h *host) Log(l *node.Loop, rec env.TraceRec) {
	h.log.Info(rec.S, "loop", l.ID.String(), "id", rec.ID, "a", rec.A, "b", rec.B, "c", rec.C)
}

// Changed implements node.Host. The channel is larger than the number of changes in a life.
func (h *host) Changed(s node.Status) { h.changes <- s }

// Worker implements node.Host.
func (h *host) Worker(own node.Work) node.Worker {
	w := h.workers.get()
	if w == nil {
		w = &worker{host: h}
	}
	w.own = own
	return w
}

// WakeAt implements node.Host. A timer that is armed for an earlier time is left to fire: the turn
// that it causes asks again. That spares a timer operation in nearly every turn.
func (h *host) WakeAt(l *node.Loop, at env.Mono) { h.alarms[l.ID].arm(h, l, at) }

// alarm is the timer of one loop.
type alarm struct {
	mu    sync.Mutex
	timer *time.Timer
	at    env.Mono // zero: not armed
}

func (a *alarm) arm(h *host, l *node.Loop, at env.Mono) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at == env.Never || a.at != 0 && a.at <= at || h.silent.Load() {
		return
	}
	a.at = max(at, 1)
	d := time.Until(h.start.Add(time.Duration(at)))
	if a.timer != nil {
		a.timer.Reset(d)
		return
	}
	a.timer = time.AfterFunc(d, func() { a.fire(h, l) })
}

func (a *alarm) fire(h *host, l *node.Loop) {
	a.mu.Lock()
	a.at = 0
	a.mu.Unlock()
	w := h.Worker(nil)
	defer w.Finish()
	l.Tick(w)
}

// worker carries one entry into the node to its end on the goroutine that entered.
type worker struct {
	host    *host
	own     node.Work
	running [node.LoopCount]bool
	queue   []node.Work
}

// Runnable implements node.Worker: the entering goroutine runs the loop, unless it is already
// doing so and has done its share.
func (w *worker) Runnable(l *node.Loop) {
	if w.running[l.ID] {
		go func() {
			fresh := w.host.Worker(nil)
			defer fresh.Finish()
			fresh.Runnable(l)
		}()
		return
	}
	w.running[l.ID] = true
	l.Run(w)
	w.running[l.ID] = false
}

// Ready implements node.Worker. Short work is done by this goroutine once the turn is over; what
// may block goes to a goroutine of its own, but for the entry's own connection: a peer that does
// not read its answers may hold up its own requests.
func (w *worker) Ready(x node.Work) {
	if k := x.Kind(); k == node.WorkWrite || k == node.WorkSend && x == w.own {
		w.queue = append(w.queue, x)
		return
	}
	h := w.host
	go func() {
		fresh := h.Worker(nil)
		defer fresh.Finish()
		x.Run(fresh)
	}()
}

// Finish implements node.Worker.
func (w *worker) Finish() {
	if p := recover(); p != nil {
		w.host.die(p)
	}
	defer func() {
		if p := recover(); p != nil {
			w.host.die(p)
		}
	}()
	for i := 0; i < len(w.queue); i++ {
		w.queue[i].Run(w)
	}
	clear(w.queue)
	w.queue, w.own = w.queue[:0], nil
	w.host.workers.put(w)
}

// die reports a broken assertion and ends the process. Nothing is cleaned up: the next start
// recovers as after a kill.
func (h *host) die(p any) {
	h.log.Error("assertion failed", "what", p, "stack", string(debug.Stack()))
	os.Exit(exitAssertion)
}

// keptWorkers bounds how many are kept: as many as are at work at once on most days. A burst of
// connections leaves the rest to the collector.
const keptWorkers = 64

// freeWorkers keeps workers for reuse.
type freeWorkers struct {
	mu   sync.Mutex
	free []*worker
}

func (f *freeWorkers) get() *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) == 0 {
		return nil
	}
	w := f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	return w
}

func (f *freeWorkers) put(w *worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) < keptWorkers {
		f.free = append(f.free, w)
	}
}
