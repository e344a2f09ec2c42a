package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScheduleOfTheCommand writes a schedule, runs it again, and edits it.
func TestScheduleOfTheCommand(t *testing.T) {
	dir := t.TempDir()
	stet := filepath.Join(dir, "stet")
	out, err := exec.Command("go", "build", "-o", stet, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	file := filepath.Join(dir, "run.schedule")
	run := func(args ...string) (string, error) {
		out, err := exec.Command(stet, append([]string{"sim"}, args...)...).CombinedOutput()
		return string(out), err
	}
	first, err := run("run", "--scenario", "single-node-power-loss", "--seed", "7", "--schedule", file)
	require.NoError(t, err, first)
	again, err := run("replay", file)
	require.NoError(t, err, again)
	require.Equal(t, hashOf(first), hashOf(again))
	require.NotContains(t, again, "differs")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	write := func(s string) { require.NoError(t, os.WriteFile(file, []byte(s), 0o600)) }
	write(string(text) + "\nfault n1 sync 99999 of nowhere: eio\n")
	out2, err := run("replay", file)
	require.NoError(t, err, out2)
	require.Contains(t, out2, "did not happen: n1 sync 99999 of nowhere: eio")

	write(strings.Replace(string(text), hashOf(first), strings.Repeat("0", 32), 1))
	out2, err = run("replay", file)
	require.Contains(t, out2, "the hash differs")
	// A hash of this commit and toolchain has to come again, if the build knows its commit.
	known := strings.Contains(string(text), "\ncommit ")
	require.Equal(t, known, err != nil, out2)
	require.Equal(t, known, strings.Contains(out2, "FAIL nondeterminism"), out2)

	write(string(text) + "\nweather fine\n")
	out2, err = run("replay", file)
	require.Error(t, err)
	require.Contains(t, out2, file+": line ")
}

func hashOf(out string) string {
	_, hash, _ := strings.Cut(out, "hash=")
	return strings.TrimSpace(hash)
}
