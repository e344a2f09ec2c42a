package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDumpExitsTenWhenAFileIsInvalid(t *testing.T) {
	dir := t.TempDir()
	damaged := map[string]string{
		"log":        "00000000000000000000.log",
		"index":      "00000000000000000000.index",
		"timeindex":  "00000000000000000000.timeindex",
		"snapshot":   "00000000000000000007.snapshot",
		"checkpoint": "leader-epoch-checkpoint",
		"life":       "clean",
		"metadata":   "log-00000000000000000001",
	}
	for kind, name := range damaged {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("not such a file"), 0o600))
		require.Equal(t, exitSafety, run([]string{"dump", kind, path}), kind)
	}
	path := filepath.Join(dir, "00000000000000000007.sequences")
	require.NoError(t, os.WriteFile(path, []byte("not such a file"), 0o600))
	require.Equal(t, exitSafety, run([]string{"dump", "snapshot", path}))
}

func TestDumpTakesSoundFiles(t *testing.T) {
	dir := t.TempDir()
	sound := map[string]string{
		"00000000000000000000.log":         "",
		"leader-epoch-checkpoint":          "0\n1\n3 40\n",
		"recovery-point-offset-checkpoint": "0\n1\nhand 0 20000\n",
	}
	for name, text := range sound {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		kind := "checkpoint"
		if filepath.Ext(name) == ".log" {
			kind = "log"
		}
		require.Equal(t, 0, run([]string{"dump", kind, path}), name)
	}
}
