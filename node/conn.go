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
//
// From the first request with a key of Stet's own on, the peer is known to be a node, which finds
// the question to an answer by its correlation id: any requests may be in flight together, and
// answers leave when they are there. A metadata fetch that waits holds up no heartbeat.
type Conn struct {
	loop     *Loop
	id       env.ConnID
	info     *env.ConnInfo
	writer   env.ConnWriter
	memory   *Memory
	maxFrame int32
	decoder  *wire.Decoder  // of the reading half
	requests []*env.Request // free; of the reading half
	claim    claim          // of a frame that has not arrived; memory guards it

	mu        sync.Mutex
	consumed  []*env.Request // by their turns, for the reading half to use again
	spare     []answer       // emptied, for later slots
	first     env.Slot       // the slot that leaves next
	slots     []slot         // slots[i] is slot first+i
	bytes     int64          // of the requests in flight
	inFlight  int            // slots whose answer has not left
	exclusive bool           // a request that is neither Produce nor Fetch is in flight
	peerNode  bool           // the peer takes answers in any order
	held      *env.Request
	stopped   bool // the reading half waits for Resume, but not for budget
	paused    bool // the core asked for it
	flushing  bool // somebody sends
	closing   bool // close once the filled slots have left
	closed    bool
	reason    env.Errno

	// Scratch of the one who sends.
	sending []slot
	parts   []env.Part
	prefix  []byte
	copied  []byte // of ranges that are copied
	events  []env.Event
}

// Reserve implements env.ConnReader.
func (c *Conn) Reserve(size int32) (env.Buffer, env.Verdict) {
	if size < wire.MinFrameBytes || size > c.maxFrame {
		c.refuse(fmt.Errorf("a frame of %d bytes, the limit is %d", size, c.maxFrame))
		return nil, env.Hangup
	}
	b := c.memory.take(int(size), &c.claim)
	if b == nil {
		return nil, env.Pause
	}
	return b, env.Continue
}

// Deliver implements env.ConnReader: it prepares the request and submits it, or holds it back.
func (c *Conn) Deliver(frame env.Buffer) env.Verdict {
	req := c.request()
	*req = env.Request{
		Conn: c.id, Slot: env.NoSlot, Info: c.info, Bytes: int64(len(frame.Bytes())), Frame: frame,
	}
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
	c.peerNode = c.peerNode || wire.OwnKey(req.Key)
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
	return c.peerNode || !c.exclusive && (pipelined(req) || c.inFlight == 0)
}

// admit gives req its slot, unless it gets no answer.
func (c *Conn) admit(req *env.Request) {
	if wire.NoResponse(req) {
		return
	}
	req.Slot = c.first + env.Slot(len(c.slots))
	c.exclusive = !c.peerNode && !pipelined(req)
	c.inFlight++
	c.slots = append(c.slots, slot{bytes: req.Bytes, exclusive: c.exclusive})
	c.bytes += req.Bytes
}

// readable says whether the reading half may go on.
func (c *Conn) readable() bool {
	return c.held == nil && !c.paused && c.inFlight < maxSlotsInFlight &&
		c.bytes < maxBytesInFlight
}

// keptRequests bounds what an idle connection keeps of requests for reuse.
const keptRequests = 8

// recycle takes back a request from its turn, and gives its frame free.
func (c *Conn) recycle(req *env.Request) {
	frame := req.Frame
	*req = env.Request{Body: req.Body}
	c.mu.Lock()
	c.consumed = append(c.consumed, req)
	c.mu.Unlock()
	frame.Release()
}

// request returns a request to fill, and hands the bodies of consumed ones to the decoder. The
// reading half does it, so that no turn ever waits for a decode.
func (c *Conn) request() *env.Request {
	c.mu.Lock()
	for _, r := range c.consumed {
		c.decoder.Recycle(r.Body)
		r.Body = nil
		if len(c.requests) < keptRequests {
			c.requests = append(c.requests, r)
		}
	}
	clear(c.consumed)
	c.consumed = c.consumed[:0]
	c.mu.Unlock()
	n := len(c.requests)
	if n == 0 {
		return new(env.Request)
	}
	r := c.requests[n-1]
	c.requests = c.requests[:n-1]
	return r
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
	now := !c.flushing && !c.sendable()
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

// Closed implements env.ConnReader. While somebody sends, the rest is left to them: nothing may
// follow the event that tells the end.
func (c *Conn) Closed(err env.Errno) {
	c.mu.Lock()
	c.closed = true
	if c.reason == env.OK {
		c.reason = err
	}
	held := c.held
	c.held = nil
	sending := c.flushing
	c.mu.Unlock()
	if held != nil {
		held.Frame.Release()
	}
	c.memory.leave(&c.claim)
	if !sending {
		w := c.loop.host.Worker(nil)
		defer w.Finish()
		c.end(w)
	}
}

// end reports the leases of answers that will not leave, and then the end. The connection is closed
// and nobody sends.
func (c *Conn) end(w Worker) {
	c.mu.Lock()
	var events []env.Event
	for i := range c.slots {
		s := &c.slots[i]
		s.release()
		if s.token != 0 {
			events = append(events, sentEvent(c.id, s.token, 0, env.EReset))
		}
	}
	c.slots = nil
	last := env.Event{Kind: env.EventConnClosed, Conn: c.id, Err: c.reason}
	c.mu.Unlock()
	c.loop.Submit(w, events...)
	c.loop.end(w, last)
}
