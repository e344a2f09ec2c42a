package node

import (
	"stet/core/broker"
	"stet/core/env"
	"stet/core/wire"
)

// ControllerListener is the listener name of connections to the controller loop.
const ControllerListener = "CONTROLLER"

// The two ends of the in-process link. The numbers are above any that a listener hands out.
const (
	linkBrokerEnd     env.ConnID = 1<<63 + 1
	linkControllerEnd env.ConnID = 1<<63 + 2
)

// linkEnd is one end of the link between the two loops of a node that has both roles. It carries
// the same frames as a connection between nodes would.
type linkEnd struct {
	from, to *Loop
	conn     env.ConnID // as the other loop knows it
	info     *env.ConnInfo
	shared   *linkState
}

// linkState remembers which request a slot stands for. Only the broker's runner adds, only the
// controller's runner removes.
type linkState struct {
	memory  *Memory
	decoder *wire.Decoder
	pending *pendingCalls
}

// connectLoops opens the link: the controller sees a connection, the broker a link.
func connectLoops(w Worker, b, c *Loop, memory *Memory) {
	info := &env.ConnInfo{Listener: ControllerListener, Principal: anonymous, Remote: "in process"}
	shared := &linkState{
		memory: memory, decoder: newDecoder(wire.ControllerListener), pending: newPendingCalls(),
	}
	b.links[linkBrokerEnd] = &linkEnd{from: b, to: c, conn: linkControllerEnd, info: info, shared: shared}
	c.links[linkControllerEnd] = &linkEnd{from: c, to: b, conn: linkBrokerEnd, info: info, shared: shared}
	c.Submit(w, env.Event{Kind: env.EventConnOpened, Conn: linkControllerEnd, Info: info})
	b.Submit(w, env.Event{
		Kind: env.EventConnOpened, Conn: linkBrokerEnd,
		Info: &env.ConnInfo{Listener: broker.LinkListener, Principal: anonymous, Remote: "in process"},
	})
}

// perform carries an effect of one loop over to the other as an event.
func (e *linkEnd) perform(w Worker, op *env.ConnOp, head []byte) {
	switch op.Op {
	case env.ConnSend:
		e.request(w, op.Slot, head)
	case env.ConnRespond:
		e.response(w, op.Slot, head)
	}
}

func (e *linkEnd) request(w Worker, slot env.Slot, head []byte) {
	frame := newBuffer(e.shared.memory, append([]byte(nil), head...), 0)
	frame.size = len(head)
	e.shared.memory.add(len(head))
	req := &env.Request{
		Conn: e.conn, Slot: slot, Info: e.info, Bytes: int64(len(head)), Frame: frame,
	}
	if err := e.shared.decoder.Decode(frame.Bytes(), req); err != nil {
		panic("the broker sent its controller a frame that does not decode: " + err.Error())
	}
	e.shared.pending.add(slot, call{req.Key, req.Version})
	e.to.Submit(w, env.Event{Kind: env.EventRequest, Conn: e.conn, Slot: slot, Req: req})
}

func (e *linkEnd) response(w Worker, slot env.Slot, head []byte) {
	c, ok := e.shared.pending.remove(slot)
	if !ok {
		panic("the controller answered a request that is not pending")
	}
	body := append([]byte(nil), head...)
	res, err := wire.DecodeResponse(c.key, c.version, body)
	if err != nil {
		panic("the controller sent an answer that does not decode: " + err.Error())
	}
	e.to.Submit(w, env.Event{Kind: env.EventResponse, Conn: e.conn, Slot: slot, Res: res})
}
