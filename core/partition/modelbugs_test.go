package partition_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheModelFindsTheCanariesOfTheController says that the checks can fail: each of these bugs, in
// the model's own controller, is found, and by a check that is there for it.
func TestTheModelFindsTheCanariesOfTheController(t *testing.T) {
	for id, bug := range map[string]struct {
		bugs   controllerBugs
		checks []string
	}{
		"12": {controllerBugs{lastReplicaStanding: true}, []string{"R2", "R3"}},
		"13": {controllerBugs{trustsUncleanRestarts: true}, []string{"R2", "R3"}},
		"15": {controllerBugs{admitsFenced: true}, []string{"R7"}},
	} {
		t.Run(id, func(t *testing.T) {
			var found error
			for seed := uint64(1); found == nil && seed <= 400; seed++ {
				found = newModel(seed, bug.bugs).run()
				if found != nil {
					t.Logf("seed %d: %v", seed, found)
				}
			}
			var f finding
			require.True(t, errors.As(found, &f), "%v", found)
			require.Contains(t, bug.checks, f.check, "%v", found)
		})
	}
}
