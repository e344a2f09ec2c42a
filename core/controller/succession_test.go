package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A leader that is killed is succeeded before its silence would tell.
func TestTheEndOfALeadersProcessIsNotWaitedOut(t *testing.T) {
	for seed := range uint64(10) {
		s := newCluster(t, seed, 3)
		s.loud = true
		s.startAll()
		require.True(t, s.until(10*time.Second, s.formed))
		s.run(2 * time.Second)
		old := s.leader()
		old.crash(false)
		began := s.now
		require.True(t, s.until(5*time.Second, func() bool { return s.leader() != nil }))
		silence := time.Duration(old.config.Quorum.ElectionTicks) * old.config.TickInterval
		require.Less(t, time.Duration(s.now-began), silence, "seed %d", seed)
	}
}

// The broker in its process went with it, and has no more than the grace.
func TestTheBrokerOfALostLeaderIsFencedWithIt(t *testing.T) {
	s := newCluster(t, 1, 3)
	s.loud = true
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	var brokers []*broker
	for node := range s.machines {
		brokers = append(brokers, s.live(int32(node+1)))
	}
	require.True(t, s.until(10*time.Second, func() bool {
		return !brokers[0].fenced && !brokers[1].fenced && !brokers[2].fenced
	}))
	old := s.leader()
	lost := brokers[old.node-1]
	old.crash(false)
	lost.down = true
	began := s.now
	require.True(t, s.until(20*time.Second, func() bool { return s.leader() != nil && s.fenced(lost) }))
	require.Less(t, time.Duration(s.now-began), 2*old.config.ReconnectGrace)
	for _, b := range brokers {
		require.Equal(t, b == lost, s.fenced(b))
	}
}
