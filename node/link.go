package node

import (
	"encoding/binary"
	"fmt"
	"sync"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/wire"
)

const (
	// maxLinkQueueBytes bounds what waits to be sent over a link. A peer that takes nothing while
	// more is asked of it is given up, so that it costs no more memory than this; a single request
	// may be larger.
	maxLinkQueueBytes = 16 << 20
	// keptLinkQueueBytes is the size up to which an empty queue keeps its memory.
	keptLinkQueueBytes = 64 << 10
	// minResponseBytes is the size of the shortest response: its correlation id.
	minResponseBytes = 4
)

// Link is the node's side of a connection that its core opened, with ConnDial. It has the memory of
// what was asked, so that an answer is decoded by its question; answers may come in any order. What
// the peer sends is not trusted: an answer that was not asked for or does not decode ends the link.
//
// The core is told of the opening first, of the end last and once, and in between of answers.
type Link struct {
	loop     *Loop
	id       env.ConnID
	addr     string
	memory   *Memory
	maxFrame int32
	claim    claim // of a frame that has not arrived; memory guards it

	mu       sync.Mutex
	writer   env.ConnWriter // nil until the link stands
	calls    map[env.Slot]call
	queue    []byte // frames that nobody sends yet
	sending  []byte // of the one who sends, but for its length
	flushing bool   // somebody sends
	over     bool   // nothing is sent or taken any more
	told     bool   // the end was submitted
	reason   env.Errno

	parts [1]env.Part // of the one who sends
}

// call is what has to be remembered of a request to decode its answer.
type call struct{ key, version int16 }

func newLink(l *Loop, id env.ConnID, addr string) *Link {
	if addr == "" {
		addr = inProcess
	}
	return &Link{
		loop: l, id: id, addr: addr, memory: l.linkMemory, maxFrame: l.maxLinkFrame,
		calls: map[env.Slot]call{},
	}
}

// Opened implements env.Dialed.
func (k *Link) Opened(writer env.ConnWriter, info env.ConnInfo) {
	info.Principal = anonymous
	k.claim.writer = writer
	k.mu.Lock()
	k.writer = writer
	over := k.over
	k.mu.Unlock()
	if over {
		writer.Close() // the core has given it up meanwhile
		return
	}
	w := k.loop.host.Worker(nil)
	defer w.Finish()
	k.loop.Submit(w, env.Event{Kind: env.EventConnOpened, Conn: k.id, Info: &info})
}

// Reserve implements env.ConnReader.
func (k *Link) Reserve(size int32) (env.Buffer, env.Verdict) {
	if size < minResponseBytes || size > k.maxFrame {
		k.refuse(fmt.Errorf("a frame of %d bytes, the limit is %d", size, k.maxFrame))
		return nil, env.Hangup
	}
	b := k.memory.take(int(size), &k.claim)
	if b == nil {
		return nil, env.Pause
	}
	return b, env.Continue
}

// Deliver implements env.ConnReader.
func (k *Link) Deliver(frame env.Buffer) env.Verdict {
	size := int64(len(frame.Bytes()))
	slot, res, err := k.answer(frame)
	if err != nil {
		k.refuse(err)
	}
	if res == nil {
		return env.Hangup
	}
	// The link's own sends do not hold up its reading: two peers would wait for each other.
	w := k.loop.host.Worker(nil)
	defer w.Finish()
	k.loop.Submit(w, env.Event{Kind: env.EventResponse, Conn: k.id, Slot: slot, Res: res, N: size})
	return env.Continue
}

// answer decodes a response and takes over its frame. It returns nil when the link is over.
func (k *Link) answer(frame env.Buffer) (env.Slot, any, error) {
	correlation, _ := wire.ResponseCorrelation(frame.Bytes())
	slot := env.Slot(correlation)
	k.mu.Lock()
	asked, ok := k.calls[slot]
	delete(k.calls, slot)
	over := k.over
	k.mu.Unlock()
	switch {
	case over:
		frame.Release()
		return slot, nil, nil
	case !ok:
		frame.Release()
		return slot, nil, fmt.Errorf("an answer to request %d, which is not under way", correlation)
	case asked.key == wire.KeyFetch:
		return k.records(slot, asked, frame)
	}
	return k.message(slot, asked, frame)
}

