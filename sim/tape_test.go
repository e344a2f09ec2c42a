package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func decisions(e *Entropy) (all []int64) {
	a, b := e.Stream("a", 1), e.Stream("b", 0).Sub("part")
	for range 200 {
		all = append(all, a.Between(-5, 1000), int64(a.Index(7)), a.Skewed(99), int64(b.Delay(3, 9)))
		if b.Chance(1, 3) {
			all = append(all, 1)
		}
	}
	return all
}

func TestTapesDecideWhateverTheSeedSays(t *testing.T) {
	e := NewEntropy(1)
	e.RecordTapes()
	first := decisions(e)
	require.Len(t, e.Tapes(), 2)
	other := NewEntropy(2)
	other.PlayTapes(e.Tapes())
	other.RecordTapes()
	require.NotEqual(t, first, decisions(NewEntropy(2)))
	require.Equal(t, first, decisions(other))
	require.Equal(t, e.Tapes(), other.Tapes())
	require.Zero(t, other.MovedDecisions())
}

func TestATapeMovesNeitherDrawsNorCursors(t *testing.T) {
	e, plain := NewEntropy(1), NewEntropy(1)
	e.PlayTapes(nil)
	decisions(e)
	decisions(plain)
	require.Equal(t, plain.Stream("a", 1).Uint64(), e.Stream("a", 1).Uint64())
}

func TestAStreamWithoutATapeIsSteady(t *testing.T) {
	e := NewEntropy(1)
	e.PlayTapes([]Tape{{Stream: "a@n1", Values: []int64{7, 5000}}})
	s := e.Stream("a", 1)
	require.EqualValues(t, 7, s.Between(0, 10))
	require.EqualValues(t, 10, s.Between(0, 10), "a value that is not possible is moved")
	require.EqualValues(t, 5, s.Between(0, 10))
	require.False(t, s.Chance(255, 256))
	require.Zero(t, s.Index(9))
	require.Equal(t, 1, e.MovedDecisions())
}
