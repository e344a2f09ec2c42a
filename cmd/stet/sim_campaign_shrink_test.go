//go:build canary

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestACampaignShrinksItsFailures looks for what somebody finds who has nothing but the directory.
func TestACampaignShrinksItsFailures(t *testing.T) {
	dir := t.TempDir()
	stet := filepath.Join(dir, "stet")
	built, err := exec.Command("go", "build", "-tags", "canary", "-o", stet, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	out, err := exec.Command(stet, "sim", "campaign", "--scenario", "disk-faults", "--seeds", "1..4",
		"--canary", "65", "--out", dir, "--shrink-budget", "20s").CombinedOutput()
	var code *exec.ExitError
	require.ErrorAs(t, err, &code)
	require.Equal(t, 10, code.ExitCode())
	require.Contains(t, string(out), "shrunk R10 faults=")
	for _, name := range []string{"class-*.small.schedule", "class-*.small.txt", "index.html"} {
		found, err := filepath.Glob(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotEmpty(t, found, name)
	}
}
