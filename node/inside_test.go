package node

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/wire"
)

// insideStage is two loops of one node: a broker's that asks over a link, and a controller's that
// answers when the test says so.
type insideStage struct {
	*stage
	asking, answering         *Loop
	asker, answerer           *scriptCore
	requests, told, delivered int // sent, answered, and told to the asker
	waiting                   []env.Slot
	far                       env.ConnID
	effects                   []env.ConnOp // of the next turns, by their ids
	bytes                     [][]byte
	nearEnded, farEnded       bool
}

func newInsideStage(t require.TestingT, budget int64) *insideStage {
	s := &insideStage{stage: newStage(), asker: &scriptCore{}, answerer: &scriptCore{}}
	s.asking = NewLoop(BrokerLoop, s.asker, s.stage, nil)
	s.answering = NewLoop(ControllerLoop, s.answerer, s.stage, nil)
	s.asking.linkMemory = NewMemory(budget)
	s.asking.inside = NewAcceptor(s.answering, s.asking.linkMemory, ControllerListener, 1<<20)
	s.asker.say = func(in []env.Event, out *env.Effects) {
		for _, ev := range in {
			require.False(t, s.nearEnded && ev.Kind != env.EventTick, "behind the end: %+v", ev)
			switch ev.Kind {
			case env.EventResponse:
				s.delivered++
			case env.EventConnClosed:
				s.nearEnded = true
			}
		}
		s.emit(out, true)
	}
	s.answerer.say = func(in []env.Event, out *env.Effects) {
		for _, ev := range in {
			require.False(t, s.farEnded && ev.Kind != env.EventTick, "behind the end: %+v", ev)
			switch ev.Kind {
			case env.EventConnOpened:
				s.far = ev.Conn
			case env.EventRequest:
				s.waiting = append(s.waiting, ev.Slot)
			case env.EventConnClosed:
				s.farEnded, s.waiting = true, nil
			}
		}
		s.emit(out, false)
	}
	s.tell(env.ConnOp{Op: env.ConnDial, Conn: testLink}, nil)
	return s
}

// tell has the loop that an effect is of emit it in its next turn.
func (s *insideStage) tell(op env.ConnOp, body []byte) {
	s.effects, s.bytes = append(s.effects, op), append(s.bytes, body)
	if op.Conn.Link() {
		s.asking.Tick(s)
	} else {
		s.answering.Tick(s)
	}
}

func (s *insideStage) emit(out *env.Effects, link bool) {
	for i := 0; i < len(s.effects); i++ {
		op := s.effects[i]
		if op.Conn.Link() != link {
			continue
		}
		start := out.Mark()
		out.Bytes = append(out.Bytes, s.bytes[i]...)
		op.Head = out.SpanFrom(start)
		if ended := link && s.nearEnded || !link && s.farEnded; !ended {
			out.Conn = append(out.Conn, op)
		}
		s.effects = append(s.effects[:i], s.effects[i+1:]...)
		s.bytes = append(s.bytes[:i], s.bytes[i+1:]...)
		i--
	}
}

// ask has the asker send a metadata fetch: any number may wait for their answers.
func (s *insideStage) ask() {
	s.requests++
	frame := wire.AppendRequest(nil, int32(s.requests), "", &wire.MetadataFetchRequest{})
	s.tell(env.ConnOp{Op: env.ConnSend, Conn: testLink, Slot: env.Slot(s.requests)}, frame)
}

// answer answers waiting request i. Slots count from 0 where they come in, from 1 where they are asked.
func (s *insideStage) answer(i int) {
	slot := s.waiting[i]
	s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
	s.told++
	frame := wire.AppendResponse(nil, 0, int32(slot)+1, 0, &wire.MetadataFetchResponse{})
	s.tell(env.ConnOp{Op: env.ConnRespond, Conn: s.far, Slot: slot}, frame)
}

