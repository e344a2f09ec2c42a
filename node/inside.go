package node

import (
	"encoding/binary"
	"sync"

	"stet/core/env"
	"stet/core/wire"
)

// inProcess is the remote address of both ends of a connection between the loops of a node.
const inProcess = "in process"

// insideDial opens a connection from one loop of the node to the other: it carries the same frames
// as one between nodes, to the same receivers. It is a Work, so that no loop runs in another's turn.
type insideDial struct {
	host     Host
	dialed   env.Dialed
	acceptor env.Acceptor // nil: the node has no other loop
}

// Kind implements Work.
func (*insideDial) Kind() WorkKind { return WorkLink }

// Run implements Work.
func (d *insideDial) Run(Worker) {
	if d.acceptor == nil {
		d.dialed.Closed(env.ERefused)
		return
	}
	near, far := &insideEnd{host: d.host, reader: d.dialed}, &insideEnd{host: d.host}
	near.other, far.other = far, near
	info := env.ConnInfo{Remote: inProcess}
	far.reader = d.acceptor.Accept(far, info)
	d.dialed.Opened(near, info)
}

// insideEnd is one end of a connection inside a node: a queue of frames that were sent to it, and
// the Work that gives them to its receiver.
type insideEnd struct {
	host   Host
	other  *insideEnd
	reader env.ConnReader

	mu      sync.Mutex
	frames  [][]byte // sent to this end and not taken, without prefix
	bytes   int      // of frames
	running bool     // the Work was made ready
	paused  bool     // the reader has to be resumed
	resumed bool     // it was, before its Pause was noticed
	own     bool     // this end was closed by its own side
	ended   bool     // nothing is sent to this end any more
	told    bool     // the reader was told the end
}

// Send implements env.ConnWriter. Only whole frames without ranges pass between loops.
func (e *insideEnd) Send(parts []env.Part) (n int64, err env.Errno) {
	var all []byte
	for _, p := range parts {
		if p.File != nil {
			return 0, env.EOther
		}
		all = append(all, p.Bytes...)
	}
	o := e.other
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || o.told {
		return 0, env.EReset
	}
	if o.bytes > 0 && o.bytes+len(all) > maxLinkQueueBytes {
		return 0, env.ETimedOut
	}
	for rest := all; len(rest) > 0; {
		size := wire.LengthBytes + int(int32(binary.BigEndian.Uint32(rest)))
		o.frames = append(o.frames, rest[wire.LengthBytes:size:size])
		rest = rest[size:]
	}
	o.bytes += len(all)
	o.ready()
	return int64(len(all)), env.OK
}

// Resume implements env.ConnWriter.
func (e *insideEnd) Resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.paused {
		e.resumed = true
		return
	}
	e.paused = false
	e.ready()
}

// Close implements env.ConnWriter: what this end sent still arrives, what was sent to it does not.
func (e *insideEnd) Close() {
	e.close(true)
	e.other.close(false)
}

func (e *insideEnd) close(own bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	e.ended, e.own = true, own
	e.ready()
}

// ready has the Work run, unless it will anyway or has to wait for Resume. Who closed its own end
// waits for nothing. e.mu is held.
func (e *insideEnd) ready() {
	if e.running || e.told || e.paused && !e.own {
		return
	}
	e.running = true
	w := e.host.Worker(nil)
	w.Ready(e)
	w.Finish()
}

// Kind implements Work. A receiver runs turns and sends their answers.
func (*insideEnd) Kind() WorkKind { return WorkLink }

// Run implements Work: it gives the receiver what was sent, and then the end.
func (e *insideEnd) Run(Worker) {
	for {
		frame, end, err := e.next()
		switch {
		case end:
			e.reader.Closed(err)
			return
		case frame == nil:
			return
		}
		switch e.offer(frame) {
		case env.Pause:
			if e.pause() {
				return
			}
		case env.Hangup:
			e.Close()
		}
	}
}

// next returns the frame whose turn it is, or that the end's has come. With neither, the Work stops.
func (e *insideEnd) next() (frame []byte, end bool, err env.Errno) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.own || e.ended && len(e.frames) == 0:
		e.frames, e.told = nil, true
		if !e.own {
			err = env.EReset
		}
		return nil, true, err
	case len(e.frames) == 0:
		e.running = false
		return nil, false, env.OK
	}
	return e.frames[0], false, env.OK
}

// offer gives the receiver the first frame. It stays first if there is no budget for it.
func (e *insideEnd) offer(frame []byte) env.Verdict {
	buffer, verdict := e.reader.Reserve(int32(len(frame)))
	if buffer == nil {
		return verdict
	}
	copy(buffer.Bytes(), frame)
	e.mu.Lock()
	e.frames[0] = nil
	e.frames = e.frames[1:]
	e.bytes -= wire.LengthBytes + len(frame)
	e.mu.Unlock()
	return e.reader.Deliver(buffer)
}

// pause stops the Work until Resume, and says so; false if that has come already.
func (e *insideEnd) pause() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resumed || e.own {
		e.resumed = false
		return false
	}
	e.paused, e.running = true, false
	return true
}
