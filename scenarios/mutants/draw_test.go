package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func drawn(t *testing.T, n int, seed uint64) (out []string, quotas int) {
	t.Helper()
	packages, err := load(root)
	require.NoError(t, err)
	draw(packages, n, seed)
	for _, p := range packages {
		quotas += p.quota
		for i := range p.sites {
			out = append(out, p.sites[i].id())
		}
	}
	return out, quotas
}

func TestTheSameSeedDrawsTheSame(t *testing.T) {
	first, n := drawn(t, 100, 1)
	again, _ := drawn(t, 100, 1)
	other, _ := drawn(t, 100, 2)
	require.Equal(t, 100, n)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	slices.Sort(first)
	slices.Sort(other)
	require.Equal(t, first, other, "all are drawn in the end")
	require.Len(t, slices.Compact(first), len(other), "ids are unique")
}

func TestPackagesShareByLines(t *testing.T) {
	packages := []*pkg{{lines: 100}, {lines: 250}, {lines: 650}}
	for n, want := range map[int][]int{10: {1, 3, 6}, 1: {0, 0, 1}, 0: {0, 0, 0}, 20: {2, 5, 13}} {
		share(packages, n)
		got := []int{packages[0].quota, packages[1].quota, packages[2].quota}
		require.Equal(t, want, got, "%d", n)
	}
	require.Equal(t, 2, codeLines("a\n\n// b\n\tc // d\n"))
}

func TestPackagesTakeTurns(t *testing.T) {
	packages := []*pkg{{Dir: "a", quota: 4}, {Dir: "b", quota: 2}, {Dir: "c"}}
	var got string
	for _, p := range interleave(packages) {
		got += p.Dir
	}
	require.Equal(t, "abaaba", got)
}
