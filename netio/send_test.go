package netio

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

func TestPartsArriveInOrder(t *testing.T) {
	segment, content := newFile(t, 3<<20)
	config := Default()
	config.Counters = new(Counters)
	n := newNode()
	c, w := connect(t, serve(t, config, n), n)
	var head, copied, sendfile int64
	rapid.Check(t, func(t *rapid.T) {
		var parts []env.Part
		var want []byte
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			size := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(32_000, 33_000),
				rapid.IntRange(0, 1<<20)).Draw(t, "size")
			off := rapid.IntRange(0, len(content)-size).Draw(t, "off")
			part := env.Part{Off: int64(off), Len: int64(size)}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				part = env.Part{Bytes: content[off : off+size]}
				head += int64(size)
			case 1:
				part.File = &segment.file
				copied += int64(size)
			case 2:
				part.File = segment
				if size >= sendfileMinBytes {
					sendfile += int64(size)
				} else {
					copied += int64(size)
				}
			}
			parts = append(parts, part)
			want = append(want, content[off:off+size]...)
		}
		done := make(chan env.Errno)
		go func() {
			sent, errno := w.Send(parts)
			if errno == env.OK && sent != int64(len(want)) {
				errno = env.EShort
			}
			done <- errno
		}()
		require.True(t, bytes.Equal(want, readN(t, c, len(want))))
		require.Equal(t, env.OK, <-done)
	})
	require.Equal(t, head, config.Counters.HeadBytes.Load())
	require.Equal(t, copied, config.Counters.RangeCopyBytes.Load())
	require.Equal(t, sendfile, config.Counters.SendfileBytes.Load())
	require.Zero(t, segment.loans)
}

func TestMorePartsThanOneCallTakes(t *testing.T) {
	segment, content := newFile(t, 4096)
	n := newNode()
	c, w := connect(t, serve(t, Default(), n), n)
	for _, count := range []int{maxIovecs - 1, maxIovecs, maxIovecs + 1, 2 * maxIovecs, 5000} {
		parts := make([]env.Part, count)
		var want []byte
		for i := range parts {
			at := i % len(content)
			parts[i] = env.Part{Bytes: content[at : at+1]}
			if i%2 == 1 {
				parts[i] = env.Part{File: segment, Off: int64(at), Len: 1}
			}
			want = append(want, content[at])
		}
		sent, errno := w.Send(parts)
		require.Equal(t, env.OK, errno)
		require.EqualValues(t, count, sent)
		require.Equal(t, want, readN(t, c, count))
	}
}

func TestPeerThatTakesNothingIsGivenUp(t *testing.T) {
	config := Default()
	config.Stall = 20 * time.Millisecond
	n := newNode()
	l := serve(t, config, n)
	segment, _ := newFile(t, 1<<20)
	for _, part := range []env.Part{{Bytes: make([]byte, 64<<20)}, {File: segment, Len: 1 << 20}} {
		_, w := connect(t, l, n)
		errno := env.OK
		for errno == env.OK {
			_, errno = w.Send([]env.Part{part})
		}
		require.Equal(t, env.ETimedOut, errno)
		require.Equal(t, env.OK, <-n.ended)
	}
	require.Zero(t, segment.loans)
}

func TestFileThatEndsInsideARangeBreaksTheConnection(t *testing.T) {
	n := newNode()
	l := serve(t, Default(), n)
	segment, _ := newFile(t, 40_000)
	for _, f := range []env.File{segment, &segment.file} {
		_, w := connect(t, l, n)
		_, errno := w.Send([]env.Part{{Bytes: []byte("head")}, {File: f, Len: 50_000}})
		require.Equal(t, env.EIO, errno)
		require.Equal(t, env.OK, <-n.ended)
	}
}

func TestClosedFileBreaksTheConnection(t *testing.T) {
	n := newNode()
	segment, _ := newFile(t, 40_000)
	segment.closed = true
	_, w := connect(t, serve(t, Default(), n), n)
	_, errno := w.Send([]env.Part{{File: segment, Len: 40_000}})
	require.Equal(t, env.EOther, errno)
}

func TestSendDoesNotAllocate(t *testing.T) {
	segment, _ := newFile(t, 100_000)
	n := newNode()
	c, w := connect(t, serve(t, Default(), n), n)
	parts := []env.Part{
		{Bytes: make([]byte, 50)},
		{File: segment, Len: 1000},
		{Bytes: make([]byte, 50)},
		{File: segment, Len: 50_000},
	}
	sink := make([]byte, 51_100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		w.Send(parts)
		for left := len(sink); left > 0; {
			n, err := c.Read(sink[:left])
			require.NoError(t, err)
			left -= n
		}
	}))
}
