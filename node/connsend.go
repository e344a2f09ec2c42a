package node

import (
	"slices"

	"stet/core/env"
	"stet/core/invariant"
)

// fill stores the answer of a slot, and has the filled prefix sent. The runner of the loop calls
// it.
func (c *Conn) fill(w Worker, op *env.ConnOp, head []byte, ranges []env.Range) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		if op.Token != 0 {
			c.loop.late = append(c.loop.late, sentEvent(c.id, op.Token, 0, env.EReset))
		}
		return
	}
	i := int(op.Slot - c.first)
	invariant.Always(i >= 0 && i < len(c.slots), "an answer for a slot that is not in flight")
	s := &c.slots[i]
	invariant.Always(!s.filled, "a slot was answered twice")
	s.filled, s.token = true, op.Token
	if n := len(c.spare); n > 0 {
		s.answer, c.spare = c.spare[n-1], c.spare[:n-1]
	}
	s.head = append(s.head, head...)
	s.lease(c.loop.files, ranges)
	c.flush(w)
	c.mu.Unlock()
}

// flush makes the connection ready if it has something to send and nobody sends. c.mu is held.
func (c *Conn) flush(w Worker) {
	if !c.flushing && c.sendable() {
		c.flushing = true
		w.Ready(c)
	}
}

// sendable says whether an answer may leave. c.mu is held, and nobody sends.
func (c *Conn) sendable() bool {
	for i := range c.slots {
		if s := &c.slots[i]; s.filled && !s.left {
			return true
		} else if !c.peerNode {
			return false
		}
	}
	return false
}

// Kind implements Work.
func (c *Conn) Kind() WorkKind { return WorkSend }

// Run implements Work: it sends the filled prefix of the slots, or whatever is filled.
func (c *Conn) Run(w Worker) {
	c.mu.Lock()
	c.sending = c.sending[:0]
	for i := range c.slots {
		s := &c.slots[i]
		if !s.filled && !c.peerNode {
			break
		}
		if s.filled && !s.left {
			c.sending = append(c.sending, *s)
			s.left, s.answer, s.token = true, answer{}, 0
		}
	}
	c.mu.Unlock()

	err := c.send()
	c.finish(w, err)
}

// send passes on everything in c.sending, in one call.
func (c *Conn) send() env.Errno {
	c.parts, c.prefix, c.copied = c.parts[:0], c.prefix[:0], c.copied[:0]
	c.reserveCopies()
	for i := range c.sending {
		if err := c.addParts(&c.sending[i]); err != env.OK {
			return err
		}
	}
	_, err := c.writer.Send(c.parts)
	clear(c.parts)
	if cap(c.copied) > keptCopyBytes {
		c.copied = nil
	}
	return err
}

// reserveCopies makes room for everything that is copied, so that it does not move while parts of the
// response point to it.
func (c *Conn) reserveCopies() {
	var n int64
	for i := range c.sending {
		for j := range c.sending[i].ranges {
			if r := &c.sending[i].ranges[j]; r.Copy {
				n += r.Len
			}
		}
	}
	c.copied = slices.Grow(c.copied, int(n))
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
		if err := r.file.openToSend(); err != env.OK {
			return err
		}
		part := env.Part{File: r.file.file, Off: r.Off, Len: r.Len}
		if r.Copy {
			var err env.Errno
			if part, err = c.copyOf(r); err != env.OK {
				return err
			}
		}
		c.parts = append(c.parts, part)
	}
	c.parts = append(c.parts, env.Part{Bytes: s.head[from:]})
	return env.OK
}

// copyOf reads a range into memory that stays until it is sent.
func (c *Conn) copyOf(r *leasedRange) (env.Part, env.Errno) {
	from := len(c.copied)
	c.copied = c.copied[:from+int(r.Len)]
	n, err := r.file.file.ReadAt(c.copied[from:], r.Off)
	if err == env.OK && int64(n) < r.Len {
		err = env.EShort
	}
	return env.Part{Bytes: c.copied[from:]}, err
}

// finish takes the sent slots out, reports their leases, and lets waiting requests go on. The
// connection counts as sending until the events are submitted, so that its scratch stays its own.
func (c *Conn) finish(w Worker, err env.Errno) {
	c.events = c.events[:0]
	for i := range c.sending {
		s := &c.sending[i]
		s.release()
		if s.token != 0 {
			c.events = append(c.events, sentEvent(c.id, s.token, s.rangeBytes(), err))
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
	dead := err != env.OK || c.closing && !c.sendable()
	if !dead && !ended {
		c.flush(w)
	}
	c.mu.Unlock()
	if ended {
		c.end(w)
		return
	}
	if dead {
		c.hangup(err)
	}
	c.resume()
}

// retire takes the sent slots out. c.mu is held.
func (c *Conn) retire() {
	c.inFlight -= len(c.sending)
	for i := range c.sending {
		s := &c.sending[i]
		c.bytes -= s.bytes
		c.exclusive = c.exclusive && !s.exclusive
		if len(c.spare) < keptAnswers && s.reusable() {
			c.spare = append(c.spare, s.answer)
		}
	}
	clear(c.sending)
	n := 0
	for n < len(c.slots) && c.slots[n].left {
		n++
	}
	rest := copy(c.slots, c.slots[n:])
	clear(c.slots[rest:])
	c.slots = c.slots[:rest]
	c.first += env.Slot(n)
}