func TestADialToTheOtherLoopIsRefusedWhereThereIsNone(t *testing.T) {
	s := newLinkStage(t)
	s.dialed[0].Closed(env.ERefused)
	s.effects = []linkOp{{op: env.ConnDial}}
	s.core.say = func(_ []env.Event, out *env.Effects) {
		if len(s.effects) > 0 {
			s.effects = nil
			out.Conn = append(out.Conn, env.ConnOp{Op: env.ConnDial, Conn: testLink + 1})
		}
	}
	s.loop.Tick(s)
	s.drain()
	require.Equal(t, env.Event{Kind: env.EventConnClosed, Conn: testLink + 1, Err: env.ERefused}, s.last())
}

// TestTheLoopsOfANodeTalkAsNodesDo has two loops talk with little memory, and end their connection at
// any time, from either side.
func TestTheLoopsOfANodeTalkAsNodesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newInsideStage(t, rapid.Int64Range(20, 300).Draw(t, "budget"))
		closed := false
		opened := func() bool { return len(s.asker.told) > 1 && s.far != 0 }
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(*rapid.T) {
				if opened() && !s.nearEnded {
					s.ask()
				}
			},
			"answer": func(t *rapid.T) {
				if n := len(s.waiting); n > 0 {
					s.answer(rapid.IntRange(0, n-1).Draw(t, "i"))
				}
			},
			"step": func(t *rapid.T) {
				if n := s.steps(); n > 0 {
					s.step(rapid.IntRange(0, n-1).Draw(t, "i"))
				}
			},
			"close": func(t *rapid.T) {
				if !opened() || closed {
					return
				}
				switch rapid.IntRange(0, 40).Draw(t, "seldom") {
				case 0:
					closed = true
					s.tell(env.ConnOp{Op: env.ConnClose, Conn: testLink}, nil)
				case 1:
					closed = true
					s.tell(env.ConnOp{Op: env.ConnClose, Conn: s.far}, nil)
				}
			},
		})
		for s.steps() > 0 || len(s.waiting) > 0 {
			for len(s.waiting) > 0 {
				s.answer(0)
			}
			s.drain()
		}
		require.Zero(t, s.asking.linkMemory.Used())
		require.Equal(t, closed, s.nearEnded)
		require.Equal(t, closed, s.farEnded)
		if !closed {
			require.Equal(t, s.requests, s.told)
			require.Equal(t, s.requests, s.delivered)
		}
	})
}

func TestAnswersToANodeLeaveWhenTheyAreThere(t *testing.T) {
	s := newInsideStage(t, 1<<20)
	s.drain()
	s.asker.told = nil
	for range 3 {
		s.ask()
	}
	s.drain()
	require.Len(t, s.waiting, 3, "they do not wait for each other")
	s.answer(2)
	s.drain()
	s.answer(0)
	s.drain()
	var slots []env.Slot
	for _, ev := range s.asker.told {
		if ev.Kind == env.EventResponse {
			slots = append(slots, ev.Slot)
		}
	}
	require.Equal(t, []env.Slot{3, 1}, slots)
	require.Len(t, s.answering.conns[s.far].slots, 2, "the place of the first that is left, and what follows")
	s.answer(0)
	s.drain()
	require.Empty(t, s.answering.conns[s.far].slots)
	require.Zero(t, s.answering.conns[s.far].inFlight)
}

// TestAClientOfTheControllerIsAnsweredInOrder asks with Kafka's keys only.
func TestAClientOfTheControllerIsAnsweredInOrder(t *testing.T) {
	s := newInsideStage(t, 1<<20)
	s.drain()
	for i := range int32(2) {
		frame := wire.AppendRequest(nil, i+1, "", versionsRequest())
		s.tell(env.ConnOp{Op: env.ConnSend, Conn: testLink, Slot: env.Slot(i + 1)}, frame)
	}
	s.drain()
	require.Len(t, s.waiting, 1, "the second waits for the first")
}

func TestASendOfARangeInsideANodeFails(t *testing.T) {
	s := newInsideStage(t, 1<<20)
	s.drain()
	conn := s.answering.conns[s.far]
	_, err := conn.writer.Send([]env.Part{{File: &scriptFile{}, Len: 1}})
	require.Equal(t, env.EOther, err)
	_, err = conn.writer.Send([]env.Part{{Bytes: binary.BigEndian.AppendUint32(nil, 0)}})
	require.Equal(t, env.OK, err)
}
