package controller

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// formed says whether everybody is up and of the same, led quorum.
func (s *cluster) formed() bool {
	leader := s.leader()
	if leader == nil {
		return false
	}
	for _, m := range s.machines {
		if m.c == nil || m.c.image.ClusterID() == "" {
			return false
		}
		members := leader.c.life.quorum.Members()
		if !members.Contains(m.c.voter) || len(members.Voters) != len(s.machines) {
			return false
		}
	}
	return true
}

func TestAListOfControllersFoundsOneQuorum(t *testing.T) {
	for _, size := range []int{1, 3, 5} {
		s := newCluster(t, uint64(size), size)
		s.startAll()
		require.True(t, s.until(10*time.Second, s.formed), "%d controllers", size)
	}
}

// disturb does something to the cluster: kills, power failures, pauses, cuts, broken links; with
// wipes it also replaces the disk of a machine that is down.
func (s *cluster) disturb(wipes bool) {
	m := s.machines[s.random.IntN(len(s.machines))]
	switch s.random.IntN(13) {
	case 0, 1:
		m.crash(s.random.IntN(2) == 0)
	case 2, 3, 4:
		m.start()
	case 5:
		s.isolate([]int{m.node}, s.random.IntN(2) == 0)
	case 6:
		set := []int{m.node, s.machines[s.random.IntN(len(s.machines))].node}
		s.isolate(set, s.random.IntN(3) == 0)
	case 7, 8:
		s.heal()
	case 9:
		if len(s.cables) > 0 {
			if cable := s.cables[s.random.IntN(len(s.cables))]; !cable.over && cable.bLife != 0 {
				cable.reset(s.random.IntN(3))
			}
		}
	case 10:
		m.pause(time.Duration(s.random.IntN(1500)) * time.Millisecond)
	case 11, 12:
		if wipes {
			m.crash(true)
			m.wipe()
			m.start()
		}
	}
}

func (s *cluster) delayed(d time.Duration) { s.run(time.Duration(s.random.Int64N(int64(d)))) }

// However machines crash, lose their disks and are cut off while a quorum is founded, there is never
// a second cluster with a directory that remembers the first (history), and a quorum that has lost
// no majority of its founders' directories is complete in the end.
func TestFoundingMakesOneClusterWhateverHappens(t *testing.T) {
	stuck := 0
	for seed := range uint64(seeds(60)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			size := []int{3, 3, 5}[seed%3]
			s := newCluster(t, seed, size)
			s.lags = true
			for range 5 + s.random.IntN(60) {
				s.delayed(60 * time.Millisecond)
				s.disturb(s.wipeable())
			}
			s.heal()
			s.startAll()
			formed := s.until(60*time.Second, s.formed)
			if lost, voters := s.lost(); lost > (voters-1)/2 {
				// Disks were lost between the answers that founded the quorum and the founding.
				require.False(t, formed)
				stuck++
				return
			}
			require.True(t, formed, "%s", s.describe())
		})
	}
	require.LessOrEqual(t, stuck, seeds(60)/10)
}

func seeds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n * seedFactor
}

// lost counts the voters of the quorum, as of the latest that was known of it, whose disks are gone.
func (s *cluster) lost() (lost, voters int) {
	for _, v := range s.history.voters {
		if !slices.ContainsFunc(s.machines, func(m *machine) bool { return m.voter == v }) {
			lost++
		}
	}
	return lost, len(s.history.voters)
}

// wipeable says whether a disk may be lost: the quorum must be able to do without it.
func (s *cluster) wipeable() bool {
	lost, _ := s.lost()
	return lost+1 <= (len(s.machines)-1)/2
}

func (s *cluster) describe() (text string) {
	for _, m := range s.machines {
		if m.c == nil {
			text += fmt.Sprintf("node %d is down\n", m.node)
			continue
		}
		text += fmt.Sprintf("node %d voter %x wiped %d waiting %v cluster %q: ", m.node, m.c.voter, m.wiped,
			m.c.bootstrap.waiting(), m.c.image.ClusterID())
		if q := m.c.life.quorum; q != nil {
			status := q.Status()
			text += fmt.Sprintf("%s of term %d, leader %x, %x learners %x, last %v applied %v\n", status.Role,
				status.Hard.Term, status.Leader, status.Members.Voters, status.Members.Learners, status.Last, status.Applied)
		}
		for _, p := range m.c.peers.all {
			text += fmt.Sprintf("   to %d: open %v greeted %v voter %x told %q\n", p.node, p.link.open, p.hello != nil, p.voter(), p.told)
		}
		for _, line := range m.log {
			text += "   " + line + "\n"
		}
	}
	return text
}
