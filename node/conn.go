package node

import (
	"fmt"
	"sync"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/wire"
)

// Bounds of what one connection may have in flight before its reading half stops.
const (
	maxSlotsInFlight = 64
	maxBytesInFlight = 16 << 20
)

// Conn is the node's side of one inbound connection. Request k takes slot k when it is parsed;
// answers fill slots in any order and leave in slot order. Several requests are in flight only
// for Produce and Fetch; any other key waits until earlier slots are answered, and holds back
// what comes behind it.
type Conn struct {
	loop     *Loop
	id       env.ConnID
	info     *env.ConnInfo
	writer   env.ConnWriter
	memory   *Memory
	maxFrame int32
	decoder  *wire.Decoder // of the reading half
	claim    claim         // of a frame that has not arrived; memory guards it

	mu        sync.Mutex
	bodies    []any    // consumed by their turns, for the decoder to reuse
	first     env.Slot // the slot that leaves next
	slots     []slot   // slots[i] is slot first+i
	bytes     int64    // of the requests in flight
	exclusive bool     // a request that is neither Produce nor Fetch is in flight
	held      *env.Request
	stopped   bool // the reading half waits for Resume, but not for budget
	paused    bool // the core asked for it
	flushing  bool // somebody sends
	closing   bool // close once the filled slots have left
	closed    bool
	reason    env.Errno

	taken int // slots at the front that the one who sends answers for

	// Scratch of the one who sends.
	sending []slot
	parts   []env.Part
	prefix  []byte
	events  []env.Event
}

type slot struct {
	filled    bool
	exclusive bool
	bytes     int64 // of the request
	head      []byte
	ranges    []leasedRange
	token     env.Token
}

// leasedRange is a range together with the reference of its file.
type leasedRange struct {
	env.Range
	file *FileQueue
}

// Reserve implements env.ConnReader.
func (c *Conn) Reserve(size int32) (env.Buffer, env.Verdict) {
	if size < wire.MinFrameBytes || size > c.maxFrame {
		c.refuse(fmt.Errorf("a frame of %d bytes, the limit is %d", size, c.maxFrame))
		return nil, env.Hangup
	}
	b := c.memory.take(int(size), c)
	if b == nil {
		return nil, env.Pause
	}
	return b, env.Continue
}

// Deliver implements env.ConnReader: it prepares the request and submits it, or holds it back.
func (c *Conn) Deliver(frame env.Buffer) env.Verdict {
	req := &env.Request{
		Conn: c.id, Slot: env.NoSlot, Info: c.info, Bytes: int64(len(frame.Bytes())), Frame: frame,
	}
	c.reuseBodies()
	if err := c.decoder.Decode(frame.Bytes(), req); err != nil {
		frame.Release()
		c.refuse(err)
		return env.Hangup
	}
	w := c.loop.host.Worker(c)
	defer w.Finish()
	return c.offer(w, req)
}

// offer submits req if its turn has come, holds it otherwise, and says whether to read on.
func (c *Conn) offer(w Worker, req *env.Request) env.Verdict {
	c.mu.Lock()
	invariant.Always(c.held == nil, "a frame was delivered while another is held back")
	if c.closed {
		c.mu.Unlock()
		req.Frame.Release()
		return env.Hangup
	}
	admitted := c.admissible(req)
	if admitted {
		c.admit(req)
	} else {
		c.held = req
	}
	c.stopped = !c.readable()
	verdict := env.Continue
	if c.stopped {
		verdict = env.Pause
	}
	c.mu.Unlock()
	if admitted {
		c.loop.Submit(w, env.Event{Kind: env.EventRequest, Conn: c.id, Slot: req.Slot, Req: req})
	}
	return verdict
}

// pipelined says whether several requests like req may be in flight.
func pipelined(req *env.Request) bool {
	return req.Key == wire.KeyProduce || req.Key == wire.KeyFetch
}

func (c *Conn) admissible(req *env.Request) bool {
	return !c.exclusive && (pipelined(req) || len(c.slots) == 0)
}

// admit gives req its slot, unless it gets no answer.
func (c *Conn) admit(req *env.Request) {
	if wire.NoResponse(req) {
		return
	}
	req.Slot = c.first + env.Slot(len(c.slots))
	c.exclusive = !pipelined(req)
	c.slots = append(c.slots, slot{bytes: req.Bytes, exclusive: c.exclusive})
	c.bytes += req.Bytes
}

