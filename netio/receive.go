package netio

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

// peekBytes is the size of the buffer in which lengths, and small frames with them, arrive.
const peekBytes = 4 << 10

// peekBuffers are lent to connections while bytes are at hand.
var peekBuffers = sync.Pool{New: func() any { return new([peekBytes]byte) }}

// receiver is the reading half of a connection.
type receiver struct {
	conn     *conn
	readable func(fd uintptr) bool // the method, bound once
	hasInq   bool                  // the kernel tells how much is left to read

	// peek[start:end] has arrived and is not passed on; peek is nil while that is empty and the
	// connection waits.
	peek       *[peekBytes]byte
	start, end int

	frame  env.Buffer // the frame that is being filled, or nil
	filled int

	drained  bool        // the last read took everything there was
	verdict  env.Verdict // why readable left: Pause or Hangup
	err      error       // why readable left with Hangup
	deadline time.Time   // the read deadline that is set, or zero

	msg     unix.Msghdr
	iov     [2]unix.Iovec
	control inqControl
}

var errMalformed = errors.New("the length in front of a frame is negative")

func (r *receiver) init(c *conn) {
	r.conn = c
	r.readable = r.step
	_ = c.raw.Control(func(fd uintptr) {
		r.hasInq = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1) == nil
	})
	r.msg.Iov = &r.iov[0]
}

// run passes on frames until the connection ends.
func (r *receiver) run() (env.Errno, error) {
	for {
		// Leaving this call loses a wake-up that has not been waited for, so step stays inside
		// while it can, and each entry reads before it waits.
		r.drained, r.verdict = false, env.Continue
		err := r.conn.raw.Read(r.readable)
		switch {
		case err != nil && errors.Is(err, os.ErrDeadlineExceeded) && !r.midFrame():
			r.setDeadline(time.Time{})
		case err != nil:
			return toErrno(err), err
		case r.verdict == env.Pause:
			r.pause()
		case r.err == errMalformed:
			return env.EMalformed, r.err
		case r.err == io.EOF:
			return env.EReset, r.err
		case r.err != nil:
			return toErrno(r.err), r.err
		default:
			return env.OK, errRefused
		}
		if r.conn.closed.Load() {
			return env.OK, nil
		}
	}
}

// pause waits for Resume or Close. The peer is not to blame for the time that passes.
func (r *receiver) pause() {
	if !r.conn.closed.Load() {
		<-r.conn.resumed
	}
	if !r.deadline.IsZero() {
		r.setDeadline(time.Time{})
	}
}

// errRefused says that the reader asked for the end; it knows why.
var errRefused = errors.New("refused by the node")

// step reads and passes on while bytes are there. It returns false to wait for more, and true to
// leave, with the reason in verdict and err.
func (r *receiver) step(fd uintptr) bool {
	for {
		if r.verdict = r.passOn(); r.verdict != env.Continue {
			return true
		}
		if r.drained {
			r.drained = false
			r.wait(false)
			return false
		}
		switch n, err := r.receive(int(fd)); {
		case err == unix.EAGAIN:
			r.wait(true)
			return false
		case err == unix.EINTR:
		case err != nil:
			r.verdict, r.err = env.Hangup, err
			return true
		case n == 0:
			r.verdict, r.err = env.Hangup, io.EOF
			return true
		}
	}
}

// passOn delivers every frame that is complete, and reserves the buffer of the next.
func (r *receiver) passOn() env.Verdict {
	for {
		if r.frame == nil {
			if r.end-r.start < 4 {
				return env.Continue
			}
			if verdict := r.reserve(); verdict != env.Continue {
				return verdict
			}
		}
		bytes := r.frame.Bytes()
		n := copy(bytes[r.filled:], r.buffered())
		r.filled += n
		r.start += n
		if r.filled < len(bytes) {
			return env.Continue
		}
		frame := r.frame
		r.frame = nil
		r.forgetResume()
		if verdict := r.conn.reader.Deliver(frame); verdict != env.Continue {
			return verdict
		}
	}
}

