package netio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"stet/core/env"
)

// Listener accepts connections for one env.Acceptor.
type Listener struct {
	config *Config
	tcp    *net.TCPListener
	done   chan struct{}  // closed by Close
	turned sync.WaitGroup // of TurnAway

	mu      sync.Mutex
	closed  bool
	open    map[*conn]struct{}
	running sync.WaitGroup // of the connections
}

// Listen listens on host:port with the default settings; port 0 picks one.
func Listen(address string) (*Listener, error) { return Default().Listen(address) }

// Listen listens on host:port; port 0 picks one. Nothing is accepted before Serve.
func (c Config) Listen(address string) (*Listener, error) {
	config := c.filled()
	// Accepted sockets inherit the options of the listening one.
	lc := net.ListenConfig{Control: config.control}
	l, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return &Listener{
		config: config,
		tcp:    l.(*net.TCPListener),
		done:   make(chan struct{}),
		open:   make(map[*conn]struct{}),
	}, nil
}

// Addr is the address that is listened on.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// TurnAway resets the connections that come before LetIn, in a goroutine of its own. A peer that was
// kept waiting in the kernel's queue would take it for a slow answer, where it could ask another node.
func (l *Listener) TurnAway() {
	l.turned.Go(func() {
		for {
			tcp, err := l.tcp.AcceptTCP()
			switch {
			case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
				return
			case err != nil:
				l.pause()
			default:
				_ = tcp.SetLinger(0) // a reset, not an end
				tcp.Close()
			}
		}
	})
}

// LetIn ends TurnAway: connections that come after it has returned are there for Serve.
func (l *Listener) LetIn() {
	_ = l.tcp.SetDeadline(time.Now())
	l.turned.Wait()
	_ = l.tcp.SetDeadline(time.Time{})
}

// Serve accepts connections until Close, and gives each a goroutine. Failures to accept end
// nothing: it tries again after a moment. Of failures and refusals in a row the first is logged.
func (l *Listener) Serve(acceptor env.Acceptor) {
	logged := false
	complain := func(remote string, err error) {
		if !logged {
			l.config.Log(remote, "accept", err)
		}
		logged = true
	}
	for {
		tcp, err := l.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			l.config.Counters.AcceptFailures.Add(1)
			complain("", err)
			l.pause()
		case l.config.MaxConns > 0 && l.Conns() >= l.config.MaxConns:
			l.config.Counters.Refused.Add(1)
			complain(tcp.RemoteAddr().String(), errTooMany)
			tcp.Close()
		default:
			logged = false
			l.admit(tcp, acceptor)
		}
	}
}

var errTooMany = errors.New("as many connections are open as the limit on open files allows")

// pause waits a moment: most failures to accept are a lack of descriptors, which the peers that
// wait in the kernel's queue do not notice.
func (l *Listener) pause() {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.done:
	}
}

func (l *Listener) admit(tcp *net.TCPConn, acceptor env.Acceptor) {
	c, err := newConn(l.config, tcp)
	if err != nil {
		l.config.Log(tcp.RemoteAddr().String(), "accept", err)
		tcp.Close()
		return
	}
	c.reader = acceptor.Accept(c, env.ConnInfo{Principal: anonymous, Remote: c.remote})
	if c.reader == nil || !l.enter(c) {
		c.end(env.OK)
		return
	}
	go func() {
		defer l.leave(c)
		c.run()
	}()
}

// anonymous is the principal of a peer that has not said who it is.
const anonymous = "User:ANONYMOUS"

func (l *Listener) enter(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[c] = struct{}{}
	l.running.Add(1)
	return true
}

func (l *Listener) leave(c *conn) {
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
	l.running.Done()
}

// Conns returns how many accepted connections have not reported their end.
func (l *Listener) Conns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Close stops accepting. Connections go on.
func (l *Listener) Close() error {
	defer l.turned.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	close(l.done)
	return l.tcp.Close()
}

// CloseConns closes every connection and waits until each has reported its end. Call it after
// Close, and not from a connection's reader.
func (l *Listener) CloseConns() {
	l.mu.Lock()
	for c := range l.open {
		c.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}
