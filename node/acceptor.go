package node

import (
	"stet/core/env"
	"stet/core/wire"
)

// anonymous is the principal of a connection without authentication.
const anonymous = "User:ANONYMOUS"

// acceptor admits the connections of one listener to a loop.
type acceptor struct {
	loop     *Loop
	memory   *Memory
	listener string
	maxFrame int32
}

// NewAcceptor returns the acceptor of a listener: its connections belong to loop, which also says
// what requests it takes; their frames are bounded by maxFrame bytes each and by memory together.
func NewAcceptor(loop *Loop, memory *Memory, listener string, maxFrame int32) env.Acceptor {
	return &acceptor{loop, memory, listener, maxFrame}
}

// Accept implements env.Acceptor.
func (a *acceptor) Accept(writer env.ConnWriter, info env.ConnInfo) env.ConnReader {
	info.Listener, info.Principal = a.listener, anonymous
	c := &Conn{
		loop: a.loop, id: env.ConnID(a.loop.lastConn.Add(1)), info: &info, writer: writer, claim: claim{writer: writer},
		memory: a.memory, maxFrame: a.maxFrame, decoder: newDecoder(spokenBy(a.loop.ID)),
	}
	w := a.loop.host.Worker(nil)
	defer w.Finish()
	a.loop.accept(w, c)
	return c
}

// spokenBy returns which requests a loop takes.
func spokenBy(l LoopID) wire.Listener {
	if l == ControllerLoop {
		return wire.ControllerListener
	}
	return wire.BrokerListener
}

// newDecoder returns a decoder with Kafka's limits.
func newDecoder(l wire.Listener) *wire.Decoder { return wire.NewDecoder(l, wire.DefaultLimits()) }
