package netio

import (
	"errors"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

const (
	// sendfileMinBytes is where sendfile begins to cost less than a copy.
	sendfileMinBytes = 32 << 10
	// sendfileMaxBytes bounds one call, so that it does not hold a processor for milliseconds.
	sendfileMaxBytes = 512 << 10
	// copyBytes is the size of the buffer through which ranges are copied.
	copyBytes = 64 << 10
	// maxIovecs is UIO_MAXIOV; a connection keeps keepIovecs between calls.
	maxIovecs, keepIovecs = 1024, 32
)

// Descriptor is what an env.File has when the kernel can send from it.
type Descriptor interface {
	// Fd lends a descriptor that stays valid until ReleaseFd; false when the file is closed.
	Fd() (fd int, ok bool)
	ReleaseFd()
}

var copyBuffers = sync.Pool{New: func() any { return new([copyBytes]byte) }}

// sender is the sending half of a connection.
type sender struct {
	conn     *conn
	writeIov func(fd uintptr) bool // the methods, bound once
	sendFile func(fd uintptr) bool

	mu      sync.Mutex // held by Send
	pending []unix.Iovec
	copied  *[copyBytes]byte // holds bytes that pending refers to
	used    int              // of copied
	more    bool             // bytes follow what is being written
	file    int              // the descriptor that is being sent
	off     int64
	left    int64
	sent    int64
	err     error
	armed   bool // a write deadline is set

	msg unix.Msghdr
}

var (
	errFileEnds   = errors.New("a file ends inside a range that was promised")
	errFileClosed = errors.New("the file of a range is closed")
)

func (s *sender) init(c *conn) {
	s.conn = c
	s.writeIov = s.writeStep
	s.sendFile = s.sendfileStep
}

// Send writes all parts in order. It blocks while the peer does not take them, and gives up when
// it takes nothing for Config.Stall. After a failure the stream is broken inside a frame, and the
// connection is closed.
func (c *conn) Send(parts []env.Part) (int64, env.Errno) {
	s := &c.out
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = 0
	errno, err := s.all(parts)
	s.reset()
	if errno != env.OK {
		if !c.closed.Load() {
			c.config.Log(c.remote, "send: "+errno.String(), err)
		}
		c.Close()
	}
	return s.sent, errno
}

func (s *sender) all(parts []env.Part) (env.Errno, error) {
	for i := range parts {
		part := &parts[i]
		var errno env.Errno
		var err error
		if part.File == nil {
			errno, err = s.add(part.Bytes)
			s.conn.config.Counters.HeadBytes.Add(int64(len(part.Bytes)))
		} else {
			errno, err = s.sendRange(part)
		}
		if errno != env.OK {
			return errno, err
		}
	}
	return s.flush(false)
}

// add queues b. It makes room before, not after, so that something is always left for the flush
// that ends the hold of MSG_MORE.
func (s *sender) add(b []byte) (env.Errno, error) {
	if len(b) == 0 {
		return env.OK, nil
	}
	if len(s.pending) == maxIovecs {
		if errno, err := s.flush(true); errno != env.OK {
			return errno, err
		}
	}
	s.pending = append(s.pending, iovec(b))
	return env.OK, nil
}

// sendRange sends a range by sendfile where that pays, and copies it otherwise.
func (s *sender) sendRange(part *env.Part) (env.Errno, error) {
	if d, ok := part.File.(Descriptor); ok && part.Len >= sendfileMinBytes {
		fd, ok := d.Fd()
		if !ok {
			return env.EOther, errFileClosed
		}
		defer d.ReleaseFd()
		return s.sendfile(fd, part.Off, part.Len)
	}
	return s.copyRange(part.File, part.Off, part.Len)
}

// copyRange reads a range into the copy buffer, which it flushes as often as it is full.
func (s *sender) copyRange(file env.File, off, left int64) (env.Errno, error) {
	for left > 0 {
		if s.copied == nil {
			s.copied = copyBuffers.Get().(*[copyBytes]byte)
		}
		// Not later, in add: a flush gives the buffer free, and what is read next is in it.
		if s.used == len(s.copied) || len(s.pending) == maxIovecs {
			if errno, err := s.flush(true); errno != env.OK {
				return errno, err
			}
		}
		b := s.copied[s.used:min(int64(len(s.copied)), int64(s.used)+left)]
		n, errno := file.ReadAt(b, off)
		if errno != env.OK {
			return errno, errno
		}
		if n < len(b) {
			return env.EIO, errFileEnds
		}
		s.used += n
		off += int64(n)
		left -= int64(n)
		s.conn.config.Counters.RangeCopyBytes.Add(int64(n))
		if errno, err := s.add(b); errno != env.OK {
			return errno, err
		}
	}
	return env.OK, nil
}

// flush writes what is queued. more says that bytes follow, so that the kernel may wait for them.
func (s *sender) flush(more bool) (env.Errno, error) {
	if len(s.pending) > 0 {
		s.more = more
		queued := s.pending // writing moves the start of pending
		if errno, err := s.write(s.writeIov); errno != env.OK {
			return errno, err
		}
		s.pending = queued[:0]
	}
	s.used = 0
	return env.OK, nil
}

// write runs one of the steps until it is done.
func (s *sender) write(step func(fd uintptr) bool) (env.Errno, error) {
	s.err = nil
	err := s.conn.raw.Write(step)
	if err == nil {
		err = s.err
	}
	return toErrno(err), err
}

// writeStep writes pending. It returns false to wait until the socket takes more.
func (s *sender) writeStep(fd uintptr) bool {
	for len(s.pending) > 0 {
		flags := 0
		if s.more {
			flags = unix.MSG_MORE
		}
		s.msg.Iov = &s.pending[0]
		s.msg.SetIovlen(len(s.pending))
		n, err := sendmsg(int(fd), &s.msg, flags)
		s.conn.config.Counters.Writes.Add(1)
		switch err {
		case nil:
			s.sent += int64(n)
			s.drop(uint64(n))
		case unix.EINTR:
		case unix.EAGAIN:
			s.arm()
			return false
		default:
			s.err = err
			return true
		}
	}
	return true
}

// drop removes n written bytes from pending.
func (s *sender) drop(n uint64) {
	for n > 0 {
		first := &s.pending[0]
		size := uint64(first.Len)
		if n < size {
			*first = iovec(unsafe.Slice(first.Base, size)[n:])
			return
		}
		n -= size
		*first = unix.Iovec{}
		s.pending = s.pending[1:]
	}
}

// sendfile sends a range without copying it. The length is exact: beyond the end of a file the
// kernel would wait for more.
func (s *sender) sendfile(fd int, off, size int64) (env.Errno, error) {
	if errno, err := s.flush(true); errno != env.OK {
		return errno, err
	}
	s.file, s.off, s.left = fd, off, size
	errno, err := s.write(s.sendFile)
	s.conn.config.Counters.SendfileBytes.Add(size - s.left)
	if err == errFileEnds {
		errno = env.EIO
	}
	return errno, err
}

func (s *sender) sendfileStep(fd uintptr) bool {
	for s.left > 0 {
		n, err := unix.Sendfile(int(fd), s.file, &s.off, int(min(s.left, sendfileMaxBytes)))
		if n > 0 {
			s.sent += int64(n)
			s.left -= int64(n)
			continue
		}
		switch err {
		case nil:
			s.err = errFileEnds
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			s.arm()
			return false
		default:
			s.err = err
			return true
		}
	}
	return true
}

// arm gives the peer Config.Stall from now on.
func (s *sender) arm() {
	if stall := s.conn.config.Stall; stall > 0 {
		s.armed = true
		s.conn.tcp.SetWriteDeadline(time.Now().Add(stall))
	}
}

// reset drops every reference to what was sent.
func (s *sender) reset() {
	clear(s.pending)
	s.pending = s.pending[:0]
	if cap(s.pending) > keepIovecs {
		s.pending = nil
	}
	s.msg.Iov = nil
	if s.copied != nil {
		copyBuffers.Put(s.copied)
		s.copied, s.used = nil, 0
	}
	if s.armed {
		s.armed = false
		s.conn.tcp.SetWriteDeadline(time.Time{})
	}
}
