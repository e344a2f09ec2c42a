package quorum

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/commitlog/logtest"
	"stet/core/kafka"
)

// recoverAs recovers a directory as this node, offering this directory id.
func recoverAs(world *logtest.World, node kafka.BrokerID, directory byte) *Recovered {
	config := DefaultConfig()
	job := RecoverJob{Config: &config, NodeID: node, NewDirectory: [16]byte{directory}}
	return job.Run(world.Disk).(*Recovered)
}

func newWorld(seed uint64) *logtest.World { return logtest.NewWorld(rand.New(rand.NewPCG(seed, 5))) }

func TestDirectoryKeepsItsIDAndIsNamedBeforeItIsUsed(t *testing.T) {
	world := newWorld(1)
	first := recoverAs(world, 1, 10)
	require.NoError(t, first.Failure())
	require.Equal(t, [16]byte{10}, first.DirectoryID)
	require.Equal(t, VoterOf([16]byte{10}), first.Voter)
	require.Empty(t, first.Members.Voters, "it is nobody's member yet")
	world.Disk.LosePower()
	again := recoverAs(world, 1, 20)
	require.NoError(t, again.Failure())
	require.Equal(t, first.DirectoryID, again.DirectoryID)
	require.Equal(t, first.Voter, again.Voter)
}

func TestDirectoryTakesTheIDAndClusterThatABrokerWroteThere(t *testing.T) {
	world := newWorld(1)
	world.Disk.SetContent(metaProperties, commitlog.AppendMetaProperties(nil, commitlog.MetaProperties{
		ClusterID: "AAAAAAAAAAAAAAAAAAAAAA", NodeID: 1, DirectoryID: "CQAAAAAAAAAAAAAAAAAAAA",
	}))
	found := recoverAs(world, 1, 10)
	require.NoError(t, found.Failure())
	require.Equal(t, [16]byte{9}, found.DirectoryID)
	require.Equal(t, "AAAAAAAAAAAAAAAAAAAAAA", found.ClusterID)
}

func TestDirectoryWithoutAnIDGetsOneAndKeepsItsCluster(t *testing.T) {
	world := newWorld(1)
	world.Disk.SetContent(metaProperties,
		[]byte("version=1\nnode.id=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\n"))
	require.NoError(t, recoverAs(world, 1, 10).Failure())
	meta, err := commitlog.DecodeMetaProperties(world.Disk.Content(metaProperties))
	require.NoError(t, err)
	require.Equal(t, commitlog.MetaProperties{
		ClusterID: "AAAAAAAAAAAAAAAAAAAAAA", NodeID: 1, DirectoryID: "CgAAAAAAAAAAAAAAAAAAAA",
	}, meta)
}

// used returns a directory of node 1 with a log, and the name of that.
func used(t *testing.T) (*logtest.World, string) {
	r := newRig(t, 1)
	require.True(t, r.boot())
	r.propose("x")
	r.settle()
	return r.world, Directory + "/" + r.world.Disk.Names(Directory)[0]
}

func requireRefused(t *testing.T, found *Recovered, why string) {
	t.Helper()
	require.ErrorContains(t, found.Failure(), why)
	require.True(t, found.Refused, "trying again does not help")
}

func TestDirectoryOfAnotherNodeIsRefusedUntouched(t *testing.T) {
	world, _ := used(t)
	before := world.Disk.Operations
	requireRefused(t, recoverAs(world, 2, 10), "belongs to node 1, this is node 2")
	require.Equal(t, before+4, world.Disk.Operations, "one file was read: open, size, read, close")
}

func TestLogOfAnotherDirectoryIsRefused(t *testing.T) {
	world, _ := used(t)
	world.Disk.SetContent(metaProperties,
		[]byte("version=1\nnode.id=1\ndirectory.id=CQAAAAAAAAAAAAAAAAAAAA\n"))
	requireRefused(t, recoverAs(world, 1, 10), "the raft log is of another directory: of voter 77")

	world.Disk.SetContent(metaProperties, []byte("version=1\nnode.id=1\n"))
	requireRefused(t, recoverAs(world, 1, 154), "does not say which directory this is")
	require.NotContains(t, string(world.Disk.Content(metaProperties)), "directory.id")
}

func TestMetaPropertiesOfAnotherVersionOrFormIsRefused(t *testing.T) {
	for content, why := range map[string]string{
		"version=2\nnode.id=1\n":                   `version "2": want 1`,
		"version=1\n":                              "no node.id",
		"version=1\nnode.id=1\ndirectory.id=abc\n": `directory.id "abc"`,
	} {
		world := newWorld(1)
		world.Disk.SetContent(metaProperties, []byte(content))
		requireRefused(t, recoverAs(world, 1, 10), why)
	}
}

func TestLogOfAnotherVersionIsRefusedByName(t *testing.T) {
	for version, why := range map[uint32]string{
		1: "raft log of version 1, of an older release; this one reads version 2",
		3: "raft log of version 3, of a newer release; this one reads version 2",
	} {
		world, name := used(t)
		file := world.Disk.Content(name)
		binary.LittleEndian.PutUint32(file[8:], version)
		size := binary.LittleEndian.Uint32(file[12:])
		binary.LittleEndian.PutUint32(file[size-4:], crc32.Checksum(file[:size-4], castagnoli))
		world.Disk.SetContent(name, file)
		requireRefused(t, recoverAs(world, 1, 10), why)
	}
}

// TestDirectoryIsNamedOnceWhateverCrashes crashes the first recovery at each of its operations.
func TestDirectoryIsNamedOnceWhateverCrashes(t *testing.T) {
	for fuse := range 40 {
		for seed := range uint64(5) {
			world := newWorld(seed)
			world.Disk.Fuse = fuse
			var first *Recovered
			logtest.Attempt(func() { first = recoverAs(world, 1, 10) })
			world.Crash()
			world.Disk.LosePower()
			again := recoverAs(world, 1, 20)
			require.NoError(t, again.Failure(), "fuse %d, seed %d", fuse, seed)
			require.Contains(t, []byte{10, 20}, again.DirectoryID[0])
			if first != nil {
				require.Equal(t, first.DirectoryID, again.DirectoryID, "fuse %d, seed %d", fuse, seed)
			}
			require.Equal(t, again.DirectoryID, recoverAs(world, 1, 30).DirectoryID)
		}
	}
}

func TestVoterIDsAreNeverZeroNorRaftsOwn(t *testing.T) {
	require.Equal(t, uint64(1), VoterOf([16]byte{}))
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[uint64]bool{}
	for range 1000 {
		var id [16]byte
		binary.LittleEndian.PutUint64(id[:], r.Uint64())
		binary.LittleEndian.PutUint64(id[8:], r.Uint64())
		voter := VoterOf(id)
		require.False(t, voter == 0 || voter>>63 != 0 || seen[voter], fmt.Sprint(id))
		seen[voter] = true
	}
}
