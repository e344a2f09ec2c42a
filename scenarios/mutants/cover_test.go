package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheInnermostBlockCounts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cover")
	require.NoError(t, os.WriteFile(file, []byte("mode: set\n"+
		"stet/core/a/b.go:10.20,30.3 5 1\n"+
		"stet/core/a/b.go:12.9,14.4 2 0\n"+ // a function in it
		"stet/core/a/c.go:1.1,90.3 5 0\n"), 0o644))
	c, err := readCoverage(file)
	require.NoError(t, err)
	for at, want := range map[[2]int]bool{
		{10, 19}: false, {10, 20}: true, {12, 8}: true, {12, 9}: false, {14, 3}: false, {14, 4}: true,
		{30, 2}: true, {30, 3}: false, {31, 1}: false,
	} {
		require.Equal(t, want, c.reached(&site{File: "core/a/b.go", atLine: at[0], atColumn: at[1]}), at)
	}
	require.False(t, c.reached(&site{File: "core/a/c.go", atLine: 5, atColumn: 1}))
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = readCoverage(file)
	require.ErrorContains(t, err, "empty")
}

func TestControlSeesWhatTheSeedsExecute(t *testing.T) {
	b, file := newBench(t), filepath.Join(t.TempDir(), "cover")
	require.NoError(t, b.control(t.Context(), 1, file))
	c, err := readCoverage(file)
	require.NoError(t, err)
	executed := map[bool]int{}
	for _, blocks := range c {
		for _, b := range blocks {
			executed[b.executed]++
		}
	}
	require.NotEmpty(t, c["core/broker/broker.go"])
	require.Greater(t, executed[true], 1000)
	require.Greater(t, executed[false], 100)
}
