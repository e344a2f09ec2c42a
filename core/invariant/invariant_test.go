package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAssertionsPanicWithAViolation(t *testing.T) {
	Always(true, "holds")
	Alwaysf(true, "holds %d", 1)
	require.PanicsWithValue(t, Violation{"fails"}, func() { Always(false, "fails") })
	require.PanicsWithValue(t, Violation{"fails 1"}, func() { Alwaysf(false, "fails %d", 1) })
	require.PanicsWithValue(t, Violation{"unreachable: here"}, func() { Unreachable("here") })
	require.EqualError(t, Violation{"fails"}, "assertion failed: fails")
}

func TestMarksCountWhatHolds(t *testing.T) {
	ResetMarks()
	Sometimes(true, MarkTornTailCut)
	Sometimes(true, MarkTornTailCut)
	Sometimes(false, MarkSegmentRoll)
	for i, m := range Marks() {
		want := MarkHits{Name: markNames[i], Takes: takes(Mark(i))}
		if Mark(i) == MarkTornTailCut {
			want.Hits = 2
		}
		require.Equal(t, want, m)
	}
	ResetMarks()
	require.Zero(t, Marks()[MarkTornTailCut].Hits)
}

func TestMarksAndCanariesHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, m := range Marks() {
		require.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
	}
	for _, c := range Canaries() {
		require.False(t, seen[c.ID], c.ID)
		require.False(t, seen[c.Name], c.Name)
		require.NotEmpty(t, c.Source)
		seen[c.ID], seen[c.Name] = true, true
	}
}
