//go:build slow

package scenarios

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Builds that plant nondeterminism on purpose are told where two runs of them part, with both
// sides and what came before.
func TestPlantedNondeterminismIsLocated(t *testing.T) {
	for _, plant := range []string{"plant_random", "plant_clock", "plant_maprange"} {
		t.Run(plant, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "stet")
			out, err := exec.Command("go", "build", "-tags", plant, "-o", binary, "stet/cmd/stet").
				CombinedOutput()
			require.NoError(t, err, string(out))
			out, err = exec.Command(binary, "sim", "run", "--scenario", "single-node-kill",
				"--seed", "3", "--twice").CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, ExitNondeterminism, exit.ExitCode(), string(out))
			require.Regexp(t, `(?s)first divergent event, line \d+, event \d+ at \d+\.\d{9}s on \w+, in .*`+
				`:\n       .*\nfirst  event .*\nsecond event .*\nFAIL nondeterminism `, string(out))
		})
	}
}
