package partition_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
)

// told returns what the producers of a node were told since.
func (s *stage) told(id kafka.BrokerID) []kafka.ErrorCode {
	codes := s.node(id).told
	s.node(id).told = nil
	return codes
}

// Canary 17.
func TestWhoWaitsIsToldOfFailureWhenTheEpochChanges(t *testing.T) {
	for _, next := range []kafka.BrokerID{1, 2, kafka.NoBroker} {
		s := newStage(t)
		s.writes(1)
		require.Empty(t, s.told(1))
		s.image(1, 0, 1, 2)
		require.Empty(t, s.told(1), "a change within the epoch is none")
		s.image(next, 1, 1, 2)
		require.Equal(t, []kafka.ErrorCode{kafka.NotLeaderOrFollower}, s.told(1))
	}
}

func TestAnOlderEpochIsLate(t *testing.T) {
	s := newStage(t)
	s.image(1, 4, 1, 2, 3)
	n := s.node(1)
	n.replica.Follow(partition.Following{Leader: 2, Epoch: 3}, &n.out)
	require.EqualValues(t, 4, n.replica.LeaderEpoch())
	n.replica.Follow(partition.Following{Leader: 2, Epoch: 5}, &n.out)
	n.replica.Lead(partition.Leadership{Epoch: 4, ISR: all, Replicas: all}, &n.out)
	require.Equal(t, kafka.NoLeaderEpoch, n.replica.LeaderEpoch())
	f, ok := n.replica.Following()
	require.True(t, ok)
	require.EqualValues(t, 2, f.Leader)
}

// KIP-966, canary 14.
func TestNothingIsCommittedBelowTheMinimumInSync(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.image(1, 0, 1)
	s.fetches(2, 1)
	s.fetches(2, 1)
	require.EqualValues(t, 0, s.node(1).replica.HighWatermark(), "two have it, and one is in sync")
	p, ok := s.node(1).replica.TakeProposal()
	require.True(t, ok)
	require.Len(t, p.ISR, 2)
	s.node(1).replica.ProposalAnswered(s.controller.alter(1, p), &s.node(1).out)
	s.node(1).tend()
	require.EqualValues(t, 1, s.node(1).replica.HighWatermark(), "the answer moves it")
	require.Equal(t, []kafka.ErrorCode{kafka.None}, s.told(1))
}

func TestAMemberThatLagsIsProposedToLeaveAndCountsUntilItHasLeft(t *testing.T) {
	s := newStage(t)
	n := s.node(1)
	n.checkISR() // the time of all members begins
	s.writes(1)
	s.fetches(2, 1)
	s.now.Mono = s.now.Mono.Add(lagMax + time.Millisecond)
	s.fetches(2, 1)
	n.checkISR()
	p, ok := n.replica.TakeProposal()
	require.True(t, ok)
	require.Equal(t, []partition.ISRMember{{Broker: 1, Epoch: kafka.NoBrokerEpoch}, {Broker: 2, Epoch: 2}}, p.ISR)
	require.EqualValues(t, 0, n.replica.HighWatermark())
	n.replica.ProposalAnswered(s.controller.alter(1, p), &n.out)
	n.tend()
	require.EqualValues(t, 1, n.replica.HighWatermark())
}

// Rule 13.
func TestAFetchOfAnEarlierLifeIsRefused(t *testing.T) {
	s := newStage(t)
	_, w := s.asks(2)
	w.BrokerEpoch = 9
	require.Equal(t, kafka.None, s.reads(1, w).Code)
	w.BrokerEpoch = 8
	require.Equal(t, kafka.NotLeaderOrFollower, s.reads(1, w).Code)
	w.Broker = 7
	require.Equal(t, kafka.UnknownLeaderEpoch, s.reads(1, w).Code, "no replica, as far as is known here")
}

// failsAWrite makes the next write of a node's log fail; with loses the log is found empty afterwards.
func (s *stage) failsAWrite(n *node, loses bool) {
	failed := false
	n.world.Disk.Fail = func(op, name string) env.Errno {
		switch {
		case op == "write" && strings.HasSuffix(name, ".log") && !failed:
			failed = true
			return env.EIO
		case op == "list" && loses:
			n.world.Disk.SetContent(logName+"/"+commitlog.FileName(0, ".log"), nil)
		}
		return env.OK
	}
}

