//go:build canary

package quorum

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// quorumCanaries are the bugs that the rig has to see, with who may claim them and the number of runs
// that may be needed.
var quorumCanaries = []struct {
	id, claims string
	seeds      uint64
}{
	{"31", "^Q[238]:", 500},
	{"32", "^Q[348]:", 20},
	{"33", "^Q[15]:", 100},
	{"35", "^Q[48]:", 20},
	{"36", "^Q[67]:", 20},
	{"40", "^Q7:", 20},
	{"42", "^L6:", 20},
}

// TestTheRigSeesEveryCanary plays runs with one bug put back until somebody complains. A switch can
// not be turned off again, so each bug has a process of its own.
func TestTheRigSeesEveryCanary(t *testing.T) {
	const variable = "STET_TEST_CANARY"
	id := os.Getenv(variable)
	for _, canary := range quorumCanaries {
		switch id {
		case "":
			t.Run(canary.id, func(t *testing.T) {
				cmd := exec.Command(os.Args[0], "-test.run", "^TestTheRigSeesEveryCanary$", "-test.v")
				cmd.Env = append(os.Environ(), variable+"="+canary.id)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
				t.Logf("%s", out)
			})
		case canary.id:
			require.True(t, invariant.SetCanary(id))
			requireSeen(t, canary.claims, canary.seeds)
		}
	}
}

func requireSeen(t *testing.T, claims string, seeds uint64) {
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := attempt(func() { rough(seed) }); err != nil {
			require.Regexp(t, regexp.MustCompile(claims), err.Error(), "seed %d", seed)
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Fatalf("no complaint in %d seeds", seeds)
}
