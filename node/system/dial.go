package system

import (
	"context"
	"sync"
	"time"

	"stet/core/env"
	"stet/netio"
)

// dialTimeout bounds the attempt to reach a peer.
const dialTimeout = 10 * time.Second

// dialer opens links, each in a goroutine of its own, and ends them all when the node is done.
type dialer struct {
	config netio.Config
	over   context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	open map[env.ConnWriter]struct{}
}

func newDialer() *dialer {
	d := &dialer{config: netio.Default(), open: map[env.ConnWriter]struct{}{}}
	d.over, d.cancel = context.WithCancel(context.Background())
	return d
}

// dial reaches for addr and tells to what becomes of it; nothing any more once the node is done.
func (d *dialer) dial(addr string, to env.Dialed) {
	ctx, cancel := context.WithTimeout(d.over, dialTimeout)
	defer cancel()
	err := d.config.Dial(ctx, addr, &dialing{d, to})
	if err != nil && d.over.Err() == nil {
		to.Closed(netio.Errno(err))
	}
}

// close ends all links.
func (d *dialer) close() {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := range d.open {
		w.Close()
	}
}

// enter counts a link in, unless the node is done.
func (d *dialer) enter(w env.ConnWriter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over.Err() != nil {
		return false
	}
	d.open[w] = struct{}{}
	return true
}

func (d *dialer) leave(w env.ConnWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, w)
}

// dialing is the acceptor of one dialled connection.
type dialing struct {
	dialer *dialer
	to     env.Dialed
}

// Accept implements env.Acceptor.
func (a *dialing) Accept(w env.ConnWriter, info env.ConnInfo) env.ConnReader {
	if !a.dialer.enter(w) {
		return nil
	}
	a.to.Opened(w, info)
	return &counted{a.to, a.dialer, w}
}

// counted takes a link out of the count when it ends.
type counted struct {
	env.ConnReader
	dialer *dialer
	writer env.ConnWriter
}

// Closed implements env.ConnReader.
func (c *counted) Closed(err env.Errno) {
	c.dialer.leave(c.writer)
	c.ConnReader.Closed(err)
}
