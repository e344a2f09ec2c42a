package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newBench(t *testing.T) *bench {
	path, err := filepath.Abs(root)
	require.NoError(t, err)
	return &bench{
		root: path, dir: t.TempDir(), seeds: 1, budget: time.Minute, normals: map[string]time.Duration{},
	}
}

// slip finds the mutant of a function of the core.
func slip(t *testing.T, file, function, original, mutated string) *site {
	source, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	found, err := sites(file, source)
	require.NoError(t, err)
	for i := range found {
		s := &found[i]
		if s.Function == function && s.Original == original && s.Mutated == mutated {
			return s
		}
	}
	require.Failf(t, "no such mutant", "%s: %s", function, original)
	return nil
}

func TestTheSimulatorKillsAndTheTreeStays(t *testing.T) {
	s := slip(t, "core/broker/broker.go", "Broker.Turn", "subject != nil", "!(subject != nil)")
	before, err := os.ReadFile(filepath.Join(root, s.File))
	require.NoError(t, err)
	j, err := newBench(t).judge(t.Context(), s, "core/broker", nil)
	require.NoError(t, err)
	require.Equal(t, simulator, j.Killer)
	require.NotEmpty(t, j.By)
	require.Equal(t, 1, j.Runs)
	require.False(t, j.open())
	after, err := os.ReadFile(filepath.Join(root, s.File))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestUnitTestsKillWhatTheyKill(t *testing.T) {
	s := slip(t, "core/metadata/brokers.go", "Heartbeat", "b.Fenced && !beat.WantFence",
		"b.Fenced || !beat.WantFence")
	w, err := newBench(t).set(s)
	require.NoError(t, err)
	by, err := w.test(t.Context(), "core/metadata")
	require.NoError(t, err)
	require.Equal(t, "TestHeartbeatUnfencesOnceTheBrokerHasSeenItself", by)
}

func TestWhatDoesNotCompileIsNoMutant(t *testing.T) {
	s := &site{File: "core/env/errno.go", Mutated: "nonsense "}
	j, err := newBench(t).judge(t.Context(), s, "core/env", nil)
	require.NoError(t, err)
	require.Equal(t, noBuild, j.Killer)
}

func TestMoreSeedsGoOnAfterTheLast(t *testing.T) {
	b := newBench(t)
	b.seeds = 3
	s := &site{File: "core/env/errno.go", Mutated: "// comment\n"}
	j, err := b.judge(t.Context(), s, "core/env", &judged{Runs: 8, Seeds: 2, Killer: unitTests, By: "X"})
	require.NoError(t, err)
	require.Equal(t, unitTests, j.Killer)
	require.Equal(t, "X", j.By)
	require.EqualValues(t, 3, j.Seeds)
	require.Equal(t, 8+len(names()), j.Runs)
	require.False(t, j.Cut)
}

func TestAPackageWithoutTestsKillsNothing(t *testing.T) {
	w, err := newBench(t).set(&site{File: "core/env/errno.go", Mutated: "// comment\n"})
	require.NoError(t, err)
	by, err := w.test(t.Context(), "core/env")
	require.NoError(t, err)
	require.Empty(t, by)
}

func TestTestsOutputNamesItsFailure(t *testing.T) {
	for out, want := range map[string]string{
		"ok\n--- FAIL: TestX (0.1s)\n    --- FAIL: TestX/y\n": "TestX",
		"panic: assertion failed: x\n\ngoroutine 1":           "panic: assertion failed: x",
		"panic: test timed out after 1m0s":                    "timeout",
		"fatal error: runtime: out of memory":                 "fatal error: runtime: out of memory",
		"":                                                    "ended",
	} {
		require.Equal(t, want, firstFailure(out))
	}
}
