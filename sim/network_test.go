package sim

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// plainBuffer implements env.Buffer.
type plainBuffer struct {
	b        []byte
	released *int
}

func (b *plainBuffer) Bytes() []byte { return b.b }
func (b *plainBuffer) Retain()       {}
func (b *plainBuffer) Release()      { *b.released++ }

// peer is a reading half that keeps what it gets.
type peer struct {
	s        *Scheduler
	w        env.ConnWriter
	frames   []string
	times    []Time
	closed   []env.Errno
	refuse   int // the next so many Reserve calls find no memory
	verdict  env.Verdict
	released int
}

func (p *peer) Reserve(size int32) (env.Buffer, env.Verdict) {
	if size < 0 || size > 1<<20 {
		return nil, env.Hangup
	}
	if p.refuse > 0 {
		p.refuse--
		return nil, env.Pause
	}
	return &plainBuffer{make([]byte, size), &p.released}, env.Continue
}

func (p *peer) Deliver(b env.Buffer) env.Verdict {
	p.frames, p.times = append(p.frames, string(b.Bytes())), append(p.times, p.s.Now())
	return p.verdict
}

func (p *peer) Closed(err env.Errno) { p.closed = append(p.closed, err) }

// netBench is a network with a server at n1 and a client at c0.
type netBench struct {
	t                        testing.TB
	s                        *Scheduler
	n                        *Network
	faults                   *FaultLog
	serverOwner, clientOwner Owner
	server, client           *peer
	info                     env.ConnInfo
	refuseAccept             bool
	accepted                 int
}

func (b *netBench) Accept(w env.ConnWriter, info env.ConnInfo) env.ConnReader {
	if b.refuseAccept {
		return nil
	}
	b.server.w, b.info = w, info
	b.accepted++
	return b.server
}

func newNetBench(t testing.TB, seed uint64) *netBench {
	s := newTestScheduler(t)
	faults := NewFaultLog(s.Trace())
	b := &netBench{
		t: t, s: s, faults: faults,
		n: NewNetwork(s, faults, NewEntropy(seed).Stream("network", 0)),
	}
	b.serverOwner, b.clientOwner = s.NewOwner(1), s.NewOwner(ClientPlace)
	b.server, b.client = &peer{s: s}, &peer{s: s}
	b.n.Listen(b.serverOwner, "n1:9092", b)
	return b
}

func (b *netBench) dial() *netBench {
	b.client.w = b.n.Dial(b.clientOwner, 1, "n1:9092", b.client)
	b.run(Second)
	return b
}

func (b *netBench) run(d Time) { b.s.RunUntil(b.s.Now()+d, nil) }

// framed puts a size prefix in front.
func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func sendFrame(t testing.TB, w env.ConnWriter, body string) {
	p := framed(body)
	n, err := w.Send([]env.Part{{Bytes: p}})
	require.Equal(t, env.OK, err)
	require.EqualValues(t, len(p), n)
	clear(p) // the parts are the caller's again
}

func TestConnectionCarriesFramesInOrderBothWays(t *testing.T) {
	b := newNetBench(t, 1).dial()
	require.Equal(t, "c0", b.info.Remote)
	for i := range 50 {
		sendFrame(t, b.client.w, fmt.Sprint("request ", i))
		sendFrame(t, b.server.w, fmt.Sprint("response ", i))
	}
	b.run(Second)
	require.Len(t, b.server.frames, 50)
	for i := range 50 {
		require.Equal(t, fmt.Sprint("request ", i), b.server.frames[i])
		require.Equal(t, fmt.Sprint("response ", i), b.client.frames[i])
	}
}

func TestFramesAreReassembledFromAnyParts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newNetBench(t, rapid.Uint64().Draw(r, "seed")).dial()
		var stream []byte
		var want []string
		for range rapid.IntRange(1, 6).Draw(r, "frames") {
			body := string(rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(r, "body"))
			want = append(want, body)
			stream = append(stream, framed(body)...)
		}
		for len(stream) > 0 {
			var parts []env.Part
			for range 2 {
				n := rapid.IntRange(0, min(9, len(stream))).Draw(r, "part")
				parts = append(parts, env.Part{Bytes: stream[:n]})
				stream = stream[n:]
			}
			_, err := b.client.w.Send(parts)
			require.Equal(r, env.OK, err)
		}
		b.server.refuse = rapid.IntRange(0, 1).Draw(r, "refuse")
		b.run(Second)
		b.server.w.Resume()
		b.run(Second)
		require.Equal(r, want, b.server.frames)
		b.s.Close()
	})
}

