package shrink

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// serial is the first of candidates that fails, one after another; it counts them.
func serial(fails func([]int) bool, asked *int) func(int, func(int) []int) int {
	return func(n int, candidate func(int) []int) int {
		for i := range n {
			*asked++
			if fails(candidate(i)) {
				return i
			}
		}
		return n
	}
}

// TestMinimiseAppliesAllThatCanBe has some edits that must not be made: all others are.
func TestMinimiseAppliesAllThatCanBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 200).Draw(t, "count")
		needed := rapid.SliceOfNDistinct(rapid.IntRange(0, max(0, count-1)), 0, min(8, count), rapid.ID).
			Draw(t, "needed")
		asked := 0
		applied := minimise(count, 1, serial(func(edits []int) bool {
			require.True(t, slices.IsSorted(edits))
			return !slices.ContainsFunc(edits, func(e int) bool { return slices.Contains(needed, e) })
		}, &asked))
		require.Len(t, applied, count-len(needed))
		for _, e := range applied {
			require.NotContains(t, needed, e)
		}
		require.LessOrEqual(t, asked, 20+40*(len(needed)+1), "a few needed edits among many cost little")
	})
}

// TestMinimiseLeavesNothingThatCouldBeMade has edits that depend on one another: after it, none can
// be made alone.
func TestMinimiseLeavesNothingThatCouldBeMade(t *testing.T) {
	// An even edit needs the odd one after it, but for every fifth, which never goes.
	fails := func(edits []int) bool {
		for _, e := range edits {
			if e%5 == 0 || e%2 == 0 && !slices.Contains(edits, e+1) {
				return false
			}
		}
		return true
	}
	asked := 0
	applied := minimise(64, 1, serial(fails, &asked))
	require.True(t, fails(applied))
	for e := range 64 {
		more := append(slices.Clone(applied), e)
		require.True(t, slices.Contains(applied, e) || !fails(more), e)
	}
}

// TestMinimiseStopsAtTheSmallestChunk makes a coarse pass: it tries no single edit.
func TestMinimiseStopsAtTheSmallestChunk(t *testing.T) {
	asked := 0
	applied := minimise(100, 10, serial(func(edits []int) bool {
		return !slices.Contains(edits, 42)
	}, &asked))
	require.GreaterOrEqual(t, len(applied), 80)
	require.Less(t, asked, 30)
}
