//go:build canary

package metadata

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

const canaryVariable = "STET_TEST_CANARY"

func TestMain(m *testing.M) {
	if id := os.Getenv(canaryVariable); id != "" && !invariant.SetCanary(id) {
		panic("no canary " + id)
	}
	os.Exit(m.Run())
}

// TestTheMachineSeesTheBugsOfTheController runs the machine with each canary put back. A switch can not
// be turned off again, so each has a process of its own.
func TestTheMachineSeesTheBugsOfTheController(t *testing.T) {
	const unfit, lacks = "Not equal", "may lack what is committed|should not contain"
	for id, sees := range map[string]string{
		"10": unfit + "|" + lacks,
		"12": lacks,
		"13": lacks,
		"15": unfit + "|is in the ISR",
		"38": "is in the ISR|a change is one step",
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestDecisionsKeepTheInvariantsOfTheImage$",
			"-rapid.nofailfile", "-rapid.shrinktime=1ms", "-rapid.seed=2", "-rapid.checks=4000")
		cmd.Env = append(os.Environ(), canaryVariable+"="+id)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "canary %s", id)
		require.Regexp(t, sees, string(out), "canary %s", id)
	}
}
