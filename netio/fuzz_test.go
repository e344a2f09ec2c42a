package netio

import (
	"encoding/binary"
	"math"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

const (
	fuzzFrameLimit  = 1 << 16 // of the reader, as a node has one
	fuzzStreamLimit = 1 << 14 // bytes sent
	fuzzWait        = 10 * time.Second
)

// cutFrames is what must arrive of a stream: its whole frames, and how the connection ends if the
// stream has a length that nobody may answer; otherwise the peer ends it.
func cutFrames(stream []byte) (frames []string, end env.Errno) {
	for len(stream) >= 4 {
		size := int32(binary.BigEndian.Uint32(stream))
		switch {
		case size < 0:
			return frames, env.EMalformed
		case size > fuzzFrameLimit:
			return frames, env.OK
		case int(size) > len(stream)-4:
			return frames, env.EReset
		}
		frames = append(frames, string(stream[4:4+size]))
		stream = stream[4+size:]
	}
	return frames, env.EReset
}

// FuzzReceive sends any bytes, cut anyhow, over a real connection: what arrives are the frames that
// they contain, and a length that lies takes no memory.
func FuzzReceive(f *testing.F) {
	f.Add(framed("one", "", "three"), uint16(1))
	f.Add(append(framed("whole"), 0, 0, 1, 0, 'h', 'a'), uint16(5))
	f.Add(append(framed("fine"), 0x7f, 0xff, 0xff, 0xff), uint16(100))
	f.Add([]byte{0x80, 0, 0, 0, 1}, uint16(0))
	f.Add(framed(string(make([]byte, 5000)), "behind"), uint16(4099))
	n := newNode()
	n.reserve = func(size int32) env.Verdict {
		if size > fuzzFrameLimit {
			return env.Hangup
		}
		return env.Continue
	}
	l, err := Default().Listen("127.0.0.1:0")
	require.NoError(f, err)
	go l.Serve(n)
	f.Cleanup(func() { l.Close() })
	runs := 0
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		stream = stream[:min(len(stream), fuzzStreamLimit)]
		frames, end := cutFrames(stream)
		// The frames twice and their blocks, one that is never whole, and what a connection takes.
		allowed := uint64(4*len(stream) + 128*len(frames) + fuzzFrameLimit + 1<<16)
		// The runtime counts for the whole process, and the fuzzing engine allocates beside the test
		// now and then. What the stream itself makes the reader allocate comes back each time.
		least := uint64(math.MaxUint64)
		for try := 0; try < 5 && least >= allowed; try++ {
			runs++
			least = min(least, allocated(func() {
				c, err := fuzzDialer(runs).Dial("tcp", l.Addr().String())
				require.NoError(t, err)
				defer c.Close()
				<-n.writers
				sendCut(c, stream, max(int(cut), len(stream)/16, 1))
				late := time.After(fuzzWait)
				for _, want := range frames {
					require.True(t, want == next(t, n.frames, late))
				}
				if end == env.EReset {
					require.NoError(t, c.(*net.TCPConn).CloseWrite())
				}
				require.Equal(t, end, next(t, n.ended, late))
			}))
		}
		require.Less(t, least, allowed)
		require.Empty(t, n.frames, "a frame that was not sent whole")
		require.Zero(t, n.live.Load(), "buffers were not released")
	})
}

// allocated measures the bytes that the process takes from the allocator while f runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// fuzzDialer dials from another address of the loopback after some runs: closed connections hold
// their ports for a minute, and an address has fewer ports than there are runs in that time.
func fuzzDialer(run int) *net.Dialer {
	ip := net.IPv4(127, 1, byte(run>>20), byte(run>>12))
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
}

// sendCut writes in pieces. The other side may hang up before the end.
func sendCut(c net.Conn, stream []byte, piece int) {
	for len(stream) > 0 {
		n := min(piece, len(stream))
		if _, err := c.Write(stream[:n]); err != nil {
			return
		}
		stream = stream[n:]
	}
}

func next[T any](t *testing.T, from chan T, late <-chan time.Time) (v T) {
	select {
	case v = <-from:
	case <-late:
		require.Fail(t, "nothing arrives")
	}
	return v
}