func TestPauseStopsDeliveryUntilResume(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.server.verdict = env.Pause
	for i := range 3 {
		sendFrame(t, b.client.w, fmt.Sprint(i))
	}
	b.run(Second)
	require.Equal(t, []string{"0"}, b.server.frames)
	b.server.w.Resume()
	b.run(Second)
	require.Equal(t, []string{"0", "1"}, b.server.frames)
	b.server.verdict, b.server.refuse = env.Continue, 1
	b.server.w.Resume()
	b.run(Second)
	require.Equal(t, []string{"0", "1"}, b.server.frames, "no memory for it")
	b.server.w.Resume()
	b.run(Second)
	require.Equal(t, []string{"0", "1", "2"}, b.server.frames)
}

func TestHangupEndsTheConnection(t *testing.T) {
	b := newNetBench(t, 1).dial()
	_, err := b.client.w.Send([]env.Part{{Bytes: []byte{0xff, 0, 0, 0}}})
	require.Equal(t, env.OK, err)
	b.run(Second)
	require.Equal(t, []env.Errno{env.OK}, b.server.closed)
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
	require.Empty(t, b.n.OpenConns())
}

func TestCloseLetsWhatWasSentArriveFirst(t *testing.T) {
	b := newNetBench(t, 1).dial()
	sendFrame(t, b.server.w, "last words")
	b.server.w.Close()
	b.server.w.Close()
	_, err := b.server.w.Send([]env.Part{{Bytes: framed("too late")}})
	require.Equal(t, env.EReset, err)
	b.run(Second)
	require.Equal(t, []string{"last words"}, b.client.frames)
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
	require.Equal(t, []env.Errno{env.OK}, b.server.closed)
}

func TestDialWithoutListenerOrAnswerFails(t *testing.T) {
	b := newNetBench(t, 1)
	b.client.w = b.n.Dial(b.clientOwner, 2, "n2:9092", b.client)
	b.run(Second)
	require.Equal(t, []env.Errno{env.ERefused}, b.client.closed)

	b = newNetBench(t, 1)
	b.n.Cut(1, ClientPlace)
	b.client.w = b.n.Dial(b.clientOwner, 1, "n1:9092", b.client)
	b.run(Minute)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.client.closed)

	b = newNetBench(t, 1)
	b.refuseAccept = true
	b.dial()
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
}

func TestFramesSentBeforeTheConnectionStandsArrive(t *testing.T) {
	b := newNetBench(t, 1)
	b.client.w = b.n.Dial(b.clientOwner, 1, "n1:9092", b.client)
	sendFrame(t, b.client.w, "early")
	b.run(Second)
	require.Equal(t, []string{"early"}, b.server.frames)
}

func TestResetLosesWhatIsInFlight(t *testing.T) {
	b := newNetBench(t, 1).dial()
	sendFrame(t, b.client.w, "lost")
	require.True(t, b.n.Reset(1))
	require.False(t, b.n.Reset(1))
	b.run(Second)
	require.Empty(t, b.server.frames)
	require.Equal(t, []env.Errno{env.EReset}, b.server.closed)
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
}

func TestOneWayPartitionHoldsOneDirectionAndBursts(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.n.Cut(ClientPlace, 1)
	sendFrame(t, b.client.w, "a")
	b.run(Second)
	sendFrame(t, b.client.w, "b")
	sendFrame(t, b.server.w, "passes")
	b.run(Second)
	require.Empty(t, b.server.frames)
	require.Equal(t, []string{"passes"}, b.client.frames)
	b.n.Heal(ClientPlace, 1)
	b.run(Second)
	require.Equal(t, []string{"a", "b"}, b.server.frames)
	require.Equal(t, b.server.times[0], b.server.times[1], "a burst")
}

func TestLongPartitionEndsTheConnectionForBoth(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.n.Partition(ClientPlace, 1)
	sendFrame(t, b.client.w, "never")
	b.run(2 * Minute)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.client.closed)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.server.closed)
	b.n.HealAll()
	b.run(Minute)
	require.Empty(t, b.server.frames)
}

func TestStallThenBurst(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.n.Stall(ClientPlace, 1, 5*Second)
	until := b.s.Now() + 5*Second
	for i := range 3 {
		sendFrame(t, b.client.w, fmt.Sprint(i))
		b.run(Second)
	}
	require.Empty(t, b.server.frames)
	b.run(5 * Second)
	require.Equal(t, []Time{until, until, until}, b.server.times)
}

// request makes a frame that names a key and a correlation id.
func request(key int16, correlation int32) string {
	p := binary.BigEndian.AppendUint16(nil, uint16(key))
	p = binary.BigEndian.AppendUint16(p, 7)
	return string(binary.BigEndian.AppendUint32(p, uint32(correlation))) + "rest"
}

func response(correlation int32) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(correlation))) + "rest"
}

