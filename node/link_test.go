package node

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
)

// linkStage is a loop with one link, which the world opens when the test says so.
type linkStage struct {
	*stage
	core    *scriptCore
	loop    *Loop
	writer  *scriptWriter
	effects []linkOp
	slot    env.Slot
}

// linkOp is an effect on the link.
type linkOp struct {
	op   env.ConnOpKind
	slot env.Slot
	body []byte
}

const testLink = env.ConnID(1<<63 + 1)

func newLinkStage(t require.TestingT) *linkStage {
	s := &linkStage{stage: newStage(), core: &scriptCore{}, writer: &scriptWriter{at: 4}}
	s.loop = NewLoop(BrokerLoop, s.core, s.stage, nil)
	s.core.say = func(_ []env.Event, out *env.Effects) {
		for _, e := range s.effects {
			start := out.Mark()
			out.Bytes = append(out.Bytes, e.body...)
			out.Conn = append(out.Conn, env.ConnOp{
				Op: e.op, Conn: testLink, Slot: e.slot, Head: out.SpanFrom(start), Err: env.EOverload,
			})
		}
		s.effects = nil
	}
	s.tell(linkOp{op: env.ConnDial, body: []byte("n2:9093")})
	s.drain()
	require.Len(t, s.dialed, 1)
	return s
}

// tell has the core emit an effect in its next turn.
func (s *linkStage) tell(op linkOp) {
	s.effects = append(s.effects, op)
	s.loop.Tick(s)
}

// ask has the core send a request.
func (s *linkStage) ask() {
	s.slot++
	s.tell(linkOp{env.ConnSend, s.slot, wire.AppendRequest(nil, int32(s.slot), "", versionsRequest())})
}

func versionsRequest() kmsg.Request { return kmsg.NewPtrApiVersionsRequest() }

// versionsAnswer is the frame of an answer to versionsRequest.
func versionsAnswer(correlation int32) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(correlation)), 0, 0, 0, 0, 0, 0)
}

// arrive passes a frame on, as a world does, unless the link refuses it.
func (s *linkStage) arrive(frame []byte) env.Verdict {
	b, v := s.dialed[0].Reserve(int32(len(frame)))
	if b == nil {
		return v
	}
	copy(b.Bytes(), frame)
	return s.dialed[0].Deliver(b)
}

func (s *linkStage) open() {
	s.dialed[0].Opened(s.writer, env.ConnInfo{Remote: "n2"})
	s.drain()
}

// kinds returns what the core was told, without ticks.
func (s *linkStage) kinds() (kinds []env.EventKind) {
	for _, ev := range s.core.told {
		if ev.Kind != env.EventTick {
			kinds = append(kinds, ev.Kind)
		}
	}
	return kinds
}

func (s *linkStage) last() env.Event { return s.core.told[len(s.core.told)-1] }

func TestAnswersOfALinkCountAsMemoryUntilTheirTurn(t *testing.T) {
	s := newLinkStage(t)
	s.open()
	s.ask()
	s.drain()
	require.Equal(t, env.Continue, s.arrive(versionsAnswer(1)))
	require.EqualValues(t, 10, s.loop.linkMemory.Used())
	s.drain()
	require.Zero(t, s.loop.linkMemory.Used())
	require.IsType(t, &kmsg.ApiVersionsResponse{}, s.last().Res)
}

// A follower's fetch is decoded without a copy: its frame is lent to the turn, and stays as long as an
// effect names it.
func TestWhatAFollowerFetchesStaysAsLongAsItIsWritten(t *testing.T) {
	s := newLinkStage(t)
	s.open()
	m := kmsg.NewPtrFetchRequest()
	m.Version = 18
	s.slot++
	s.tell(linkOp{env.ConnSend, s.slot, wire.AppendRequest(nil, int32(s.slot), "", m)})
	s.drain()
	batch := record.Builder{Spec: record.Plain()}
	batch.Add(record.Record{Value: []byte("value")})
	data := batch.Build(nil, &record.Scratch{})
	var answer wire.FetchResponse
	answer.AddTopic("", kafka.TopicID{1})
	answer.AddPartition(0).RecordBytes = int64(len(data))
	frame := answer.AppendTo(nil, 18, 1)
	frame = slices.Insert(frame, int(answer.Partitions[0].RecordsAt), data...)

	held := env.Buffer(nil)
	s.core.say = func(in []env.Event, _ *env.Effects) {
		for i := range in {
			if f, ok := in[i].Res.(*wire.ReplicaFetchResponse); ok {
				require.Equal(t, data, f.Partitions[0].Data[0])
				held = f.Frame
				held.Retain()
			}
		}
	}
	require.Equal(t, env.Continue, s.arrive(frame))
	s.drain()
	require.EqualValues(t, len(frame), s.loop.linkMemory.Used())
	held.Release()
	require.Zero(t, s.loop.linkMemory.Used())
}

func TestALinkWaitsForMemoryAndIsResumed(t *testing.T) {
	s := newLinkStage(t)
	s.loop.links[testLink].memory = NewMemory(15)
	s.loop.linkMemory = s.loop.links[testLink].memory
	s.open()
	s.ask()
	s.ask()
	s.drain()
	require.Equal(t, env.Continue, s.arrive(versionsAnswer(1)))
	require.Equal(t, env.Pause, s.arrive(versionsAnswer(2)))
	s.drain()
	require.Equal(t, 1, s.writer.resumed)
	require.Equal(t, env.Continue, s.arrive(versionsAnswer(2)))
	s.drain()
	require.Equal(t, []env.EventKind{env.EventConnOpened, env.EventResponse, env.EventResponse}, s.kinds())
}