// readable says whether the reading half may go on.
func (c *Conn) readable() bool {
	return c.held == nil && !c.paused && len(c.slots) < maxSlotsInFlight &&
		c.bytes < maxBytesInFlight
}

// recycle takes back what a request lent to its turn.
func (c *Conn) recycle(req *env.Request) {
	c.mu.Lock()
	c.bodies = append(c.bodies, req.Body)
	c.mu.Unlock()
	req.Body = nil
	req.Frame.Release()
}

// reuseBodies hands consumed bodies to the decoder. The reading half does it, so that no turn
// ever waits for a decode.
func (c *Conn) reuseBodies() {
	c.mu.Lock()
	bodies := c.bodies
	for _, body := range bodies {
		c.decoder.Recycle(body)
	}
	clear(bodies)
	c.bodies = bodies[:0]
	c.mu.Unlock()
}

// fill stores the answer of a slot, and has the filled prefix sent. The runner of the loop calls
// it.
func (c *Conn) fill(w Worker, op *env.ConnOp, head []byte, ranges []leasedRange) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		releaseRanges(ranges)
		if op.Token != 0 {
			c.loop.late = append(c.loop.late, sentEvent(c.id, op.Token, 0, env.EReset))
		}
		return
	}
	i := int(op.Slot - c.first)
	invariant.Always(i >= 0 && i < len(c.slots), "an answer for a slot that is not in flight")
	s := &c.slots[i]
	invariant.Always(!s.filled, "a slot was answered twice")
	s.filled, s.ranges, s.token = true, ranges, op.Token
	s.head = append(s.head[:0], head...)
	c.flush(w)
	c.mu.Unlock()
}

// flush makes the connection ready if it has something to send and nobody sends. c.mu is held.
func (c *Conn) flush(w Worker) {
	if !c.flushing && len(c.slots) > 0 && c.slots[0].filled {
		c.flushing = true
		w.Ready(c)
	}
}

// Kind implements Work.
func (c *Conn) Kind() WorkKind { return WorkSend }

// Run implements Work: it sends the filled prefix of the slots.
func (c *Conn) Run(w Worker) {
	c.mu.Lock()
	n := 0
	for n < len(c.slots) && c.slots[n].filled {
		n++
	}
	c.sending = append(c.sending[:0], c.slots[:n]...)
	c.taken = n
	c.mu.Unlock()

	err := c.send()
	c.finish(w, err)
}

// send passes on everything in c.sending, in one call.
func (c *Conn) send() env.Errno {
	c.parts, c.prefix = c.parts[:0], c.prefix[:0]
	for i := range c.sending {
		if err := c.addParts(&c.sending[i]); err != env.OK {
			return err
		}
	}
	_, err := c.writer.Send(c.parts)
	return err
}

// addParts cuts a response into its length prefix, pieces of its head, and ranges.
func (c *Conn) addParts(s *slot) env.Errno {
	size := int64(len(s.head))
	for i := range s.ranges {
		size += s.ranges[i].Len
	}
	if len(c.prefix)+4 > cap(c.prefix) {
		c.prefix = make([]byte, 0, 4*maxSlotsInFlight+4)
	}
	at := len(c.prefix)
	c.prefix = append(c.prefix, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	c.parts = append(c.parts, env.Part{Bytes: c.prefix[at:]})
	from := uint32(0)
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.At > from {
			c.parts = append(c.parts, env.Part{Bytes: s.head[from:r.At]})
			from = r.At
		}
		if r.file == nil {
			return env.ENOENT
		}
		if err := r.file.open(env.OpenWrite); err != env.OK {
			return err
		}
		c.parts = append(c.parts, env.Part{File: r.file.file, Off: r.Off, Len: r.Len})
	}
	c.parts = append(c.parts, env.Part{Bytes: s.head[from:]})
	return env.OK
}

