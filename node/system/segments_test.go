package system_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// openUnder counts this process's descriptors of files below dir.
func openUnder(t *testing.T, dir string) (n int) {
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil &&
			strings.HasPrefix(to, dir) && strings.Contains(to, benchTopic+"-0/") {
			n++
		}
	}
	return n
}

// TestReadingManySegmentsKeepsFewOpen reads cold segments one after the other, over and over.
func TestReadingManySegmentsKeepsFewOpen(t *testing.T) {
	const limit, segments = 6, 12
	o := options(t)
	o.Node.MaxOpenFiles = limit
	require.NoError(t, o.Node.Broker.Topic.Set("segment.bytes", "1048576"))
	addr, stop := serve(t, o)
	c := dialRaw(t, addr)
	for range 2 * segments {
		requireAppended(t, c, produceFrame(600_000))
	}
	files, err := filepath.Glob(filepath.Join(o.Directories[0], benchTopic+"-0", "*.log"))
	require.NoError(t, err)
	require.Greater(t, len(files), segments)
	for range 3 {
		for _, file := range files {
			base, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(file), ".log"), 10, 64)
			require.NoError(t, err)
			require.Greater(t, c.trip(t, fetchFrame(base, 1<<20)), 500_000)
		}
		// Beyond the limit are the segments that no sync has covered.
		require.LessOrEqual(t, openUnder(t, o.Directories[0]), 2*limit)
	}
	require.NoError(t, stop())
}
