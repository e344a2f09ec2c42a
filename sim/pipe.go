package sim

import (
	"fmt"
	"slices"

	"stet/core/env"
	"stet/sim/digest"
)

// RangeViolation reports that bytes of a file were handed out to a connection and then changed
// before the peer had them.
type RangeViolation struct {
	At       Time
	From, To Place
	File     string
	Off, Len int64
}

// Error makes it an error.
func (v RangeViolation) Error() string {
	return fmt.Sprintf("bytes [%d, %d) of %s changed on their way %s->%s", v.Off, v.Off+v.Len,
		v.File, v.From, v.To)
}

// pipe is one direction of a connection.
type pipe struct {
	conn     *conn
	side     int  // of the sender
	receiver *end // of the other side
	scanner  frameScanner
	queue    []sent
	last     Time // when the last send arrives: order is kept
	unread   int64
	blocked  []*Task // senders that wait for the window
	due      Time    // of the delivery that is scheduled, 0 for none
	paused   bool
	ended    bool // nothing follows the queue but the end
	stuck    bool // behind a cut, with a timer
	arrived  uint64
	intake   intake
}

// sent is what one Send handed over.
type sent struct {
	at     Time
	pieces []piece
	bytes  int64
}

// piece is bytes, or a range of a file that is read when it arrives, as sendfile has it.
type piece struct {
	bytes    []byte
	file     *file
	off, len int64
	want     digest.Sum // of the range, at hand-out
}

// handOver copies bytes and remembers ranges.
func handOver(parts []env.Part) (s sent) {
	for _, part := range parts {
		pc := piece{bytes: append([]byte(nil), part.Bytes...), len: int64(len(part.Bytes))}
		if part.File != nil {
			pc = handOut(part)
		}
		s.pieces = append(s.pieces, pc)
		s.bytes += pc.len
	}
	return s
}

// send has what was handed over arrive after a while.
func (p *pipe) send(parts []env.Part, s sent) (int64, env.Errno) {
	c, n := p.conn, p.conn.network
	delay, ok := p.judge(parts)
	if !ok {
		return 0, env.EReset
	}
	if other := 1 - p.side; c.ends[p.side].silent || c.ends[other].silent {
		if c.ends[other].silent && c.dead[other] {
			c.answerFromTheGrave(other)
		}
		return s.bytes, env.OK // into the void
	}
	if c.dead[1-p.side] {
		return s.bytes, env.OK // nobody takes it any more, and the end is on its way here
	}
	l := n.link(c.ends[p.side].place, p.receiver.place)
	s.at = max(p.last, n.scheduler.later(l.transit(s.bytes)+delay))
	p.last = s.at
	p.unread += s.bytes
	p.queue = append(p.queue, s)
	p.schedule()
	return s.bytes, env.OK
}

// handOut remembers a range and what it holds now.
func handOut(part env.Part) piece {
	f := part.File.(*file)
	pc := piece{file: f, off: part.Off, len: part.Len}
	pc.want = pc.sum(pc.read())
	return pc
}

// read resolves a range: the file's bytes as they are now. What lies behind the end reads zeros.
func (pc *piece) read() []byte {
	p := make([]byte, pc.len)
	pc.file.node.read(p, pc.off)
	return p
}

func (pc *piece) sum(p []byte) digest.Sum {
	var h digest.Hash
	h.Bytes(p)
	return h.Sum()
}

// judge asks the plan about each frame that begins in the parts. It returns the delay that holds
// the send back, and false if the connection is gone.
func (p *pipe) judge(parts []env.Part) (delay Time, ok bool) {
	c, n := p.conn, p.conn.network
	ok = true
	p.scanner.scan(parts, func(size int64, head []byte) {
		info := c.describe(p.side == 0, size, head)
		key := frameKey{info.From, info.To, info.Request, info.Key}
		n.ordinals[key]++
		info.Ordinal = n.ordinals[key]
		n.counts.Frames++
		fault := n.Plan.Decide(info)
		if fault.Kind == NetFine || !ok {
			return
		}
		p.record(fault, info)
		switch fault.Kind {
		case NetHold:
			delay += fault.Delay
		case NetReset:
			ok = false
			c.reset()
		case NetVanish:
			c.vanish(p.side)
		}
	})
	return delay, ok
}

func (p *pipe) record(fault NetFault, info FrameInfo) {
	n := p.conn.network
	op := "response to key " + itoa(int64(info.Key))
	if info.Request {
		op = "request with key " + itoa(int64(info.Key))
	}
	f := Fault{
		At: n.scheduler.Now(), Place: info.From, What: fault.Kind.String(), Op: op,
		Ordinal: info.Ordinal, Target: info.From.String() + "->" + info.To.String(),
	}
	if fault.Kind == NetHold {
		f.Detail = fault.Delay.String()
	}
	n.faults.Add(f)
}

// schedule sees to it that the head of the queue is delivered when it is due.
func (p *pipe) schedule() {
	c, n := p.conn, p.conn.network
	if !c.established || len(p.queue) == 0 && !p.ended && !p.intake.pending() {
		return
	}
	at := max(n.scheduler.Now(), n.link(c.ends[p.side].place, p.receiver.place).stalled)
	switch {
	case p.intake.pending():
	case len(p.queue) > 0:
		at = max(at, p.queue[0].at)
	default:
		at = max(at, p.last)
	}
	if p.due != 0 && p.due <= at {
		return
	}
	p.due = at
	n.scheduler.At(at, p.receiver.owner, KindFrame, func() {
		if p.due == at {
			p.due = 0
			p.deliver()
		}
	})
}