func TestHoldBackDelaysOneRequestType(t *testing.T) {
	b := newNetBench(t, 1)
	b.n.Plan = NetRules{{Key: 1, Fault: NetFault{NetHold, 3 * Second}}} // responses to Fetch
	b.dial()
	start := b.s.Now()
	for i, key := range []int16{0, 1, 3} {
		sendFrame(t, b.client.w, request(key, int32(i)))
	}
	b.run(500 * Millisecond)
	require.Len(t, b.server.frames, 3, "requests are not held")
	for i := range int32(3) {
		sendFrame(t, b.server.w, response(i))
	}
	b.run(10 * Second)
	require.Len(t, b.client.frames, 3)
	require.Less(t, b.client.times[0], start+Second)
	require.Greater(t, b.client.times[1], start+3*Second)
	require.GreaterOrEqual(t, b.client.times[2], b.client.times[1], "order is kept")
	require.Equal(t, "hold back n1: response to key 1 1 of n1->c0 (3.000000000s)",
		b.faults.Faults()[0].String())
}

// nthFrame injects a fault into one frame.
func nthFrame(request bool, key int16, n int, kind NetFaultKind) NetRules {
	return NetRules{{Request: request, Key: key, Ordinal: n, Fault: NetFault{Kind: kind}}}
}

func TestPlanResetsAtAFrame(t *testing.T) {
	b := newNetBench(t, 1)
	b.n.Plan = nthFrame(true, 0, 2, NetReset)
	b.dial()
	sendFrame(t, b.client.w, request(0, 1))
	b.run(Second)
	_, err := b.client.w.Send([]env.Part{{Bytes: framed(request(0, 2))}})
	require.Equal(t, env.EReset, err)
	b.run(Second)
	require.Len(t, b.server.frames, 1)
	require.Equal(t, []env.Errno{env.EReset}, b.server.closed)
}

func TestHalfOpenConnectionIsNoticedLate(t *testing.T) {
	b := newNetBench(t, 1)
	b.n.Plan = nthFrame(false, 0, 1, NetVanish)
	b.dial()
	sendFrame(t, b.client.w, request(0, 1))
	b.run(Second)
	sendFrame(t, b.server.w, response(1))
	b.run(5 * Second)
	require.Empty(t, b.client.frames)
	require.Empty(t, b.client.closed)
	b.run(Minute)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.client.closed)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.server.closed)
}

func TestKilledProcessEndsItsConnections(t *testing.T) {
	arrived := 0
	for seed := range uint64(40) {
		b := newNetBench(t, seed).dial()
		sendFrame(t, b.server.w, "before the end")
		b.s.Kill(b.serverOwner, Killed)
		b.run(Second)
		require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
		require.Empty(t, b.server.closed, "the dead are told nothing")
		arrived += len(b.client.frames)
	}
	require.True(t, arrived > 5 && arrived < 40, arrived)
}

func TestPowerLossLeavesThePeerInTheDark(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.s.Kill(b.serverOwner, PowerLost)
	sendFrame(t, b.client.w, "into the void")
	b.run(5 * Second)
	require.Empty(t, b.client.closed)
	b.serverOwner = b.s.NewOwner(1)
	b.n.Listen(b.serverOwner, "n1:9092", b)
	sendFrame(t, b.client.w, "who are you?")
	b.run(Second)
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed, "the machine that is back resets")

	b = newNetBench(t, 1).dial()
	b.s.Kill(b.serverOwner, PowerLost)
	b.run(Minute)
	require.Equal(t, []env.Errno{env.ETimedOut}, b.client.closed)
}

func TestSenderBlocksWhileTheWindowIsFull(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.server.verdict = env.Pause
	sent := 0
	b.s.Spawn(0, b.clientOwner, "sender", func() {
		for range 10 {
			sendFrame(t, b.client.w, string(make([]byte, 100<<10)))
			sent++
		}
	})
	b.run(Minute)
	require.Less(t, sent, 10)
	b.server.verdict = env.Continue
	b.server.w.Resume()
	b.run(Minute)
	require.Equal(t, 10, sent)
	require.Len(t, b.server.frames, 10)
}

func TestSenderThatBlocksLearnsOfTheEnd(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.n.Cut(ClientPlace, 1)
	err := env.OK
	b.s.Spawn(0, b.clientOwner, "sender", func() {
		for err == env.OK {
			_, err = b.client.w.Send([]env.Part{{Bytes: framed(string(make([]byte, 100<<10)))}})
		}
	})
	b.run(2 * Minute)
	require.Equal(t, env.EReset, err)
}

