//go:build canary

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShrinkOfTheCommand puts a bug back, finds a seed that fails, and shrinks what happened: what is
// left is small, fails the same check, and is told on a page.
func TestShrinkOfTheCommand(t *testing.T) {
	dir := t.TempDir()
	stet := filepath.Join(dir, "stet")
	out, err := exec.Command("go", "build", "-tags", "canary", "-o", stet, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	regress := filepath.Join(dir, "scenarios", "regress", "testdata")
	require.NoError(t, os.MkdirAll(regress, 0o755))
	run := func(args ...string) (string, int) {
		cmd := exec.Command(stet, append([]string{"sim"}, args...)...)
		cmd.Dir = dir
		out, _ := cmd.Output()
		return string(out), cmd.ProcessState.ExitCode()
	}

	const scenario, bug = "disk-faults", "append-after-failed-sync"
	code := 0
	for seed := 1; seed <= 50 && code == 0; seed++ {
		_, code = run("run", "--scenario", scenario, "--seed", strconv.Itoa(seed), "--canary", bug,
			"--schedule", "run.schedule")
	}
	require.NotZero(t, code, "a seed that fails")

	text, code := run("shrink", "run.schedule", "--regress", "lost")
	require.Zero(t, code, text)
	line := text[strings.LastIndexByte(strings.TrimSpace(text), '\n')+1:]
	require.Regexp(t, `^shrunk S6 faults=1/\d+ ops=[1-9]/\d\d\d wall=[\d.]+s out=run.small.schedule\n$`, line)

	text, code = run("replay", "run.small.schedule")
	require.Equal(t, 10, code)
	require.Contains(t, text, "FAIL S6 ")
	require.NotContains(t, text, "differs")
	require.NotContains(t, text, "did not happen")
	page, err := os.ReadFile(filepath.Join(dir, "run.small.txt"))
	require.NoError(t, err)
	require.Contains(t, string(page), "FAULT: eio n1")
	require.LessOrEqual(t, strings.Count(string(page), "\n"), 60)
	require.FileExists(t, filepath.Join(regress, "lost.schedule"))

	small, err := os.ReadFile(filepath.Join(dir, "run.small.schedule"))
	require.NoError(t, err)
	sound := strings.Replace(string(small), "canaries "+bug+"\n", "", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sound.schedule"), []byte(sound), 0o600))
	_, code = run("shrink", "sound.schedule")
	require.Equal(t, 1, code, "without the bug it does not fail")
}