// A leader whose log is fenced and comes back whole leads on. If it comes back shorter, followers may
// hold what is gone, and the same offsets of the same epoch must not be given to other records.
func TestALeaderThatLostWhatItShowedNeedsAnotherEpoch(t *testing.T) {
	for _, loses := range []bool{false, true} {
		s := newStage(t)
		s.writes(1)
		n := s.node(1)
		s.failsAWrite(n, loses)
		s.writes(1)
		require.Equal(t, []kafka.ErrorCode{kafka.KafkaStorageError, kafka.KafkaStorageError}, s.told(1))
		require.Equal(t, partition.Online, n.replica.State())
		require.Equal(t, loses, n.replica.NeedsEpoch())
		require.Equal(t, loses, n.replica.LeaderEpoch() == kafka.NoLeaderEpoch)
		s.image(1, 1, 1, 2, 3)
		require.Equal(t, loses, n.replica.NeedsEpoch(), "while others can lead")
		s.image(1, 2, 1)
		require.False(t, n.replica.NeedsEpoch())
		require.EqualValues(t, 2, n.replica.LeaderEpoch(), "nobody else can")
	}
}

// A follower that lost what the leader counts on does not lead before it has everything again.
func TestAFollowerThatLostWhatItHadDoesNotLeadUntilItHasItAgain(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	n := s.node(2)
	s.writes(1)
	s.failsAWrite(n, true)
	s.fetches(2, 1) // comes back with nothing
	require.EqualValues(t, 0, n.replica.LogEndOffset())
	n.world.Disk.Fail = nil
	s.image(2, 1, 1, 2, 3)
	require.True(t, n.replica.NeedsEpoch())
	s.image(1, 2, 1, 2, 3)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(2, 1)
	require.EqualValues(t, 3, n.replica.LogEndOffset())
	s.image(2, 3, 1, 2, 3)
	require.EqualValues(t, 3, n.replica.LeaderEpoch())
}

// The proposal may have been granted while the log was being recovered.
func TestAPendingExpansionHoldsTheHighWatermarkOverAFence(t *testing.T) {
	s := newStage(t)
	s.image(1, 0, 1, 2)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	s.fetches(3, 1)
	n := s.node(1)
	require.EqualValues(t, 1, n.replica.HighWatermark())
	_, ok := n.replica.TakeProposal()
	require.True(t, ok, "3 is to join")
	n.world.Disk.Fail = func(op, name string) env.Errno {
		if op == "write" && strings.HasSuffix(name, ".log") {
			n.world.Disk.Fail = nil
			return env.EIO
		}
		return env.OK
	}
	s.writes(1)
	require.EqualValues(t, 0, n.replica.LeaderEpoch(), "it leads on")
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(2, 1)
	require.EqualValues(t, 1, n.replica.HighWatermark(), "3 has not got it")
	_, ok = n.replica.TakeProposal()
	require.True(t, ok, "proposed again")
	s.fetches(3, 1)
	s.fetches(3, 1)
	require.EqualValues(t, 2, n.replica.HighWatermark())
}

// What a follower says it holds is durable in flush mode.
func TestAFollowerInFlushModeHasAPositionWhenItsWritesAreSynced(t *testing.T) {
	s := newStage(t)
	for _, n := range s.nodes {
		n.configure(true)
	}
	s.writes(1)
	at, w := s.asks(2)
	n := s.node(2)
	f := s.answer(1, s.reads(1, w))
	n.replica.Fetched(s.now, at, f, &n.out)
	n.world.Perform(&n.out)
	for {
		_, ok := n.replica.FetchPosition()
		require.Equal(t, n.replica.Log().Synced() == 1, ok)
		if ok {
			return
		}
		n.step()
	}
}

// Everything under way is waited for before the log is cut: what reads it has a lease.
func TestATruncationWaitsForResponsesThatReadTheLog(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.image(3, 1, 1, 2, 3)
	n := s.node(1)
	file := n.replica.Log() // leads no more, and has a record that 3 has not
	require.EqualValues(t, 1, file.Written())
	found, code := file.Find(0, 1<<20, true, 1)
	require.Equal(t, kafka.None, code)
	n.replica.Handles().Lease(found.File)
	s.fetches(1, 3)
	require.Equal(t, partition.Truncating, n.replica.State())
	require.False(t, n.replica.Clean())
	_, ok := n.replica.FetchPosition()
	require.False(t, ok)
	n.replica.Handles().Release(found.File, &n.out)
	n.replica.OnLeasesReturned(&n.out)
	n.tend()
	s.quiet()
	require.Equal(t, partition.Online, n.replica.State())
	require.EqualValues(t, 0, n.replica.LogEndOffset())
	require.EqualValues(t, 1, n.replica.Counters.Truncations)
	following, _ := n.replica.Following()
	require.EqualValues(t, 3, following.Leader, "it follows on")
}
