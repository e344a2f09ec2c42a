package campaign

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShardsPartTheSeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.OneOf(rapid.Uint64Range(0, 100), rapid.Uint64Range(1<<64-200, 1<<64-101)).Draw(t, "from")
		r := Seeds{from, from + rapid.Uint64Range(0, 100).Draw(t, "more")}
		n := rapid.Uint64Range(1, 9).Draw(t, "shards")
		var all []uint64
		for i := range n {
			shard := Shard{i + 1, n}
			part := slices.Collect(shard.seeds(r))
			require.EqualValues(t, len(part), shard.count(r))
			require.True(t, slices.IsSorted(part))
			all = append(all, part...)
		}
		slices.Sort(all)
		require.Equal(t, slices.Collect(Shard{}.seeds(r)), all)
		require.EqualValues(t, len(all), Shard{}.count(r))
	})
}

func TestSeedsAndShardsAreReadOrRefused(t *testing.T) {
	s, err := ParseSeeds("0x10..20")
	require.NoError(t, err)
	require.Equal(t, Seeds{16, 20}, s)
	require.Equal(t, "16..20", s.String())
	shard, err := ParseShard("2/3")
	require.NoError(t, err)
	require.Equal(t, Shard{2, 3}, shard)
	for _, bad := range []string{"", "1", "5..4", "a..b", "1..", "0..0x1000000000000"} {
		_, err := ParseSeeds(bad)
		require.Error(t, err, bad)
	}
	for _, bad := range []string{"0/2", "3/2", "1", "1/", "x/2"} {
		_, err := ParseShard(bad)
		require.Error(t, err, bad)
	}
}
