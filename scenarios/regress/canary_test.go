//go:build canary

package regress

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
	"stet/scenarios"
)

// fileVariable names the schedule that a child process is to fail.
const fileVariable = "STET_REGRESS_FILE"

// TestWhatWasPutBackFailsAgain puts the bug of each schedule back, in a process of its own, since no
// bug can be taken out again.
func TestWhatWasPutBackFailsAgain(t *testing.T) {
	all := schedules(t)
	if name := os.Getenv(fileVariable); name != "" {
		s := all[name]
		for id := range strings.SplitSeq(s.Canaries, ",") {
			require.True(t, invariant.SetCanary(id))
		}
		r := rerun(t, s, scenarios.Check(s.Fails))
		require.EqualValues(t, s.Fails, r.Check, r.Line())
		return
	}
	count := 0
	for name, s := range all {
		if s.Canaries == "" {
			continue
		}
		count++
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), fileVariable+"="+name)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
	}
	require.NotZero(t, count)
}
