package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog/logtest"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/quorum"
)

// raftDirectory returns a directory with the files of a controller that has just begun.
func raftDirectory(t *testing.T, snapshotEntries int) string {
	config := controller.DefaultConfig()
	config.ClusterID, config.Quorum.SnapshotEntries = "AAAAAAAAAAAAAAAAAAAAAA", snapshotEntries
	random := rand.New(rand.NewPCG(1, 1))
	c := controller.New(&config, env.Identity{}, func(env.Use) *rand.Rand { return random })
	world := logtest.NewWorld(random)
	var out env.Effects
	event, ok := env.Event{Kind: env.EventTick}, true
	for ok {
		c.Turn(env.Now{}, []env.Event{event}, &out)
		world.Perform(&out)
		for event, ok = world.Step(); ok && event.Token == 0; {
			event, ok = world.Step()
		}
	}
	require.True(t, c.Ready())
	dir := t.TempDir()
	for _, name := range world.Disk.Names(quorum.Directory) {
		content := world.Disk.Content(quorum.Directory + "/" + name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

func TestDumpPrintsTheControllersLog(t *testing.T) {
	log := one(t, raftDirectory(t, 1000), "log-*")
	text := dumped(t, dumpMetadata, log)
	require.Contains(t, text, "generation=1 voter=")
	require.Contains(t, text, " learners=[] outgoing=[] term=")
	require.Contains(t, text, "inForce=true tornBytes=0\n")
	require.Contains(t, text, `record=ClusterRecord value="{ID:AAAAAAAAAAAAAAAAAAAAAA `)

	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, content[:len(content)-1], 0o600))
	require.NotContains(t, dumped(t, dumpMetadata, log), "tornBytes=0", "a torn tail is no damage")
	content[70] ^= 1 // in the header, which frames behind it prove to have been durable
	require.NoError(t, os.WriteFile(log, content, 0o600))
	require.Equal(t, exitSafety, run([]string{"dump", "metadata", log}))
}

func TestDumpPrintsTheControllersSnapshot(t *testing.T) {
	snapshot := one(t, raftDirectory(t, 1), "snapshot-*")
	text := dumped(t, dumpMetadata, snapshot)
	require.Contains(t, text, "topics=0 partitions=0\n")
	require.Contains(t, text, `record=ClusterRecord value="{ID:AAAAAAAAAAAAAAAAAAAAAA `)

	content, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	content[len(content)-9] ^= 1
	require.NoError(t, os.WriteFile(snapshot, content, 0o600))
	require.Equal(t, exitSafety, run([]string{"dump", "metadata", snapshot}))
}
