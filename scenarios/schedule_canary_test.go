//go:build canary

package scenarios

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// TestASchedulePutsABugBackWithoutItsSeed shows for a few bugs that what a seed has found, written
// down as a schedule, fails the same check after every random draw has moved. A switch can not be
// turned off again, so each bug has a process of its own.
func TestASchedulePutsABugBackWithoutItsSeed(t *testing.T) {
	const variable = "STET_TEST_CANARY"
	if id := os.Getenv(variable); id != "" {
		require.True(t, invariant.SetCanary(id))
		moveDraws(t, id)
		return
	}
	for _, id := range []string{"50", "51", "53", "61", "65"} {
		t.Run(id, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestASchedulePutsABugBackWithoutItsSeed$")
			cmd.Env = append(os.Environ(), variable+"="+id)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}

// moveDraws finds a seed that fails and runs its schedule with all draws moved.
func moveDraws(t *testing.T, id string) {
	scenario, _ := Find("disk-faults")
	for seed := uint64(1); seed <= 60; seed++ {
		first := Run(scenario, seed, Options{Record: true})
		if first.Check == Passed || first.Check == Panic {
			continue
		}
		for salt := uint64(1); salt <= 3; salt++ {
			moved := Run(scenario, seed, Options{Schedule: first.Schedule, Salt: salt})
			require.Equal(t, first.Check, moved.Check, "%s\n%s", first.Line(), moved.Line())
			require.Empty(t, moved.Missed)
		}
		t.Logf("canary %s: seed %d fails %s, with other draws too", id, seed, first.Check)
		return
	}
	t.Fatalf("canary %s: no seed fails", id)
}
