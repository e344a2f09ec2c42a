package node

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/wire"
)

// scriptWriter keeps what is sent.
type scriptWriter struct {
	sent    []uint32 // the numbers that the frames carry
	at      int      // where in a frame
	fail    bool
	during  func() // called once while sending
	resumed int
	closed  int
	bytes   []byte // of the last call, but for ranges of files
}

func (w *scriptWriter) Send(parts []env.Part) (int64, env.Errno) {
	if f := w.during; f != nil {
		w.during = nil
		f()
	}
	if w.fail {
		return 0, env.EReset
	}
	var flat []byte
	w.bytes = w.bytes[:0]
	for _, p := range parts {
		w.bytes = append(w.bytes, p.Bytes...)
		flat = append(flat, p.Bytes...)
		flat = append(flat, make([]byte, p.Len)...)
	}
	for len(flat) > 0 {
		size := binary.BigEndian.Uint32(flat)
		w.sent = append(w.sent, binary.BigEndian.Uint32(flat[4+w.at:]))
		flat = flat[4+size:]
	}
	return 0, env.OK
}

func (w *scriptWriter) Resume() { w.resumed++ }
func (w *scriptWriter) Close()  { w.closed++ }

// connStage is one connection of a loop whose core answers when the test says so.
type connStage struct {
	*stage
	core   *scriptCore
	loop   *Loop
	memory *Memory
	writer *scriptWriter
	conn   *Conn

	waiting []env.Slot   // of requests that the core has not answered
	heavy   bool         // the one that waits is neither Produce nor Fetch
	unread  int          // requests without an answer
	effects []env.ConnOp // with token 1 for a lease
	token   env.Token    // of the last lease
	copies  bool         // what is leased is sent as copies
	ended   bool         // the end of the connection was told
}

const rangeFile = env.FileID(9)

func newConnStage(t require.TestingT) *connStage {
	s := &connStage{
		stage: newStage(), core: &scriptCore{}, memory: NewMemory(1 << 30), writer: &scriptWriter{},
	}
	s.loop = NewLoop(BrokerLoop, s.core, s.stage, nil)
	s.loop.files[rangeFile] = newFileQueue(s.loop, rangeFile)
	s.core.say = func(in []env.Event, out *env.Effects) { s.turn(t, in, out) }
	a := NewAcceptor(s.loop, s.memory, "PLAINTEXT", 100<<20)
	s.conn = a.Accept(s.writer, env.ConnInfo{}).(*Conn)
	s.drain()
	return s
}

// turn notes the requests, judges that they may be in flight together, and says what was prepared,
// but nothing to a connection whose end was told.
func (s *connStage) turn(t require.TestingT, in []env.Event, out *env.Effects) {
	for i := range in {
		if in[i].Conn != 0 {
			require.False(t, s.ended, "an event behind the end: %+v", in[i])
		}
		r := in[i].Req
		switch {
		case in[i].Kind == env.EventConnClosed:
			s.ended = true
			s.waiting = nil
		case in[i].Kind != env.EventRequest:
		case r.Slot == env.NoSlot:
			s.unread++
		default:
			heavy := r.Key != wire.KeyFetch
			require.False(t, len(s.waiting) > 0 && (heavy || s.heavy), "a barrier was passed")
			s.heavy = heavy
			s.waiting = append(s.waiting, r.Slot)
			require.LessOrEqual(t, len(s.waiting), maxSlotsInFlight)
		}
	}
	for _, op := range s.effects {
		if s.ended {
			break
		}
		if op.Op == env.ConnRespond {
			start := out.Mark()
			out.Bytes = binary.BigEndian.AppendUint32(out.Bytes, uint32(op.Slot))
			op.Head = out.SpanFrom(start)
			if op.Token != 0 {
				s.token++
				op.Token = s.token
				from := uint32(len(out.Ranges))
				out.Ranges = append(out.Ranges, env.Range{File: rangeFile, At: 4, Len: 10, Copy: s.copies})
				op.Ranges = env.Span{Start: from, End: from + 1}
			}
		}
		op.Conn = s.conn.id
		out.Conn = append(out.Conn, op)
	}
	s.effects = s.effects[:0]
}

// tell has the core emit op in its next turn.
func (s *connStage) tell(op env.ConnOp) {
	s.effects = append(s.effects, op)
	s.loop.Tick(s)
}

// answer answers waiting request i, with a lease if leased.
func (s *connStage) answer(i int, leased bool) {
	op := env.ConnOp{Op: env.ConnRespond, Slot: s.waiting[i]}
	if leased {
		op.Token = 1
	}
	s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
	s.tell(op)
}

// deliver passes a frame on, as a world does.
func (s *connStage) deliver(t require.TestingT, frame []byte) env.Verdict {
	b, v := s.conn.Reserve(int32(len(frame)))
	require.Equal(t, env.Continue, v)
	copy(b.Bytes(), frame)
	return s.conn.Deliver(b)
}

