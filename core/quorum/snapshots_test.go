package quorum

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
)

// behind returns a steady cluster of three with a voter that is down, and so far behind that it needs
// a snapshot.
func behind(t *testing.T) (c *cluster, leader, late *member) {
	c, leader = steady(t, 3)
	late = c.others(leader)[0]
	late.stop(true)
	c.config.SnapshotEntries = 5
	for range 12 {
		require.True(t, c.propose(leader))
		c.drain()
	}
	require.Greater(t, leader.q.FirstIndex(), late.record.applied+1)
	c.config.SnapshotEntries = 1000
	return c, leader, late
}

func snapshotsOf(m *member) (names []string) {
	for _, n := range m.world.Disk.Names(Directory) {
		if IsSnapshotName(n) {
			names = append(names, n)
		}
	}
	return names
}

func TestSnapshotIsFetchedInPiecesAndInstalledBeforeWhatFollows(t *testing.T) {
	mustRun(t, 1, func() {
		c, leader, late := behind(t)
		pieces := 0
		c.filter = func(p *packet) bool {
			if p.chunk != nil {
				pieces++
			}
			return true
		}
		late.boot()
		require.True(t, c.calm(100), c)
		require.Greater(t, pieces, 1)
		require.Equal(t, 1, c.count.Installs)
		require.Equal(t, leader.state, late.state)
		require.Equal(t, leader.q.FirstIndex(), late.q.FirstIndex())
		require.Len(t, late.world.Disk.Names(Directory), 2, "one log and one snapshot")
		late.stop(true)
		late.boot()
		require.True(t, c.calm(100), c)
		require.Equal(t, leader.state, late.state)
	})
}

// TestSnapshotThatIsReadOutlivesTheNextOne: a reader comes to its end though the log moves on, and
// then nothing is left of what it read.
func TestSnapshotThatIsReadOutlivesTheNextOne(t *testing.T) {
	mustRun(t, 1, func() {
		c, leader, _ := behind(t)
		at := leader.q.storage.start
		read := func() (part SnapshotPart, ok bool) {
			_, ok = leader.q.ReadSnapshot(at, 0, 10, &leader.out)
			if ok {
				part = leader.out.Jobs[0].Job.Run(leader.world.Disk).(SnapshotPart)
				leader.out.Reset()
			}
			return part, ok
		}
		first, ok := read()
		require.True(t, ok)
		require.Equal(t, "STETSNAP\x02\x00", string(first.Data))
		c.config.SnapshotEntries = 5
		for range 8 {
			require.True(t, c.propose(leader))
			c.drain()
		}
		require.Greater(t, leader.q.storage.start.Index, at.Index)
		require.Len(t, snapshotsOf(leader), 2)
		again, ok := read()
		require.True(t, ok)
		require.Equal(t, first, again)
		for range leader.q.keepTicks() {
			c.tick(leader)
			c.drain()
		}
		require.Len(t, snapshotsOf(leader), 1)
		_, ok = read()
		require.False(t, ok)
	})
}

func TestSnapshotThatNobodyReadGoesAtOnce(t *testing.T) {
	mustRun(t, 1, func() {
		c, leader, _ := behind(t)
		c.config.SnapshotEntries = 5
		for range 8 {
			require.True(t, c.propose(leader))
			c.drain()
		}
		require.Len(t, snapshotsOf(leader), 1)
	})
}

// TestSnapshotIsOfferedAgain loses the first of everything that is said about it.
func TestSnapshotIsOfferedAgain(t *testing.T) {
	for lose, what := range []string{"the offer", "the wish for a piece", "the piece", "all of it: it is gone"} {
		mustRun(t, 1, func() {
			c, leader, late := behind(t)
			late.boot()
			lost := false
			c.filter = func(p *packet) bool {
				hit := lose == 0 && p.data != nil && decode(p.data).GetType() == pb.MsgSnap ||
					lose == 1 && p.fetch != nil || lose == 2 && p.chunk != nil
				if gone := lose == 3 && p.chunk != nil; gone && !lost {
					p.chunk.Gone, lost = true, true
				}
				keep := lost || !hit
				lost = lost || hit
				return keep
			}
			require.True(t, c.calm(100), "%s\n%v", what, c)
			require.True(t, lost, what)
			require.Equal(t, leader.state, late.state, what)
		})
	}
}

// TestDamagedSnapshotIsNotInstalled flips a bit on the way.
func TestDamagedSnapshotIsNotInstalled(t *testing.T) {
	mustRun(t, 1, func() {
		c, _, late := behind(t)
		c.filter = func(p *packet) bool {
			if p.chunk != nil && len(p.chunk.Data) > 0 {
				p.chunk.Data[0] ^= 1
			}
			return true
		}
		late.boot()
		require.False(t, c.calm(20))
		require.Zero(t, c.count.Installs)
		require.Empty(t, snapshotsOf(late))
		c.filter = nil
		require.True(t, c.calm(100), c)
		require.Equal(t, 1, c.count.Installs)
	})
}

// TestNewcomerGetsASnapshotThatKnowsIt: raft would have it refuse one that was made before it came.
func TestNewcomerGetsASnapshotThatKnowsIt(t *testing.T) {
	mustRun(t, 1, func() {
		c, leader := steady(t, 1)
		fresh := c.addPlace()
		fresh.boot()
		_, ok := leader.q.ProposeMembers(MemberChange{AddLearner: []uint64{fresh.id}})
		require.True(t, ok)
		leader.turn()
		require.True(t, c.calm(100), c)
		require.Equal(t, 1, c.count.Installs)
		require.Equal(t, leader.state, fresh.state)
		require.True(t, fresh.q.storage.members.Contains(fresh.id))
		require.Greater(t, leader.q.FirstIndex(), uint64(2), "a snapshot was made for it")
	})
}

// TestEmptyStateCanBeFetched: a founder that was not told in time gets what the others began with.
func TestEmptyStateCanBeFetched(t *testing.T) {
	job := &readJob{at: Position{1, 1}, members: ConfState{Voters: []uint64{1, 2}}, limit: 1000}
	part := job.Run(nil).(SnapshotPart)
	require.False(t, part.Gone)
	require.EqualValues(t, len(part.Data), part.Size)
	file, ok := parseSnapshot(part.Data)
	require.True(t, ok)
	require.Equal(t, snapshotFile{at: job.at, members: job.members, body: []byte{}}, file)
}

func TestSnapshotThatCanNotBeReadIsGone(t *testing.T) {
	world := newWorld(1)
	job := &readJob{at: Position{7, 1}, limit: 10}
	part := job.Run(world.Disk).(SnapshotPart)
	require.True(t, part.Gone)
	require.True(t, strings.HasPrefix(part.Err.Error(), "read stet/raft/snapshot-"), part.Err)
}
