package netio

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stet/core/env"
)

// exhaustDescriptors leaves the process without a single free descriptor until the test ends, or
// until what it returns is called. It opens what is left under a limit a little above what is used.
func exhaustDescriptors(t *testing.T) (free func()) {
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	probe, err := os.Open(os.DevNull)
	require.NoError(t, err)
	low := before
	low.Cur = uint64(probe.Fd()) + 5
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	files := []*os.File{probe}
	free = func() {
		for _, f := range files {
			f.Close()
		}
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
	}
	t.Cleanup(func() { free() })
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			require.ErrorIs(t, err, unix.EMFILE)
			return free
		}
		files = append(files, f)
	}
}

// TestAcceptSurvivesALackOfDescriptors: it neither spins nor gives up, and who came meanwhile is
// served when there are descriptors again.
func TestAcceptSurvivesALackOfDescriptors(t *testing.T) {
	config := Default()
	config.Counters = new(Counters)
	n := newNode()
	l := serve(t, config, n)
	spare, err := os.Open(os.DevNull)
	require.NoError(t, err)
	free := exhaustDescriptors(t)
	require.NoError(t, spare.Close()) // for the client
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer c.Close()

	failures := &config.Counters.AcceptFailures
	for failures.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	for first := failures.Load(); failures.Load() < first+3; {
		time.Sleep(time.Millisecond)
	}
	require.Greater(t, time.Since(begin), 100*time.Millisecond, "three more attempts")
	free()
	write(t, c, framed("patience"))
	require.Equal(t, "patience", <-n.frames)
}

func TestConnectionsBeyondTheLimitAreRefused(t *testing.T) {
	config := Default()
	config.MaxConns = 2
	config.Counters = new(Counters)
	n := newNode()
	l := serve(t, config, n)
	first, _ := connect(t, l, n)
	second, _ := connect(t, l, n)
	third, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	_, err = third.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 1, config.Counters.Refused.Load())
	write(t, second, framed("still here"))
	require.Equal(t, "still here", <-n.frames)

	first.Close()
	require.Equal(t, env.EReset, <-n.ended)
	for l.Conns() == 2 {
		time.Sleep(time.Millisecond)
	}
	fourth, _ := connect(t, l, n)
	write(t, fourth, framed("in"))
	require.Equal(t, "in", <-n.frames)
}
