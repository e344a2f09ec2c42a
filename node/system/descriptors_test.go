package system

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTheSoftLimitOnOpenFilesIsRaised runs itself in a process with few descriptors.
func TestTheSoftLimitOnOpenFilesIsRaised(t *testing.T) {
	if os.Getenv("STET_TEST_DESCRIPTORS") == "" {
		cmd := exec.Command("bash", "-c", `ulimit -Sn 100; ulimit -Hn 500; exec "$0" "$@"`, os.Args[0],
			"-test.run", "^TestTheSoftLimitOnOpenFilesIsRaised$")
		cmd.Env = append(os.Environ(), "STET_TEST_DESCRIPTORS=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
		return
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 500}))
	var log bytes.Buffer
	d, err := raiseDescriptors(slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.Equal(t, descriptors{500, 250, 186}, d)
	var now unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &now))
	require.EqualValues(t, 500, now.Cur)
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "limit=500")
}

func TestEnoughDescriptorsAreNotWorthAWarning(t *testing.T) {
	var log bytes.Buffer
	d, err := raiseDescriptors(slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.Equal(t, d.limit >= fewDescriptors, log.Len() == 0)
	require.Less(t, d.files+d.conns, d.limit)
}
