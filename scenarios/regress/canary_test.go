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
	"stet/scenarios/schedule"
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

// bugVariable names the bug that a child process is to find with generated schedules.
const bugVariable = "STET_REGRESS_BUG"

// TestRapidFindsWhatWasPutBack puts bugs back and has generated schedules find them: rapid makes what
// it finds small.
func TestRapidFindsWhatWasPutBack(t *testing.T) {
	if id := os.Getenv(bugVariable); id != "" {
		require.True(t, invariant.SetCanary(id))
		TestEverySmallSchedulePasses(t)
		return
	}
	for _, id := range []string{"67"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.timeout", "2m",
			"-rapid.nofailfile", "-rapid.checks", "2000", "-rapid.shrinktime", "20s", "-rapid.seed", "1")
		cmd.Env = append(os.Environ(), bugVariable+"="+id)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "the bug %s was not found", id)
		text := string(out)
		at := strings.LastIndex(text, "stet schedule 1")
		require.GreaterOrEqual(t, at, 0, text)
		var lines []string // rapid indents what it says
		for line := range strings.Lines(text[at:]) {
			if word := strings.TrimSpace(line); strings.HasPrefix(word, "---") || word == "FAIL" {
				break
			}
			lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "        "))
		}
		t.Logf("%s:\n%s", id, strings.Join(lines, "\n"))
		small, err := schedule.Parse(strings.NewReader(strings.Join(lines, "\n")))
		require.NoError(t, err)
		require.LessOrEqual(t, small.SendCount(), 12, "rapid made it small")
		require.Empty(t, small.Faults, "sequences wrap without faults")
	}
}
