//go:build !canary

package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoCanaryCanBeSetWithoutTheTag(t *testing.T) {
	require.False(t, CanaryBuild)
	for i, info := range Canaries() {
		require.False(t, SetCanary(info.ID), info.ID)
		require.False(t, SetCanary(info.Name), info.Name)
		require.False(t, Canary(i).On(), info.ID)
	}
}
