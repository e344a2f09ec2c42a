package sim

import (
	"crypto/rand"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

func draws(s *Stream, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = s.Uint64()
	}
	return out
}

func TestStreamsAreIndependentOfEachOther(t *testing.T) {
	a, b := NewEntropy(7), NewEntropy(7)
	b.Stream("network", 0).Uint64() // a draw elsewhere moves nothing here
	require.Equal(t, draws(a.Stream("disk", 1), 20), draws(b.Stream("disk", 1), 20))
	require.NotEqual(t, draws(a.Stream("disk", 2), 5), draws(a.Stream("disk", 1), 5))
	require.NotEqual(t, draws(a.Stream("disk", 3), 5), draws(NewEntropy(8).Stream("disk", 3), 5))
	require.Same(t, a.Stream("disk", 1), a.Stream("disk", 1))
}

// The words are frozen: another architecture or release of Go that draws others would break every
// saved seed.
func TestStreamDrawsTheSameEverywhere(t *testing.T) {
	s := NewEntropy(0x51f3).Stream("frozen", 4)
	require.Equal(t, []uint64{0x429d6034c2dd9ea, 742, 41},
		append(draws(s, 1), uint64(s.IntN(1000)), uint64(s.Index(77))))
}

func TestCursorsCountEveryDrawOfEveryKind(t *testing.T) {
	e := NewEntropy(1)
	s := e.Node(2).Sim(env.UseRaft)
	fold := e.Fold()
	s.Uint64()
	require.NotEqual(t, fold, e.Fold())
	e.Node(2).Stream(env.UseRaft).IntN(10)
	_, _ = s.Read(make([]byte, 9))
	require.EqualValues(t, 4, s.Draws())
	require.Equal(t, []Cursor{{"node raft@n2", 4}}, e.Cursors())
}

func TestChanceOfZeroDrawsNothing(t *testing.T) {
	s := NewEntropy(1).Stream("x", 0)
	require.False(t, s.Chance(0, 10))
	require.True(t, s.Chance(10, 10))
	require.EqualValues(t, 1, s.Draws())
}

func TestDrawsStayInTheirRanges(t *testing.T) {
	s := NewEntropy(3).Stream("x", 0)
	small := 0
	for range 3000 {
		require.Contains(t, []int64{-1, 0, 1}, s.Between(-1, 1))
		v := s.Skewed(1000)
		require.True(t, v >= 0 && v <= 1000)
		if v < 32 {
			small++
		}
	}
	require.Greater(t, small, 1500)
	require.EqualValues(t, 9, s.Between(9, 9))
	require.NotPanics(t, func() { s.Between(-1<<63, 1<<63-1) })
}

func TestSeatRoutesCryptoRandToTheSittingStream(t *testing.T) {
	before := rand.Reader
	roll := func() []int64 {
		seat := SeatRandom()
		defer seat.Leave()
		e := NewEntropy(5)
		var out []int64
		for place := Place(1); place <= 3; place++ {
			seat.Sit(e.Node(place).Sim(env.UseRaft))
			n, err := rand.Int(rand.Reader, big.NewInt(1000))
			require.NoError(t, err)
			out = append(out, n.Int64())
		}
		return out
	}
	require.Equal(t, roll(), roll())
	require.Equal(t, before, rand.Reader)
}

func TestSeatForbidsDrawsOutsideOfTheStreams(t *testing.T) {
	seat := SeatRandom()
	defer seat.Leave()
	require.Panics(t, func() { _, _ = seat.Read(make([]byte, 1)) })
	require.Panics(t, func() { SeatRandom() }, "two worlds in one process")
}
