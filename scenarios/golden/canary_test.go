//go:build canary

package golden

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// TestMain switches the canary named by STET_CANARY on, so that a person can see what a script tells
// of it: STET_CANARY=42 go test -tags canary ./scenarios/golden -run TestScripts
func TestMain(m *testing.M) {
	if name := os.Getenv("STET_CANARY"); name != "" && !invariant.SetCanary(name) {
		panic("no canary " + name)
	}
	os.Exit(m.Run())
}

// TestScriptsAreNotPlayedByWhatTheyAreAbout: a script explains something only if it goes another way
// when that is missing.
func TestScriptsAreNotPlayedByWhatTheyAreAbout(t *testing.T) {
	if os.Getenv("STET_CANARY") != "" {
		t.Skip("one is switched on")
	}
	for _, c := range []struct{ canary, script string }{
		{"34", "raft_figure_8"},
		{"34", "raft_figure_8_own_term"},
		{"42", "leader_that_hears_nobody"},
		{"1", "kip_101_truncation_by_epoch"},
		{"2", "kip_279_two_fast_failovers"},
		{"4", "kip_497_maximal_isr"},
		{"6", "kip_320_fenced_and_unknown_epochs"},
		{"10", "kip_903_old_life"},
		{"12", "last_replica_standing"},
		{"13", "last_replica_standing"},
		{"14", "kip_966_eligible_leaders"},
	} {
		for _, id := range []string{"", c.canary} {
			run := exec.Command(os.Args[0], "-test.run=^TestScripts$/^"+c.script+"$")
			run.Env = append(os.Environ(), "STET_CANARY="+id)
			out, err := run.CombinedOutput()
			require.Equal(t, id != "", err != nil, "%s with canary %q: %s", c.script, id, out)
			require.NotContains(t, string(out), "no canary")
		}
	}
}
