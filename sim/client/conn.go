package client

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/wire"
	"stet/sim"
)

// Conn is one connection of a client. Calls are answered in the order in which they were sent.
// One task sends on it.
type Conn struct {
	host    *Host
	server  Server
	writer  env.ConnWriter
	pending []*Call
	next    int32 // correlation id
	closed  bool
	changed *signal // an answer has come, or the end
}

// Call is a request under way.
type Call struct {
	Key, Version int16
	Deadline     sim.Time // when the client gives up the connection

	Response kmsg.Response // nil unless it was answered
	Ending   Ending        // once Done
	Done     bool

	correlation int32
	sent        bool // the whole frame was handed over
}

// Dial opens a connection. That it failed shows when the first call ends.
func (h *Host) Dial() *Conn { return h.dialTo(Server{h.Server, h.Addr}) }

// dialTo opens a connection to a server.
func (h *Host) dialTo(s Server) *Conn { return h.dialFor(s, &signal{}) }

// dialFor opens one whose answers raise a signal that several connections may share.
func (h *Host) dialFor(s Server, changed *signal) *Conn {
	c := &Conn{host: h, server: s, changed: changed}
	c.writer = h.Network.Dial(h.Owner, s.Place, s.Addr, (*receiver)(c))
	return c
}

// Closed says whether the connection is over.
func (c *Conn) Closed() bool { return c.closed }

// Close gives the connection up. What was sent may still arrive.
func (c *Conn) Close() {
	if !c.closed {
		c.writer.Close()
		c.end()
	}
}

// Start sends a request and returns its call, which may have ended already. The running task may
// be suspended meanwhile. Without answer, the call ends when the frame has been handed over.
func (c *Conn) Start(r kmsg.Request, answer bool) *Call {
	c.next++
	call := &Call{
		Key: r.Key(), Version: r.GetVersion(), correlation: c.next,
		Deadline: c.host.Scheduler.Now() + c.host.timeout(),
	}
	if c.closed {
		call.Done, call.Ending = true, NotSent
		return call
	}
	frame := wire.AppendRequest(make([]byte, 4), call.correlation, c.host.Name, r)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	if answer {
		c.pending = append(c.pending, call)
	}
	_, err := c.writer.Send([]env.Part{{Bytes: frame}})
	switch {
	case err != env.OK:
		call.Done, call.Ending = true, NotSent
		c.Close()
	case !answer || c.closed: // closed while the frame was on its way out
		call.Done, call.Ending = true, Lost
	default:
		call.sent = true
	}
	return call
}

// Call sends a request and waits for the answer. It returns nil when there is none.
func (c *Conn) Call(r kmsg.Request) kmsg.Response {
	call := c.Start(r, true)
	c.Wait(call)
	return call.Response
}

// Wait suspends the running task until the call is over. When its time is up, it gives up the
// connection, as clients do.
func (c *Conn) Wait(call *Call) {
	if !c.host.wait(c.changed, call.Deadline, func() bool { return call.Done }) {
		c.Close()
	}
}

// end ends every call that was sent. One that is being sent is ended by its sender, who knows
// whether anything left.
func (c *Conn) end() {
	if c.closed {
		return
	}
	c.closed = true
	for _, call := range c.pending {
		if call.sent && !call.Done {
			call.Done, call.Ending = true, Lost
		}
	}
	c.pending = nil
	c.changed.raise(c.host.Scheduler)
}

// receiver is a Conn as the network sees it: env.ConnReader.
type receiver Conn

// Reserve implements env.ConnReader.
func (r *receiver) Reserve(size int32) (env.Buffer, env.Verdict) {
	if size < 4 || size > maxResponseBytes {
		r.host.Observer.Trouble("response of an absurd size")
		return nil, env.Hangup
	}
	return frame(make([]byte, size)), env.Continue
}

// maxResponseBytes is more than any answer to what a client asks.
const maxResponseBytes = 64 << 20

// Deliver implements env.ConnReader.
func (r *receiver) Deliver(b env.Buffer) env.Verdict {
	c := (*Conn)(r)
	if c.closed {
		return env.Hangup
	}
	correlation, ok := wire.ResponseCorrelation(b.Bytes())
	if !ok || len(c.pending) == 0 || c.pending[0].correlation != correlation {
		c.host.Observer.Trouble("response out of order")
		c.Close()
		return env.Hangup
	}
	call := c.pending[0]
	c.pending = c.pending[1:]
	response, err := wire.DecodeResponse(call.Key, call.Version, b.Bytes())
	if err != nil {
		c.host.Observer.Trouble("response that does not decode: " + err.Error())
		call.Done, call.Ending = true, Lost
		c.Close()
		return env.Hangup
	}
	call.Response, call.Done, call.Ending = response, true, Answered
	c.changed.raise(c.host.Scheduler)
	return env.Continue
}

// Closed implements env.ConnReader.
func (r *receiver) Closed(env.Errno) { (*Conn)(r).end() }

// frame implements env.Buffer over memory that the collector takes back.
type frame []byte

func (f frame) Bytes() []byte { return f }
func (frame) Retain()         {}
func (frame) Release()        {}