// tokens returns how often each token was reported.
func (s *connStage) tokens() map[env.Token]int {
	n := map[env.Token]int{}
	for _, ev := range s.core.told {
		if ev.Kind == env.EventResponseSent {
			n[ev.Token]++
		}
	}
	return n
}

func fetchFrame() []byte    { return frameOf(kmsg.NewPtrFetchRequest(), 4) }
func metadataFrame() []byte { return frameOf(kmsg.NewPtrMetadataRequest(), 4) }

func silentFrame() []byte {
	r := kmsg.NewPtrProduceRequest()
	r.Acks = 0
	return frameOf(r, 3)
}

func TestACopyIsReadBeforeItIsSent(t *testing.T) {
	for _, copies := range []bool{false, true} {
		s := newConnStage(t)
		s.copies = copies
		s.disk.files[""] = &scriptFile{disk: s.disk, data: []byte("0123456789")}
		require.Equal(t, env.Continue, s.deliver(t, fetchFrame()))
		s.drain()
		s.answer(0, true)
		s.drain()
		require.Equal(t, copies, bytes.HasSuffix(s.writer.bytes, []byte("0123456789")))
	}
}

func TestACopyOfBytesThatAreNotThereEndsTheConnection(t *testing.T) {
	s := newConnStage(t)
	s.copies = true
	s.disk.files[""] = &scriptFile{disk: s.disk, data: []byte("0123")}
	require.Equal(t, env.Continue, s.deliver(t, fetchFrame()))
	s.drain()
	s.answer(0, true)
	s.drain()
	require.Empty(t, s.writer.sent)
	require.Positive(t, s.writer.closed)
}

func TestAnswersLeaveInTheOrderOfTheirRequests(t *testing.T) {
	s := newConnStage(t)
	for range 3 {
		require.Equal(t, env.Continue, s.deliver(t, fetchFrame()))
	}
	s.drain()
	s.answer(2, false)
	s.drain()
	s.answer(1, false)
	s.drain()
	require.Empty(t, s.writer.sent)
	s.answer(0, false)
	s.drain()
	require.Equal(t, []uint32{0, 1, 2}, s.writer.sent)
	require.Zero(t, s.memory.Used())
}

func TestAMetadataRequestWaitsForEarlierSlots(t *testing.T) {
	s := newConnStage(t)
	s.deliver(t, fetchFrame())
	require.Equal(t, env.Pause, s.deliver(t, metadataFrame()))
	s.drain()
	require.Len(t, s.waiting, 1)
	s.answer(0, false)
	s.drain()
	require.Len(t, s.waiting, 1, "the request that was held back")
	require.Equal(t, 1, s.writer.resumed)
}

func TestReadingStopsAtSixtyFourSlots(t *testing.T) {
	s := newConnStage(t)
	for range maxSlotsInFlight - 1 {
		require.Equal(t, env.Continue, s.deliver(t, fetchFrame()))
	}
	require.Equal(t, env.Pause, s.deliver(t, fetchFrame()))
	s.drain()
	s.answer(1, false)
	s.drain()
	require.Zero(t, s.writer.resumed, "the first slot still holds its place")
	s.answer(0, false)
	s.drain()
	require.Equal(t, 1, s.writer.resumed)
}

func TestReadingStopsAtSixteenMegabytes(t *testing.T) {
	s := newConnStage(t)
	r := kmsg.NewPtrFetchRequest()
	topic := kmsg.NewFetchRequestTopic()
	topic.Partitions = make([]kmsg.FetchRequestTopicPartition, 100_000)
	r.Topics = []kmsg.FetchRequestTopic{topic}
	frame := frameOf(r, 4)
	n := 1
	for s.deliver(t, frame) == env.Continue {
		n++
	}
	require.GreaterOrEqual(t, n*len(frame), maxBytesInFlight)
	require.Less(t, (n-1)*len(frame), maxBytesInFlight)
}

func TestAFrameOfAForbiddenSizeEndsTheConnection(t *testing.T) {
	s := newConnStage(t)
	for _, size := range []int32{-1, 0, 100<<20 + 1} {
		_, v := s.conn.Reserve(size)
		require.Equal(t, env.Hangup, v)
	}
	require.Equal(t, 3, s.writer.closed)
	require.Len(t, s.logged, 3)
}

func TestAMalformedFrameEndsTheConnectionAndReturnsItsBuffer(t *testing.T) {
	s := newConnStage(t)
	require.Equal(t, env.Hangup, s.deliver(t, make([]byte, 14)))
	require.Zero(t, s.memory.Used())
	require.Equal(t, 1, s.writer.closed)
}

