package netio

import (
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

func TestFramesArriveInOrderHoweverTheyAreCut(t *testing.T) {
	n := newNode()
	l := serve(t, Default(), n)
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(4000, 4200),
			rapid.IntRange(0, 200_000)), 1, 8).Draw(rt, "sizes")
		var frames []string
		for i, size := range sizes {
			frames = append(frames, strings.Repeat(string(rune('a'+i)), size))
		}
		c, _ := connect(t, l, n)
		stream := framed(frames...)
		for len(stream) > 0 {
			cut := min(rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 5000),
				rapid.IntRange(1, 1<<20)).Draw(rt, "cut"), len(stream))
			write(rt, c, stream[:cut])
			stream = stream[cut:]
		}
		for _, want := range frames {
			require.True(rt, want == <-n.frames)
		}
		c.Close()
		require.Equal(rt, env.EReset, <-n.ended)
	})
}

func TestSmallRequestCostsOneRead(t *testing.T) {
	config := Default()
	config.Counters = new(Counters)
	n := newNode()
	l := serve(t, config, n)
	c, w := connect(t, l, n)
	const requests = 200
	for range requests {
		write(t, c, framed("request"))
		require.Equal(t, "request", <-n.frames)
		_, errno := w.Send([]env.Part{{Bytes: framed("answer")}})
		require.Equal(t, env.OK, errno)
		readN(t, c, 10)
	}
	// A read now and then finds nothing: an arrival that was already read still wakes.
	require.LessOrEqual(t, config.Counters.Reads.Load(), int64(requests*11/10))
	require.EqualValues(t, requests, config.Counters.Writes.Load())
	require.EqualValues(t, requests*11, config.Counters.ReceivedBytes.Load())
}

func TestLargeRequestCostsTwoReads(t *testing.T) {
	config := Default()
	config.Counters = new(Counters)
	n := newNode()
	c, w := connect(t, serve(t, config, n), n)
	const requests = 100
	frame := framed(strings.Repeat("x", 64<<10))
	for range requests {
		write(t, c, frame)
		<-n.frames
		_, errno := w.Send([]env.Part{{Bytes: framed("answer")}})
		require.Equal(t, env.OK, errno)
		readN(t, c, 10)
	}
	// The rest of a frame may arrive in pieces on a busy machine.
	require.LessOrEqual(t, config.Counters.Reads.Load(), int64(requests*5/2))
}

// TestEndBehindARequestIsNoticed covers the trap of reading no further after a short read.
func TestEndBehindARequestIsNoticed(t *testing.T) {
	n := newNode()
	l := serve(t, Default(), n)
	for range 50 {
		c, w := connect(t, l, n)
		write(t, c, framed("request"))
		require.NoError(t, c.CloseWrite())
		require.Equal(t, "request", <-n.frames)
		require.Equal(t, env.EReset, <-n.ended)
		_, errno := w.Send([]env.Part{{Bytes: []byte("too late")}})
		require.Equal(t, env.EReset, errno)
	}
}

// TestResetTogetherWithARequestIsNoticed: one wake-up tells of both, and TCP_INQ of neither.
func TestResetTogetherWithARequestIsNoticed(t *testing.T) {
	config := Default()
	config.Stall = 20 * time.Millisecond
	n := newNode()
	l := serve(t, config, n)
	for range 200 {
		c, _ := connect(t, l, n)
		write(t, c, framed("request"))
		require.NoError(t, c.SetLinger(0))
		require.NoError(t, c.Close())
		select {
		case errno := <-n.ended:
			require.Equal(t, env.EReset, errno)
		case <-time.After(10 * time.Second):
			require.Fail(t, "the connection goes on for ever")
		}
	}
}