// TestSenderThatBlocksGoesOnWhenThePeerCloses: the reader of the sender's side is paused, so that
// only the window could tell.
func TestSenderThatBlocksGoesOnWhenThePeerCloses(t *testing.T) {
	b := newNetBench(t, 1).dial()
	b.client.verdict, b.server.verdict = env.Pause, env.Pause
	sendFrame(t, b.client.w, "pauses the server's reader")
	b.run(Second)
	sent := 0
	b.s.Spawn(0, b.serverOwner, "sender", func() {
		for range 10 {
			sendFrame(t, b.server.w, string(make([]byte, 100<<10)))
			sent++
		}
	})
	b.run(Second)
	require.Less(t, sent, 10)
	b.client.w.Close()
	b.run(Second)
	require.Equal(t, 10, sent)
	require.Empty(t, b.server.closed, "its reader is paused still")
	b.server.w.Resume()
	b.run(Second)
	require.Len(t, b.server.closed, 1)
}

// rangeBench has a file on a disk whose ranges go over the network.
func rangeBench(t testing.TB, edit func(f env.File)) (*netBench, []RangeViolation) {
	b := newNetBench(t, 1).dial()
	var violations []RangeViolation
	b.n.OnViolation = func(v RangeViolation) { violations = append(violations, v) }
	d := NewDisk(b.s, b.faults, NewEntropy(1).Stream("disk", 1), 1, 1)
	mount := d.Mount(b.serverOwner)
	b.s.Spawn(0, b.serverOwner, "server", func() {
		f := create(t, mount, "log", "0123456789")
		size := framed("<234>")[:4]
		_, err := b.server.w.Send([]env.Part{
			{Bytes: size},
			{Bytes: []byte("<")},
			{File: f, Off: 2, Len: 3},
			{Bytes: []byte(">")},
		})
		require.Equal(t, env.OK, err)
		edit(f)
		require.Equal(t, env.OK, mount.Remove(name("log")))
		require.Equal(t, env.OK, f.Close())
	})
	b.n.Stall(1, ClientPlace, Second)
	b.run(5 * Second)
	return b, violations
}

func TestRangeIsResolvedAtDelivery(t *testing.T) {
	b, violations := rangeBench(t, func(f env.File) { write(t, f, "XX", 5); write(t, f, "more", 10) })
	require.Equal(t, []string{"<234>"}, b.client.frames)
	require.Empty(t, violations)
	require.EqualValues(t, 3, b.n.Counts().RangeBytes)
}

func TestRangeThatChangesOnItsWayIsReported(t *testing.T) {
	b, violations := rangeBench(t, func(f env.File) { write(t, f, "X", 3) })
	require.Equal(t, []string{"<2X4>"}, b.client.frames, "the peer gets what Linux would send")
	require.Len(t, violations, 1)
	require.Contains(t, violations[0].Error(), "bytes [2, 5) of log changed on their way n1->c0")

	b, violations = rangeBench(t, func(f env.File) { require.Equal(t, env.OK, f.Truncate(4)) })
	require.Equal(t, []string{"<23\x00>"}, b.client.frames)
	require.Len(t, violations, 1)
}

func TestBuffersOfHalfFramesAreReleased(t *testing.T) {
	b := newNetBench(t, 1).dial()
	_, err := b.client.w.Send([]env.Part{{Bytes: framed("half a frame")[:9]}})
	require.Equal(t, env.OK, err)
	b.run(Second)
	b.n.Reset(1)
	b.run(Second)
	require.Equal(t, 1, b.server.released)
}

// TestPowerLossAfterAKill: the kernel was still sending for the dead process, from pages that the
// power loss takes away.
func TestPowerLossAfterAKillChangesNothingOnItsWay(t *testing.T) {
	for seed := range uint64(8) {
		b := newNetBench(t, seed).dial()
		b.n.OnViolation = func(v RangeViolation) { t.Errorf("seed %d: %v", seed, v.Error()) }
		d := NewDisk(b.s, b.faults, NewEntropy(1).Stream("disk", 1), 1, 1)
		mount := d.Mount(b.serverOwner)
		b.n.Stall(1, ClientPlace, Second)
		b.s.Spawn(0, b.serverOwner, "server", func() {
			f := create(t, mount, "log", "0123456789")
			require.Equal(t, env.OK, mount.SyncDir(env.Path{})) // the name, not the content
			_, err := b.server.w.Send([]env.Part{
				{Bytes: framed("012")[:4]}, {File: f, Off: 0, Len: 3},
			})
			require.Equal(t, env.OK, err)
			b.s.Park()
		})
		b.run(Second / 2)
		b.s.Kill(b.serverOwner, Killed)
		b.n.losePower(1)
		d.PowerLoss(KeepNothing{})
		b.run(Minute)
		for _, frame := range b.client.frames {
			require.Equal(t, "012", frame)
		}
	}
}
