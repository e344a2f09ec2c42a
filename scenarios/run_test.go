package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedsPerScenario keeps `go test` short; campaigns run thousands.
const seedsPerScenario = 6

func TestEveryScenarioPassesItsFirstSeeds(t *testing.T) {
	for _, s := range All() {
		for seed := range uint64(seedsPerScenario) {
			r := Run(s, seed+100, Options{})
			require.Equal(t, Passed, r.Check, "%s\n%v", r.Line(), r.Evidence)
			require.Positive(t, r.Faults)
		}
	}
}

func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	for _, s := range All() {
		var first, second bytes.Buffer
		a := Run(s, 7, Options{Trace: &first})
		b := Run(s, 7, Options{Trace: &second})
		require.Equal(t, a.Hash, b.Hash, s.Name)
		require.Equal(t, first.String(), second.String(), s.Name)
		require.Equal(t, a.Hash, Run(s, 7, Options{}).Hash, "the trace is no part of the hash")
		require.NotEqual(t, a.Hash, Run(s, 8, Options{}).Hash)
	}
}

func TestReplayComparesATraceEventByEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	var trace bytes.Buffer
	Run(singleNodeKill(), 3, Options{Trace: &trace})
	require.NoError(t, os.WriteFile(path, trace.Bytes(), 0o600))
	kind, err := FileKind(path)
	require.NoError(t, err)
	require.Equal(t, "trace", kind)
	r, err := ReplayTrace(path)
	require.NoError(t, err)
	require.Equal(t, Passed, r.Check, r.Evidence)

	lines := bytes.SplitAfter(trace.Bytes(), []byte("\n"))
	lines[40] = []byte("{\"i\":1}\n")
	changed := path + "-changed"
	require.NoError(t, os.WriteFile(changed, bytes.Join(lines, nil), 0o600))
	r, err = ReplayTrace(changed)
	require.NoError(t, err)
	require.Equal(t, Nondeterminism, r.Check)
	divergent, err := CompareTraces(path, changed)
	require.NoError(t, err)
	require.Contains(t, divergent, "line 41")
}

func TestAnUnknownScenarioIsAnsweredWithTheNearOnes(t *testing.T) {
	s, near := Find("single-node-kil")
	require.Nil(t, s)
	require.Equal(t, "single-node-kill", near[0])
	s, _ = Find("disk-faults")
	require.NotNil(t, s)
	_, near = Find("xyz")
	require.NotEmpty(t, near)
}
