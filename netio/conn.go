package netio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

// conn is one connection. Its reading half runs in one goroutine; its sending half in whatever
// goroutine calls Send.
type conn struct {
	config *Config
	tcp    *net.TCPConn
	raw    syscall.RawConn
	remote string
	reader env.ConnReader

	closed  atomic.Bool
	resumed chan struct{} // holds a token after Resume or Close

	in  receiver
	out sender
}

func newConn(config *Config, tcp *net.TCPConn) (*conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{
		config:  config,
		tcp:     tcp,
		raw:     raw,
		remote:  tcp.RemoteAddr().String(),
		resumed: make(chan struct{}, 1),
	}
	c.in.init(c)
	c.out.init(c)
	config.Counters.Opened.Add(1)
	return c, nil
}

// Resume lets the reading half continue after Pause. A call that comes before the Pause it is
// meant for, but after the frame or size that causes the Pause was passed on, is not lost.
func (c *conn) Resume() {
	select {
	case c.resumed <- struct{}{}:
	default:
	}
}

// Close ends the connection at once; a Send that is under way fails. It shuts the socket down and
// leaves closing the descriptor to end: the reading half may be the caller, inside a read that
// net.Conn.Close would wait for.
func (c *conn) Close() {
	if !c.closed.Swap(true) {
		_ = c.raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RDWR) })
		c.Resume()
	}
}

// run reads until the connection ends, and reports the end.
func (c *conn) run() {
	errno, err := c.in.run()
	if c.closed.Load() {
		errno = env.OK // it was our own doing
	} else if err != errRefused && !(err == io.EOF && !c.in.midFrame()) {
		c.config.Log(c.remote, errno.String(), err)
	}
	c.in.giveUp()
	c.end(errno)
}

// end closes the connection and reports its end to the reader, if it has one.
func (c *conn) end(errno env.Errno) {
	c.Close()
	c.tcp.Close()
	c.config.Counters.Closed.Add(1)
	if c.reader != nil {
		c.reader.Closed(errno)
	}
}

// toErrno turns the error of a socket into the closed set of the core.
func toErrno(err error) env.Errno {
	switch {
	case err == nil:
		return env.OK
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, unix.ETIMEDOUT),
		errors.Is(err, context.DeadlineExceeded):
		return env.ETimedOut
	case errors.Is(err, unix.ECONNREFUSED):
		return env.ERefused
	case errors.Is(err, net.ErrClosed), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return env.EReset
	}
	return env.EOther
}