// buffered is what has arrived and is not passed on.
func (r *receiver) buffered() []byte {
	if r.start == r.end {
		return nil
	}
	return r.peek[r.start:r.end]
}

// reserve asks for the buffer of the frame whose length is next. The length stays where it is
// unless the buffer is given, so that it can be asked for again.
func (r *receiver) reserve() env.Verdict {
	size := int32(binary.BigEndian.Uint32(r.buffered()))
	if size < 0 {
		r.err = errMalformed
		return env.Hangup
	}
	r.forgetResume()
	frame, verdict := r.conn.reader.Reserve(size)
	if frame == nil {
		if verdict == env.Pause {
			return env.Pause
		}
		return env.Hangup
	}
	r.frame, r.filled = frame, 0
	r.start += 4
	return env.Continue
}

// forgetResume drops a Resume that belongs to the past.
func (r *receiver) forgetResume() {
	select {
	case <-r.conn.resumed:
	default:
	}
}

// midFrame says whether the peer owes the rest of a frame.
func (r *receiver) midFrame() bool { return r.frame != nil || r.start < r.end }

// wait prepares for waiting: an idle connection holds no buffer, and a frame that has begun must
// go on. The deadline moves at most once in half its time, so that it costs little; a peer that
// stalls is given between half of it and all of it.
//
// Sure says that a read found nothing. TCP_INQ alone does not tell of a reset that came together
// with the last bytes, for which nothing would wake this side again: the deadline has it look.
func (r *receiver) wait(sure bool) {
	if r.start == r.end && r.peek != nil {
		peekBuffers.Put(r.peek)
		r.peek, r.start, r.end = nil, 0, 0
	}
	if stall := r.conn.config.Stall; (r.midFrame() || !sure) && stall > 0 {
		if now := time.Now(); r.deadline.Sub(now) < stall/2 {
			r.setDeadline(now.Add(stall))
		}
	}
}

func (r *receiver) setDeadline(t time.Time) {
	r.deadline = t
	r.conn.tcp.SetReadDeadline(t)
}

// receive reads once: into the frame, and what comes behind it into the peek buffer.
func (r *receiver) receive(fd int) (int, error) {
	iov := r.iov[:0]
	rest := 0
	if r.frame != nil {
		bytes := r.frame.Bytes()[r.filled:]
		rest = len(bytes)
		iov = append(iov, iovec(bytes))
	}
	iov = append(iov, iovec(r.freePeek()))
	r.msg.SetIovlen(len(iov))
	if r.hasInq {
		r.control.attach(&r.msg)
	}
	n, err := recvmsg(fd, &r.msg)
	r.conn.config.Counters.Reads.Add(1)
	clear(r.iov[:])
	if err != nil {
		return 0, err
	}
	r.drained = r.hasInq && r.control.left(&r.msg) == 0
	r.filled += min(n, rest)
	r.end += max(n-rest, 0)
	r.conn.config.Counters.ReceivedBytes.Add(int64(n))
	return n, nil
}

// freePeek is the free part of the peek buffer; it is never empty.
func (r *receiver) freePeek() []byte {
	if r.peek == nil {
		r.peek, r.start, r.end = peekBuffers.Get().(*[peekBytes]byte), 0, 0
	}
	if r.start > 0 { // at most part of a length is left
		r.end = copy(r.peek[:], r.peek[r.start:r.end])
		r.start = 0
	}
	return r.peek[r.end:]
}

// giveUp returns what the connection holds.
func (r *receiver) giveUp() {
	if r.frame != nil {
		r.frame.Release()
		r.frame = nil
	}
	if r.peek != nil {
		peekBuffers.Put(r.peek)
		r.peek = nil
	}
}

// iovec describes b, which is not empty.
func iovec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: unsafe.SliceData(b)}
	v.SetLen(len(b))
	return v
}
