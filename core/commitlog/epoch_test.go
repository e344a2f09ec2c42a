package commitlog

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

func TestEpochEndOffsets(t *testing.T) {
	var c epochCache
	for _, e := range []EpochEntry{{2, 10}, {4, 20}, {7, 20}} {
		c.assign(e.Epoch, e.Start)
	}
	require.Equal(t, epochCache{{2, 10}, {7, 20}}, c, "an epoch without records gives way")
	c.assign(9, 35)
	for _, want := range []struct {
		asked, epoch kafka.LeaderEpoch
		end          kafka.Offset
	}{
		{-1, -1, -1},
		{0, 0, 10},
		{2, 2, 20},
		{3, 2, 20},
		{7, 7, 35},
		{8, 7, 35},
		{9, 9, 50},
		{10, -1, -1},
	} {
		epoch, end := c.endOffsetFor(want.asked, 50)
		require.Equal(t, want.epoch, epoch, "asked for %d", want.asked)
		require.Equal(t, want.end, end, "asked for %d", want.asked)
	}
	require.Equal(t, kafka.LeaderEpoch(-1), c.at(9))
	require.Equal(t, kafka.LeaderEpoch(2), c.at(19))
	require.Equal(t, kafka.LeaderEpoch(7), c.at(20))
	require.Equal(t, kafka.LeaderEpoch(9), c.at(35))
}

func TestEpochZeroIsAnEpoch(t *testing.T) {
	var c epochCache
	c.assign(0, 0)
	require.Equal(t, epochCache{{0, 0}}, c) // KAFKA-10432
}

func TestEpochCacheStaysMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c epochCache
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			if rapid.Bool().Draw(t, "truncate") {
				end := kafka.Offset(rapid.Int64Range(0, 30).Draw(t, "end"))
				c.truncateFromEnd(end)
				for _, e := range c {
					require.Less(t, e.Start, end)
				}
				continue
			}
			epoch := kafka.LeaderEpoch(rapid.Int32Range(0, 10).Draw(t, "epoch"))
			start := kafka.Offset(rapid.Int64Range(0, 30).Draw(t, "start"))
			c.assign(epoch, start)
			c.check()
			require.Equal(t, epoch, c.latest())
			decoded, err := DecodeEpochCheckpoint(AppendEpochCheckpoint(nil, c))
			require.NoError(t, err)
			require.Equal(t, []EpochEntry(c), decoded)
		}
	})
}
