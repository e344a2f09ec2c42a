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

// TestTheMachineSeesExpiredSessionsThatAreFencedOneByOne runs the machine with canary 38 put back. A
// switch can not be turned off again, so it has a process of its own.
func TestTheMachineSeesExpiredSessionsThatAreFencedOneByOne(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDecisionsKeepTheInvariantsOfTheImage$",
		"-rapid.nofailfile", "-rapid.shrinktime=1ms", "-rapid.seed=1", "-rapid.checks=3000")
	cmd.Env = append(os.Environ(), canaryVariable+"=38")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, "is in the ISR|a change is one step", string(out))
}
