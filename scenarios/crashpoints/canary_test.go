//go:build canary

package crashpoints

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// A canary can not be taken out again, so each sings in a process of its own: this test, run again
// with a name in the environment.
const canaryVariable = "CRASHPOINTS_CANARY"

// found is a violation that a judge found, of what a crash has left.
var found = regexp.MustCompile(`(process kill|power loss: .*): (S1|S4|S9|L9|H1) `)

func TestEnumerationFindsWhatItIsFor(t *testing.T) {
	if name := os.Getenv(canaryVariable); name != "" {
		require.True(t, invariant.SetCanary(name))
		for _, s := range All() {
			for _, mode := range []string{FlushMode, DefaultMode} {
				for _, v := range Enumerate(s, mode, short).Violations {
					if found.MatchString(v) {
						t.Fatal(v)
					}
				}
			}
		}
		return
	}
	for _, name := range []string{
		"46", // a directory is not synced
		"48", // the recovery point runs ahead of the sync
		"57", // an acknowledgement runs ahead of the sync
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), canaryVariable+"="+name)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "canary %s has survived", name)
		require.Regexp(t, found, string(out), "canary %s", name)
		t.Logf("canary %s: %.300s", name, out)
	}
}