func TestAPausedConnectionStopsAfterItsNextFrame(t *testing.T) {
	s := newConnStage(t)
	s.tell(env.ConnOp{Op: env.ConnPause})
	s.drain()
	require.Equal(t, env.Pause, s.deliver(t, fetchFrame()))
	s.tell(env.ConnOp{Op: env.ConnResume})
	s.drain()
	require.Equal(t, 1, s.writer.resumed)
}

func TestCloseLetsAnsweredSlotsLeave(t *testing.T) {
	s := newConnStage(t)
	s.deliver(t, fetchFrame())
	s.deliver(t, fetchFrame())
	s.drain()
	s.answer(0, false)
	s.tell(env.ConnOp{Op: env.ConnClose, Err: env.EOverload})
	s.drain()
	require.Equal(t, []uint32{0}, s.writer.sent)
	require.Equal(t, 1, s.writer.closed)
	s.conn.Closed(env.EReset)
	s.drain()
	last := s.core.told[len(s.core.told)-1]
	require.Equal(t, env.Event{Kind: env.EventConnClosed, Conn: s.conn.id, Err: env.EOverload}, last)
}

func TestTheEndWaitsForWhoIsSending(t *testing.T) {
	s := newConnStage(t)
	s.deliver(t, fetchFrame())
	s.deliver(t, fetchFrame())
	s.deliver(t, metadataFrame()) // held back
	s.drain()
	s.answer(0, true)
	s.writer.during = func() {
		s.answer(0, true)
		s.drain()
		s.conn.Closed(env.EReset)
		s.drain()
		require.False(t, s.ended)
	}
	s.drain()
	require.Equal(t, map[env.Token]int{1: 1, 2: 1}, s.tokens())
	last := s.core.told[len(s.core.told)-1]
	require.Equal(t, env.Event{Kind: env.EventConnClosed, Conn: s.conn.id, Err: env.EReset}, last)
	require.Zero(t, s.memory.Used())
}

// TestConnReportsEveryLeaseOnce closes the connection in any state: before an answer, while
// sending, with a request held back.
func TestConnReportsEveryLeaseOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newConnStage(t)
		var delivered, silent int
		stopped, resumed, gone := false, 0, false
		deliver := func(t *rapid.T, frame []byte, answered bool) {
			stopped = stopped && resumed == s.writer.resumed
			if gone || stopped {
				return
			}
			resumed = s.writer.resumed
			switch s.deliver(t, frame) {
			case env.Pause:
				stopped = true
			case env.Hangup:
				t.Fatal("hung up")
			}
			if delivered++; !answered {
				silent++
			}
		}
		hangUp := func() {
			if !gone {
				gone = true
				s.conn.Closed(env.EReset)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"fetch":    func(t *rapid.T) { deliver(t, fetchFrame(), true) },
			"metadata": func(t *rapid.T) { deliver(t, metadataFrame(), true) },
			"silent":   func(t *rapid.T) { deliver(t, silentFrame(), false) },
			"answer": func(t *rapid.T) {
				if n := len(s.waiting); n > 0 {
					s.answer(rapid.IntRange(0, n-1).Draw(t, "slot"), rapid.Bool().Draw(t, "leased"))
				}
			},
			"step": func(t *rapid.T) {
				if n := s.steps(); n > 0 {
					s.step(rapid.IntRange(0, n-1).Draw(t, "i"))
				}
			},
			"close": func(t *rapid.T) {
				switch rapid.IntRange(0, 30).Draw(t, "seldom") {
				case 0:
					hangUp()
				case 1:
					s.writer.during = func() {
						for len(s.waiting) > 0 && rapid.Bool().Draw(t, "answered") {
							s.answer(0, rapid.Bool().Draw(t, "leased"))
						}
						for len(s.loops) > 0 {
							s.step(0)
						}
						hangUp()
					}
				case 2:
					s.writer.fail = true
				}
			},
		})
		if s.writer.fail && s.writer.closed > 0 {
			hangUp()
		}
		for s.steps() > 0 || len(s.waiting) > 0 {
			for len(s.waiting) > 0 {
				s.answer(0, true)
			}
			s.drain()
		}
		if s.writer.closed > 0 {
			hangUp()
			s.drain()
		}
		tokens := s.tokens()
		for token := range s.token {
			require.Equal(t, 1, tokens[token+1], "token %d", token+1)
		}
		require.Zero(t, s.memory.Used(), "frames alive")
		require.Equal(t, 1, s.loop.files[rangeFile].refs, "leases alive")
		require.Nil(t, s.conn.held)
		for i, slot := range s.writer.sent {
			require.Equal(t, uint32(i), slot, "answers leave in order")
		}
		require.Equal(t, gone, s.ended)
		if !gone {
			require.Len(t, s.writer.sent, delivered-silent)
			require.Equal(t, silent, s.unread)
			require.False(t, s.conn.stopped, "nothing is left that would resume it")
		}
	})
}