func TestKernelWithoutInqIsReadUntilNothingIsLeft(t *testing.T) {
	n := newNode()
	n.noInq = true
	l := serve(t, Default(), n)
	for range 20 {
		c, _ := connect(t, l, n)
		for range 20 {
			write(t, c, framed("one", strings.Repeat("2", 10_000)))
			require.Equal(t, "one", <-n.frames)
			require.Len(t, <-n.frames, 10_000)
		}
		require.NoError(t, c.CloseWrite())
		require.Equal(t, env.EReset, <-n.ended)
	}
}

func TestNegativeLengthIsMalformed(t *testing.T) {
	n := newNode()
	c, _ := connect(t, serve(t, Default(), n), n)
	write(t, c, []byte{0x80, 0, 0, 0})
	require.Equal(t, env.EMalformed, <-n.ended)
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestRefusedSizeEndsTheConnectionBeforeMemoryIsTaken(t *testing.T) {
	n := newNode()
	n.reserve = func(size int32) env.Verdict {
		if size == 1<<31-1 {
			return env.Hangup
		}
		return env.Continue
	}
	c, _ := connect(t, serve(t, Default(), n), n)
	write(t, c, append(framed("fine"), 0x7f, 0xff, 0xff, 0xff))
	require.Equal(t, env.OK, <-n.ended)
	require.Equal(t, "fine", <-n.frames)
	require.Zero(t, n.live.Load())
}

func TestHangupAfterAFrame(t *testing.T) {
	n := newNode()
	n.deliver = func(string) env.Verdict { return env.Hangup }
	c, _ := connect(t, serve(t, Default(), n), n)
	write(t, c, framed("one", "two"))
	require.Equal(t, env.OK, <-n.ended)
	require.Equal(t, "one", <-n.frames)
	require.Empty(t, n.frames)
}

func TestReserveIsAskedAgainAfterResume(t *testing.T) {
	n := newNode()
	var asked atomic.Int32
	paused := make(chan struct{}, 1)
	n.reserve = func(size int32) env.Verdict {
		require.EqualValues(t, 5, size)
		if asked.Add(1) < 3 {
			paused <- struct{}{}
			return env.Pause
		}
		return env.Continue
	}
	c, w := connect(t, serve(t, Default(), n), n)
	write(t, c, framed("hello"))
	for range 2 {
		<-paused
		require.Empty(t, n.frames)
		w.Resume()
	}
	require.Equal(t, "hello", <-n.frames)
	require.EqualValues(t, 3, asked.Load())
}

func TestPauseAfterAFrameHoldsTheNext(t *testing.T) {
	n := newNode()
	n.deliver = func(frame string) env.Verdict { return env.Pause }
	c, w := connect(t, serve(t, Default(), n), n)
	w.Resume() // before any Pause: of no effect
	write(t, c, framed("one", "two", "three"))
	require.Equal(t, "one", <-n.frames)
	require.Empty(t, n.frames)
	w.Resume()
	require.Equal(t, "two", <-n.frames)
	w.Resume()
	require.Equal(t, "three", <-n.frames)
	c.Close()
	w.Resume()
	require.Equal(t, env.EReset, <-n.ended)
}

// TestResumeBeforeItsPauseIsNotLost: the budget may be free again before the verdict arrives.
func TestResumeBeforeItsPauseIsNotLost(t *testing.T) {
	n := newNode()
	writer := make(chan env.ConnWriter, 1)
	n.deliver = func(string) env.Verdict {
		w := <-writer
		w.Resume()
		writer <- w
		return env.Pause
	}
	c, w := connect(t, serve(t, Default(), n), n)
	writer <- w
	for range 1000 {
		write(t, c, framed("x"))
		<-n.frames
	}
}

func TestCloseEndsAPausedConnection(t *testing.T) {
	n := newNode()
	n.deliver = func(string) env.Verdict { return env.Pause }
	c, w := connect(t, serve(t, Default(), n), n)
	write(t, c, framed("x"))
	<-n.frames
	w.Close()
	w.Close()
	require.Equal(t, env.OK, <-n.ended)
}

func TestStallWithinAFrameEndsTheConnection(t *testing.T) {
	config := Default()
	config.Stall = 20 * time.Millisecond
	n := newNode()
	l := serve(t, config, n)
	for _, half := range []string{"\x00\x00", "\x00\x00\x00\x09half"} {
		c, _ := connect(t, l, n)
		write(t, c, append(framed("whole"), half...))
		require.Equal(t, "whole", <-n.frames)
		require.Equal(t, env.ETimedOut, <-n.ended)
	}
}

func TestSilenceBetweenFramesDoesNotEndTheConnection(t *testing.T) {
	config := Default()
	config.Stall = 10 * time.Millisecond
	n := newNode()
	l := serve(t, config, n)
	c, _ := connect(t, l, n)
	write(t, c, []byte{0, 0}) // sets the deadline
	write(t, c, []byte{0, 1, 'a'})
	require.Equal(t, "a", <-n.frames)

	// Another connection stalls within a frame, for longer than the first one's deadline.
	other, _ := connect(t, l, n)
	for range 3 {
		write(t, other, []byte{0, 0})
		require.Equal(t, env.ETimedOut, <-n.ended)
		other, _ = connect(t, l, n)
	}
	write(t, c, framed("b"))
	require.Equal(t, "b", <-n.frames)
}

func TestListenerCloseLetsConnectionsGoOn(t *testing.T) {
	n := newNode()
	l := serve(t, Default(), n)
	c, w := connect(t, l, n)
	require.NoError(t, l.Close())
	write(t, c, framed("still here"))
	require.Equal(t, "still here", <-n.frames)
	_, errno := w.Send([]env.Part{{Bytes: []byte("yes")}})
	require.Equal(t, env.OK, errno)
	require.Equal(t, "yes", string(readN(t, c, 3)))
	l.CloseConns()
	require.Equal(t, env.OK, <-n.ended)
}

func TestListenerTurnsAwayUntilItLetsIn(t *testing.T) {
	l, err := Default().Listen("127.0.0.1:0")
	require.NoError(t, err)
	l.TurnAway()
	for range 3 {
		early, err := net.Dial("tcp", l.Addr().String())
		if err == nil { // the reset has not come yet
			_, err = early.Read(make([]byte, 1))
			early.Close()
		}
		require.ErrorIs(t, err, syscall.ECONNRESET)
	}
	l.LetIn()
	waits, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer waits.Close()
	n := newNode()
	served := make(chan struct{})
	go func() {
		l.Serve(n)
		close(served)
	}()
	write(t, waits, framed("in"))
	require.Equal(t, "in", <-n.frames)
	require.NoError(t, l.Close())
	<-served
	l.CloseConns()
}

func TestListenerThatTurnsAwayCloses(t *testing.T) {
	l, err := Default().Listen("127.0.0.1:0")
	require.NoError(t, err)
	l.TurnAway()
	require.NoError(t, l.Close())
}

func TestRefusedConnectionIsClosed(t *testing.T) {
	n := newNode()
	n.refuse = true
	l := serve(t, Default(), n)
	require.NoError(t, Default().Dial(t.Context(), l.Addr().String(), newNode()))
	peer := newNode()
	require.NoError(t, Default().Dial(t.Context(), l.Addr().String(), peer))
	require.Equal(t, env.EReset, <-peer.ended)
}

func TestDialledConnectionCarriesFramesBothWays(t *testing.T) {
	server, client := newNode(), newNode()
	l := serve(t, Default(), server)
	require.NoError(t, Default().Dial(t.Context(), l.Addr().String(), client))
	there, back := <-client.writers, <-server.writers
	there.Send([]env.Part{{Bytes: framed("question")}})
	require.Equal(t, "question", <-server.frames)
	back.Send([]env.Part{{Bytes: framed("answer")}})
	require.Equal(t, "answer", <-client.frames)
	there.Close()
	require.Equal(t, env.OK, <-client.ended)
	require.Equal(t, env.EReset, <-server.ended)
}