func TestAFrameOfAForbiddenSizeEndsALink(t *testing.T) {
	for _, size := range []int32{-1, 0, 3, wire.DefaultMaxFrameBytes + 1} {
		s := newLinkStage(t)
		s.open()
		_, v := s.dialed[0].Reserve(size)
		require.Equal(t, env.Hangup, v)
		s.dialed[0].Closed(env.OK)
		s.drain()
		require.Equal(t, env.Event{Kind: env.EventConnClosed, Conn: testLink, Err: env.EMalformed}, s.last())
		require.Len(t, s.logged, 1)
	}
}

func TestALinkThatStandsTooLateIsClosed(t *testing.T) {
	s := newLinkStage(t)
	s.tell(linkOp{op: env.ConnClose})
	s.drain()
	require.Equal(t, env.Event{Kind: env.EventConnClosed, Conn: testLink, Err: env.EOverload}, s.last())
	s.open()
	require.Equal(t, 1, s.writer.closed)
	s.dialed[0].Closed(env.OK)
	s.drain()
	require.Equal(t, []env.EventKind{env.EventConnClosed}, s.kinds())
}

func TestRequestsBehindTheEndAreDropped(t *testing.T) {
	s := newLinkStage(t)
	s.open()
	s.dialed[0].Closed(env.EReset)
	s.ask() // the core has not been told
	s.drain()
	require.Empty(t, s.writer.sent)
	require.Panics(t, func() {
		s.ask()
		s.drain()
	}, "now it has")
}

func TestASlotIsItsCorrelationID(t *testing.T) {
	s := newLinkStage(t)
	s.open()
	s.tell(linkOp{env.ConnSend, 1, wire.AppendRequest(nil, 2, "", versionsRequest())})
	require.Panics(t, func() { s.drain() })
}

func TestTheIdsOfLinksAreNotUsedAgain(t *testing.T) {
	s := newLinkStage(t)
	s.dialed[0].Closed(env.ERefused)
	s.drain()
	s.tell(linkOp{op: env.ConnDial, body: []byte("n2:9093")})
	require.Panics(t, func() { s.drain() })
}

// TestALinkTellsItsEndLastAndOnce opens, uses and ends a link in any order: by the core, by the peer,
// in the middle of sending, by nonsense.
func TestALinkTellsItsEndLastAndOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newLinkStage(t)
		isOpen, gone, answers := false, false, 0
		under := map[env.Slot]bool{}
		usable := func() bool { // as the core knows it
			kinds := s.kinds()
			return len(kinds) > 0 && kinds[len(kinds)-1] != env.EventConnClosed
		}
		hangUp := func() {
			if !gone {
				gone = true
				s.dialed[0].Closed(env.EReset)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(*rapid.T) {
				if !isOpen && !gone {
					isOpen = true
					s.dialed[0].Opened(s.writer, env.ConnInfo{})
				}
			},
			"ask": func(*rapid.T) {
				if usable() {
					s.ask()
					s.loops[0].Run(s)
					s.loops = s.loops[1:]
					under[s.slot] = true
				}
			},
			"answer": func(t *rapid.T) {
				slot := env.Slot(rapid.IntRange(1, int(s.slot)+1).Draw(t, "slot"))
				if !isOpen || gone || s.writer.closed > 0 {
					return
				}
				v := s.arrive(versionsAnswer(int32(slot)))
				if under[slot] {
					answers++
					require.Equal(t, env.Continue, v)
				} else {
					require.Equal(t, env.Hangup, v)
				}
				delete(under, slot)
			},
			"step": func(t *rapid.T) {
				if n := s.steps(); n > 0 {
					s.step(rapid.IntRange(0, n-1).Draw(t, "i"))
				}
			},
			"end": func(t *rapid.T) {
				switch rapid.IntRange(0, 30).Draw(t, "seldom") {
				case 0:
					hangUp()
				case 1:
					s.writer.during = hangUp
				case 2:
					s.writer.fail = true
				case 3:
					s.tell(linkOp{op: env.ConnClose})
				}
			},
			"": func(t *rapid.T) {
				kinds := s.kinds()
				for i, k := range kinds {
					require.Equal(t, i == 0, k == env.EventConnOpened || k == env.EventConnClosed && len(kinds) == 1)
					require.Equal(t, k == env.EventConnClosed, k == env.EventConnClosed && i == len(kinds)-1)
				}
			},
		})
		s.drain()
		hangUp()
		s.drain()
		kinds := s.kinds()
		require.Equal(t, env.EventConnClosed, kinds[len(kinds)-1])
		require.Zero(t, s.loop.linkMemory.Used())
		require.Empty(t, s.loop.links)
		n := 0
		for _, k := range kinds {
			if k == env.EventResponse {
				n++
			}
		}
		require.Equal(t, answers, n, "every answer that came was told")
		for i, correlation := range s.writer.sent {
			require.EqualValues(t, i+1, correlation, "requests leave in order")
		}
	})
}
