package scenarios

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A check that is new in the code but not here would go without a floor.
func TestEveryCheckThatRunsHasAFloor(t *testing.T) {
	for _, s := range All() {
		declared := slices.Concat(s.Floors.Antecedents, s.Floors.Rare)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(declared))), len(declared), s.Name)
		for seed := range uint64(3) {
			for name, n := range Run(s, seed+1, Options{}).Counters {
				if n > 0 && strings.HasPrefix(name, "checked.") {
					require.Contains(t, declared, name, "%s seed %d", s.Name, seed+1)
				}
			}
		}
	}
}

func TestOnlyWhatMayExcuseHasAnAllowance(t *testing.T) {
	for _, s := range All() {
		require.Equal(t, s.mayExcuse, s.Floors.ExcusedPercent > 0, s.Name)
	}
}

func TestCrashesCountKillsAndPowerLosses(t *testing.T) {
	r := Run(singleNodePowerLoss(), 1, Options{})
	require.Positive(t, r.Crashes())
	require.Zero(t, Run(singleNodePowerLoss(), 1, Options{Calm: true}).Crashes())
}
