package controller

import (
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