// records decodes what a follower has fetched. Its batches go from the frame into a file, so the
// frame is lent to the turn.
func (k *Link) records(slot env.Slot, asked call, frame env.Buffer) (env.Slot, any, error) {
	res, err := wire.DecodeReplicaFetchResponse(asked.version, frame.Bytes())
	if err != nil {
		frame.Release()
		return slot, nil, err
	}
	res.Frame = frame
	return slot, res, nil
}

// message decodes any other answer. It may point into its frame and belongs to the core, so it is of
// a copy; that counts as the frame's memory until its turn is over.
func (k *Link) message(slot env.Slot, asked call, frame env.Buffer) (env.Slot, any, error) {
	size := int64(len(frame.Bytes()))
	k.memory.add(size)
	copied := append([]byte(nil), frame.Bytes()...)
	frame.Release()
	res, err := wire.DecodeResponse(asked.key, asked.version, copied)
	if err != nil {
		k.memory.sub(size)
		return slot, nil, err
	}
	return slot, res, nil
}

// Closed implements env.ConnReader.
func (k *Link) Closed(err env.Errno) {
	w := k.loop.host.Worker(nil)
	defer w.Finish()
	k.memory.leave(&k.claim)
	k.end(w, err)
}

// end submits the end, if that was not done.
func (k *Link) end(w Worker, err env.Errno) {
	k.mu.Lock()
	if k.reason == env.OK {
		k.reason = err
	}
	last := env.Event{Kind: env.EventConnClosed, Conn: k.id, Err: k.reason}
	told := k.told
	k.told, k.over = true, true
	k.queue, k.calls = nil, nil
	k.mu.Unlock()
	if !told {
		k.loop.end(w, last)
	}
}

// send queues a request. The runner of the loop calls it.
func (k *Link) send(w Worker, slot env.Slot, head []byte) {
	k.mu.Lock()
	if k.over {
		k.mu.Unlock()
		return // the core does not know yet
	}
	invariant.Always(k.writer != nil, "nothing is sent over a link before it stands")
	invariant.Always(int32(binary.BigEndian.Uint32(head[4:])) == int32(slot),
		"a request over a link has its slot as its correlation id")
	waiting := len(k.queue) + len(k.sending)
	if waiting > 0 && waiting+len(head) > maxLinkQueueBytes {
		k.mu.Unlock()
		k.log("the peer takes nothing")
		k.hangup(w, env.ETimedOut)
		return
	}
	k.calls[slot] = call{
		int16(binary.BigEndian.Uint16(head)), int16(binary.BigEndian.Uint16(head[2:])),
	}
	k.queue = append(wire.AppendFrameSize(k.queue, int32(len(head))), head...)
	k.flush(w)
	k.mu.Unlock()
}

// flush makes the link ready if it has something to send and nobody sends. k.mu is held.
func (k *Link) flush(w Worker) {
	if !k.flushing && !k.over && len(k.queue) > 0 {
		k.flushing = true
		w.Ready(k)
	}
}

// Kind implements Work.
func (k *Link) Kind() WorkKind { return WorkLink }

// Run implements Work: it sends what is queued.
func (k *Link) Run(w Worker) {
	k.mu.Lock()
	k.sending, k.queue = k.queue, k.sending
	k.parts[0].Bytes = k.sending
	k.mu.Unlock()
	_, err := k.writer.Send(k.parts[:])
	k.parts[0].Bytes = nil
	k.mu.Lock()
	k.sending = k.sending[:0]
	if cap(k.sending) > keptLinkQueueBytes {
		k.sending = nil
	}
	k.flushing = false
	k.flush(w)
	k.mu.Unlock()
	if err != env.OK {
		k.hangup(w, err)
	}
}

// hangup ends the link at once and remembers why. One that does not stand yet is told as ended; the
// world's word on it comes too late.
func (k *Link) hangup(w Worker, reason env.Errno) {
	k.mu.Lock()
	if k.reason == env.OK {
		k.reason = reason
	}
	k.over = true
	writer := k.writer
	k.mu.Unlock()
	if writer == nil {
		k.end(w, reason)
		return
	}
	writer.Close()
}

// refuse logs what is wrong with what the peer has sent, and ends the link.
func (k *Link) refuse(err error) {
	k.log(err.Error())
	k.hangup(nil, env.EMalformed)
}

func (k *Link) log(why string) {
	k.loop.host.Log(k.loop, env.TraceRec{S: fmt.Sprintf("link %d to %s ended: %s",
		k.id&^env.MakeLinkID(0), k.addr, why)})
}
