package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
)

// dumped returns what a dumper prints of a file.
func dumped(t *testing.T, dump dumper, path string) string {
	t.Helper()
	var out bytes.Buffer
	p := &printer{out: bufio.NewWriter(&out)}
	require.NoError(t, dump(p, path, &dumpFlags{}))
	require.NoError(t, p.out.Flush())
	return out.String()
}

func TestDumpSaysWhetherAMarkerHolds(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, content []byte) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	life := &commitlog.Life{BootID: "boot", Incarnation: [16]byte{7}, DirectoryID: "d1"}
	clean := filepath.Join(dir, commitlog.CleanMarkerName)
	put(commitlog.CleanMarkerName, commitlog.AppendLife(nil, life))
	require.Contains(t, dumped(t, dumpLife, clean), "holds=false why=", "there is no life")
	put(commitlog.LifeName, commitlog.AppendLife(nil, life))
	put(commitlog.MetaPropertiesName, commitlog.AppendMetaProperties(nil,
		commitlog.MetaProperties{NodeID: 1, DirectoryID: "d1"}))
	const names = "bootId=boot incarnation=07000000000000000000000000000000 directoryId=d1 livesBefore=0"
	require.Equal(t, names+" holds=true\n", dumped(t, dumpLife, clean))
	require.Equal(t, names+"\n", dumped(t, dumpLife, filepath.Join(dir, commitlog.LifeName)))

	life.Incarnation[0] = 8
	put(commitlog.LifeName, commitlog.AppendLife(nil, life))
	require.Contains(t, dumped(t, dumpLife, clean), "holds=false why=\"it is of life 07")
}
