package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

func newBench(t *testing.T) *bench {
	path, err := filepath.Abs(root)
	require.NoError(t, err)
	return &bench{
		root: path, dir: t.TempDir(), seeds: 1, budget: time.Minute, tested: map[string]bool{},
	}
}

// plant is a mutant that adds code to a file of the core that has only a package clause.
func plant(t *testing.T, dir, code string) *site {
	s := &site{File: dir + "/doc.go", Mutated: "\n" + code + "\n"}
	source, err := os.ReadFile(filepath.Join(root, s.File))
	require.NoError(t, err)
	s.from, s.to = len(source), len(source)
	return s
}

func TestTheSimulatorKillsAndTheTreeStays(t *testing.T) {
	s := plant(t, "core/broker", `func init() { panic("assertion failed: planted") }`)
	before, err := os.ReadFile(filepath.Join(root, s.File))
	require.NoError(t, err)
	j, err := newBench(t).judge(t.Context(), s, "core/broker", true, nil)
	require.NoError(t, err)
	require.Equal(t, simulator, j.Killer)
	require.Equal(t, assertion, j.By)
	require.Equal(t, 1, j.Runs)
	require.False(t, j.open())
	after, err := os.ReadFile(filepath.Join(root, s.File))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestWhatNeverEndsIsKilledByItsCPUTime(t *testing.T) {
	b := newBench(t)
	b.budget = time.Second
	j, err := b.judge(t.Context(), plant(t, "core/broker", "func init() { for {} }"), "core/broker", true, nil)
	require.NoError(t, err)
	require.Equal(t, simulator, j.Killer)
	require.EqualValues(t, scenarios.Timeout, j.By)
}

func TestUnitTestsKillWhatTheSimulatorDoesNot(t *testing.T) {
	s := plant(t, "core/metadata", `
		import ("os"; "strings")
		func init() { if strings.HasSuffix(os.Args[0], "tests") { panic("planted") } }`)
	j, err := newBench(t).judge(t.Context(), s, "core/metadata", true, nil)
	require.NoError(t, err)
	require.Equal(t, unitTests, j.Killer)
	require.Equal(t, "panic: planted", j.By)
	require.Equal(t, len(names()), j.Runs)
	require.True(t, j.open())
}

func TestWhatDoesNotCompileIsNoMutant(t *testing.T) {
	s := &site{File: "core/env/errno.go", Mutated: "nonsense "}
	j, err := newBench(t).judge(t.Context(), s, "core/env", true, nil)
	require.NoError(t, err)
	require.Equal(t, noBuild, j.Killer)
}

func TestMoreSeedsGoOnAfterTheLast(t *testing.T) {
	b := newBench(t)
	b.seeds = 3
	s := plant(t, "core/broker", "// nothing")
	j, err := b.judge(t.Context(), s, "core/broker", true, &judged{Runs: 8, Seeds: 2, Killer: unitTests, By: "X"})
	require.NoError(t, err)
	require.Equal(t, unitTests, j.Killer)
	require.Equal(t, "X", j.By)
	require.EqualValues(t, 3, j.Seeds)
	require.Equal(t, 8+len(names()), j.Runs)
}

func TestWhatIsNotReachedIsNotRun(t *testing.T) {
	j, err := newBench(t).judge(t.Context(), plant(t, "core/env", "// nothing"), "core/env", false, nil)
	require.NoError(t, err)
	require.Equal(t, nobody, j.Killer)
	require.Zero(t, j.Runs)
	require.EqualValues(t, 1, j.Seeds)
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