// finish takes the sent slots out, reports their leases, and lets waiting requests go on. The
// connection counts as sending until the events are submitted, so that its scratch stays its own.
func (c *Conn) finish(w Worker, err env.Errno) {
	c.events = c.events[:0]
	for i := range c.sending {
		s := &c.sending[i]
		releaseRanges(s.ranges)
		if s.token != 0 {
			c.events = append(c.events, sentEvent(c.id, s.token, rangeBytes(s.ranges), err))
		}
	}
	c.mu.Lock()
	c.retire()
	if next := c.admitHeld(); next != nil {
		c.events = append(c.events, env.Event{
			Kind: env.EventRequest, Conn: c.id, Slot: next.Slot, Req: next,
		})
	}
	c.mu.Unlock()
	c.loop.Submit(w, c.events...)

	c.mu.Lock()
	c.flushing = false
	ended := c.closed // meanwhile; the end was left to us
	dead := err != env.OK || c.closing && (len(c.slots) == 0 || !c.slots[0].filled)
	if !dead {
		c.flush(w)
	}
	c.mu.Unlock()
	if ended {
		c.loop.end(w, c.end())
		return
	}
	if dead {
		c.hangup(err)
	}
	c.resume()
}

// retire takes the sent slots out. c.mu is held.
func (c *Conn) retire() {
	n := c.taken
	c.taken = 0
	for i := range c.slots[:n] {
		c.bytes -= c.slots[i].bytes
		c.exclusive = c.exclusive && !c.slots[i].exclusive
		c.sending[i].head = nil
	}
	rest := copy(c.slots, c.slots[n:])
	clear(c.slots[rest:])
	c.slots = c.slots[:rest]
	c.first += env.Slot(n)
}

// admitHeld admits the request that was held back, if its turn has come. c.mu is held.
func (c *Conn) admitHeld() *env.Request {
	req := c.held
	if req == nil || c.closed || !c.admissible(req) {
		return nil
	}
	c.held = nil
	c.admit(req)
	return req
}

// closeAfter closes the connection once what is answered has left.
func (c *Conn) closeAfter(w Worker, reason env.Errno) {
	c.mu.Lock()
	if c.reason == env.OK {
		c.reason = reason
	}
	c.closing = true
	now := !c.flushing && (len(c.slots) == 0 || !c.slots[0].filled)
	c.mu.Unlock()
	if now {
		c.writer.Close()
	}
}

// refuse logs what is wrong with what the peer has sent, and ends the connection.
func (c *Conn) refuse(err error) {
	c.loop.host.Log(c.loop, env.TraceRec{S: fmt.Sprintf(
		"connection %d from %s ended: frame refused: %v", c.id, c.info.Remote, err)})
	c.hangup(env.EMalformed)
}

// hangup closes the connection at once and remembers why.
func (c *Conn) hangup(reason env.Errno) {
	c.mu.Lock()
	if c.reason == env.OK {
		c.reason = reason
	}
	c.mu.Unlock()
	c.writer.Close()
}

// setPaused stops the reading half after the next frame, or lets it go on.
func (c *Conn) setPaused(paused bool) {
	c.mu.Lock()
	c.paused = paused
	c.mu.Unlock()
	if !paused {
		c.resume()
	}
}

// resume lets the reading half go on if nothing else stops it.
func (c *Conn) resume() {
	c.mu.Lock()
	resume := c.stopped && c.readable() && !c.closed
	c.stopped = c.stopped && !resume
	c.mu.Unlock()
	if resume {
		c.writer.Resume()
	}
}

// Closed implements env.ConnReader. While somebody sends, telling the end is left to them: nothing
// may follow it.
func (c *Conn) Closed(err env.Errno) {
	c.mu.Lock()
	c.closed = true
	if c.reason == env.OK {
		c.reason = err
	}
	slots := c.slots[c.taken:] // the rest is the sender's to finish
	var events []env.Event
	for i := range slots {
		releaseRanges(slots[i].ranges)
		if slots[i].token != 0 {
			events = append(events, sentEvent(c.id, slots[i].token, 0, env.EReset))
		}
	}
	c.slots = c.slots[:c.taken]
	held := c.held
	c.held = nil
	sending := c.flushing
	c.mu.Unlock()
	if held != nil {
		held.Frame.Release()
	}
	c.memory.leave(c)
	w := c.loop.host.Worker(nil)
	defer w.Finish()
	c.loop.Submit(w, events...)
	if !sending {
		c.loop.end(w, c.end())
	}
}

// end is the last event of the connection.
func (c *Conn) end() env.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return env.Event{Kind: env.EventConnClosed, Conn: c.id, Err: c.reason}
}

func releaseRanges(ranges []leasedRange) {
	for i := range ranges {
		if ranges[i].file != nil {
			ranges[i].file.release()
		}
	}
}

func rangeBytes(ranges []leasedRange) (n int64) {
	for i := range ranges {
		n += ranges[i].Len
	}
	return n
}
