package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// lines counts the lines in the log of a machine that contain a text.
func (m *machine) lines(text string) (n int) {
	for _, line := range m.log {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// unfounded says whether no machine is of a quorum.
func (s *cluster) unfounded() bool {
	for _, m := range s.machines {
		if m.c != nil && !m.c.bootstrap.waiting() {
			return false
		}
	}
	return true
}

func TestFreshControllersSayOnceWhomTheyWaitFor(t *testing.T) {
	s := newCluster(t, 1, 3)
	first, second := s.machines[0], s.machines[1]
	first.start()
	s.run(10 * time.Second)
	require.Equal(t, 1, first.lines("waits for controllers 2 (n2:9093), 3 (n3:9093) to found the metadata quorum"))
	second.start()
	s.run(10 * time.Second)
	require.Equal(t, 1, first.lines("waits for controller 3 (n3:9093) to found the metadata quorum"))
	require.Equal(t, 1, second.lines("waits for controller 1 (n1:9093) to found the metadata quorum"))
	require.Equal(t, 3, len(first.log)+len(second.log), "%s", s.describe())
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	for _, m := range s.machines {
		require.Equal(t, map[*machine]int{first: 2, second: 1}[m], m.lines("waits"))
	}
}

func TestFoundingOfAllAtOnceIsNotWaitedFor(t *testing.T) {
	s := newCluster(t, 2, 5)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	for _, m := range s.machines {
		require.Zero(t, m.lines("waits"), "%s", s.describe())
	}
}

func TestListsThatDifferFoundNothingAndAreToldOnce(t *testing.T) {
	s := newCluster(t, 3, 3)
	m := s.machines[1]
	m.config.Controllers = m.config.Controllers[:2]
	s.startAll()
	s.run(20 * time.Second)
	require.True(t, s.unfounded())
	require.Equal(t, 1, s.machines[0].lines(
		"can not found the metadata quorum: this one lists the controllers [1 2 3], controller 2 (n2:9093) lists [1 2]"))
	require.Equal(t, 1, m.lines(
		"can not found the metadata quorum: this one lists the controllers [1 2], controller 1 (n1:9093) lists [1 2 3]"))
	require.Equal(t, 3, len(s.machines[0].log)+len(m.log)+len(s.machines[2].log), "%s", s.describe())
	m.crash(false)
	m.config.Controllers = s.machines[0].config.Controllers
	m.start()
	require.True(t, s.until(10*time.Second, s.formed))
}

func TestCopiesOfADirectoryFoundNothing(t *testing.T) {
	s := newCluster(t, 4, 3)
	first := s.machines[0]
	first.start()
	s.run(time.Second)
	c := first.c
	hello := func(node int32, voter int64) *wire.QuorumHelloResponse {
		return &wire.QuorumHelloResponse{QuorumController: wire.QuorumController{
			NodeID: node, VoterID: voter, Nodes: []int32{1, 2, 3},
		}}
	}
	c.peers.all[0].hello, c.peers.all[1].hello = hello(2, 7), hello(3, 8)
	require.Empty(t, c.bootstrap.obstacle(c))
	c.peers.all[1].hello = hello(3, 7)
	require.Equal(t, "can not found the metadata quorum: "+
		"controllers 2 (n2:9093) and 3 (n3:9093) have copies of one directory", c.bootstrap.obstacle(c))
}

func TestControllerOfAnotherClusterIsRefusedAndDoesNoHarm(t *testing.T) {
	const fresh, young, old = "fresh", "young", "old" // the directory; only an old one has a snapshot
	for i, directory := range []string{fresh, young, old} {
		s := newCluster(t, uint64(10+i), 3)
		s.startAll()
		require.True(t, s.until(10*time.Second, s.formed))
		id := s.leader().c.Image().ClusterID()
		m := s.machines[0]
		b := s.live(101)
		require.True(t, s.until(10*time.Second, func() bool { return !b.fenced }))
		for n := 0; directory == old && n < 100; n++ {
			if leader := s.leader(); leader != nil {
				leader.ask(creationRequest(1, fmt.Sprint("topic-", n)), func(kmsg.Response) {})
			}
			s.run(50 * time.Millisecond)
		}
		require.Equal(t, directory == old, m.c.Metrics.Snapshots > 0)
		m.crash(true)
		if directory == fresh {
			m.wipe()
		}
		m.config.ClusterID, m.doomed, m.log = "another", directory != fresh, nil
		m.start()
		s.run(10 * time.Second)
		require.NotNil(t, s.leader())
		require.Equal(t, id, s.leader().c.Image().ClusterID())
		require.Zero(t, m.lines("leads"))
		refused := m.lines("controller n2:9093 refuses this controller: INCONSISTENT_CLUSTER_ID: " +
			"node 1 is of cluster another, node 2 of cluster " + id)
		fatal := m.lines("the raft directory is of cluster " + id + ", want another")
		require.Equal(t, fatal == 0, m.c != nil)
		switch directory {
		case fresh:
			require.Equal(t, []int{0, 1}, []int{fatal, refused})
		case young: // it may know what is committed, or not
			require.Positive(t, fatal+refused)
		case old:
			require.NotZero(t, fatal)
		}
		m.crash(true)
		m.config.ClusterID, m.doomed = id, false
		m.start()
		require.True(t, s.until(20*time.Second, s.formed), "%s", s.describe())
	}
}

func TestFoundersThatExpectDifferentClustersFoundNothing(t *testing.T) {
	s := newCluster(t, 6, 3)
	s.machines[0].config.ClusterID, s.machines[1].config.ClusterID = "one", "another"
	s.startAll()
	s.run(10 * time.Second)
	require.True(t, s.unfounded())
	require.Equal(t, 1, s.machines[0].lines("INCONSISTENT_CLUSTER_ID"))
	require.Equal(t, 1, s.machines[1].lines("INCONSISTENT_CLUSTER_ID"))
}

func TestDirectoryOfAnotherNodeIsRefused(t *testing.T) {
	s := newCluster(t, 7, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	m := s.machines[0]
	m.crash(true)
	m.config.NodeID, m.doomed, m.log = 9, true, nil
	m.start()
	s.run(time.Second)
	require.Nil(t, m.c)
	require.Equal(t, 1, m.lines("belongs to node 1, this is node 9"))
	m.config.NodeID, m.doomed = 1, false
	m.start()
	require.True(t, s.until(20*time.Second, s.formed))
}

func TestOutsiderThatMayNotJoinSaysThatItWaits(t *testing.T) {
	s := newCluster(t, 8, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	m := s.machines[2]
	m.crash(true)
	m.wipe()
	m.config.AutoJoin, m.log = false, nil
	m.start()
	s.run(10 * time.Second)
	require.True(t, m.c.bootstrap.waiting())
	require.Equal(t, 1, m.lines("is not one of the founders of the metadata quorum, and waits to be added"))
	require.Len(t, m.log, 1)
}