// deliver passes on what is due, as far as the receiver takes it.
func (p *pipe) deliver() {
	c, n := p.conn, p.conn.network
	l := n.link(c.ends[p.side].place, p.receiver.place)
	now := n.scheduler.Now()
	for !l.cut && now >= l.stalled && !p.paused && !c.dead[1-p.side] {
		if p.intake.pending() {
			if !p.take() {
				return
			}
			continue
		}
		if len(p.queue) == 0 || p.queue[0].at > now {
			break
		}
		s := p.queue[0]
		p.queue = slices.Delete(p.queue, 0, 1)
		p.arrive(s)
	}
	switch {
	case p.paused || c.dead[1-p.side]:
	case l.cut:
		p.giveUpUnlessHealed()
	case len(p.queue) == 0 && p.ended && now >= p.last:
		c.fail(1-p.side, env.EReset)
		c.forget()
	default:
		p.schedule()
	}
}

// giveUpUnlessHealed has TCP give up on what can not pass, after a while. The other side learns
// nothing: it keeps a connection that leads nowhere until it gives up, too.
func (p *pipe) giveUpUnlessHealed() {
	c, n := p.conn, p.conn.network
	if p.stuck || len(p.queue) == 0 {
		return
	}
	p.stuck = true
	before := p.arrived
	wait := n.stream.Delay(silenceTimeout/2, silenceTimeout)
	n.scheduler.After(wait, 0, KindClosed, func() {
		p.stuck = false
		if p.arrived != before || c.dead[p.side] {
			return
		}
		c.ends[p.side].silent = true
		c.fail(p.side, env.ETimedOut)
		p.cutAt(0)
		c.giveUpLater(1 - p.side)
	})
}

// arrive resolves the ranges of a send, now, and queues its bytes for the receiver.
func (p *pipe) arrive(s sent) {
	c, n := p.conn, p.conn.network
	for i := range s.pieces {
		pc := &s.pieces[i]
		if pc.file != nil {
			p.resolve(pc)
		}
		n.scheduler.trace.Record(Record{
			Place: p.receiver.place, Kind: KindFrame, What: "bytes",
			A: int64(c.id), B: pc.len, Payload: pc.bytes,
		})
		p.intake.add(pc.bytes)
	}
	p.arrived++
	n.counts.Bytes += uint64(s.bytes)
	p.unread -= s.bytes
	p.release()
}

// resolve reads a range, and compares it with what was handed out.
func (p *pipe) resolve(pc *piece) {
	c, n := p.conn, p.conn.network
	n.counts.RangeBytes += uint64(pc.len)
	pc.bytes = pc.read()
	if pc.sum(pc.bytes) != pc.want {
		n.OnViolation(RangeViolation{
			n.scheduler.Now(), c.ends[p.side].place, p.receiver.place, pathOf(pc.file.path), pc.off, pc.len,
		})
	}
	pc.file = nil
}

// keepPages resolves what is queued of a file: the kernel keeps the pages that it has to send, also
// when it evicts them from its cache, and later reads see others.
func (p *pipe) keepPages(n *inode) {
	for i := range p.queue {
		for j := range p.queue[i].pieces {
			if pc := &p.queue[i].pieces[j]; pc.file != nil && pc.file.node == n {
				p.resolve(pc)
			}
		}
	}
}

// readRanges resolves the ranges of all that is queued.
func (p *pipe) readRanges() {
	for i := range p.queue {
		for j := range p.queue[i].pieces {
			if pc := &p.queue[i].pieces[j]; pc.file != nil {
				pc.bytes, pc.file = pc.read(), nil
			}
		}
	}
}

// take lets the receiver have what has arrived. It says false when the receiver stopped.
func (p *pipe) take() bool {
	switch p.intake.feed(p.receiver.reader) {
	case env.Pause:
		p.paused = true
		return false
	case env.Hangup:
		p.receiver.Close()
		return false
	}
	return true
}

// release lets blocked senders go on.
func (p *pipe) release() {
	for _, t := range p.blocked {
		p.conn.network.scheduler.Unpark(t, 0)
	}
	p.blocked = nil
}

// finish ends the direction behind what is queued.
func (p *pipe) finish() {
	p.ended = true
	p.last = max(p.last, p.conn.network.scheduler.later(
		p.conn.network.link(p.conn.ends[p.side].place, p.receiver.place).
			transit(0)))
	p.schedule()
}

// cutAt loses all but the first sends of the queue.
func (p *pipe) cutAt(sends int) {
	for _, s := range p.queue[sends:] {
		p.unread -= s.bytes
	}
	clear(p.queue[sends:])
	p.queue = p.queue[:sends]
}

// drop forgets what was on its way to an end that is over. Nothing fills the window any more, so
// whoever waited for it goes on, into the void, and learns of the end from its reader.
func (p *pipe) drop() {
	p.cutAt(0)
	p.unread = 0
	p.intake.release()
	p.release()
}
