//go:build canary

package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACanaryIsSetByIDOrNameAndAlone(t *testing.T) {
	require.True(t, CanaryBuild)
	for i, info := range Canaries() {
		for _, name := range []string{info.ID, info.Name} {
			canaryOn = [canaryCount]bool{}
			require.True(t, SetCanary(name), name)
			for other := range Canaries() {
				require.Equal(t, other == i, Canary(other).On(), "%s: %d", name, other)
			}
		}
	}
	canaryOn = [canaryCount]bool{}
	for _, name := range []string{"", "0", "skip"} {
		require.False(t, SetCanary(name), name)
	}
	require.Equal(t, [canaryCount]bool{}, canaryOn)
}
