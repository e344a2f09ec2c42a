package partition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
)

func TestTheHighWatermarkIsWhatTheISRHasFetched(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	ends, high := s.ends()
	require.Equal(t, [...]int{1, 1, 1}, ends)
	require.Equal(t, [...]int{0, 0, 0}, high, "that they have it is only said by the next fetch")
	read, _ := s.fetches(2, 1)
	require.EqualValues(t, 0, read.HighWatermark)
	read, _ = s.fetches(3, 1)
	require.EqualValues(t, 1, read.HighWatermark)
	_, high = s.ends()
	require.Equal(t, [...]int{1, 0, 1}, high)
	require.Equal(t, 1, s.acks)
}

func TestAFollowerWithAStaleHighWatermarkIsAnsweredAtOnce(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	s.fetches(3, 1)
	read, _ := s.fetches(2, 1)
	require.True(t, read.StaleHighWatermark)
	read, _ = s.fetches(2, 1)
	require.False(t, read.StaleHighWatermark, "it knows now")
}

func TestWhatIsNotCommittedIsSentAsACopy(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	read, _ := s.fetches(2, 1)
	require.True(t, read.Copy)
	require.Positive(t, read.Found.Len)
	s.fetches(3, 1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	_, w := s.asks(2)
	w.Offset, w.LastFetchedEpoch = 0, kafka.NoLeaderEpoch
	require.False(t, s.reads(1, w).Copy)
}

// Canary 6: what the follower held then it may have truncated since.
func TestALateFetchOfAnEarlierEpochDoesNotCount(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	_, late := s.asks(2)
	require.EqualValues(t, 1, late.Offset)
	s.image(3, 1, 1, 2, 3) // has nothing
	s.fetches(2, 3)
	require.EqualValues(t, 0, s.node(2).replica.LogEndOffset())
	s.image(1, 2, 1, 2, 3) // has its record still
	late.CurrentLeaderEpoch = 0
	require.Equal(t, kafka.FencedLeaderEpoch, s.reads(1, late).Code)
	s.fetches(3, 1)
	s.fetches(3, 1)
	require.EqualValues(t, 0, s.node(1).replica.HighWatermark())
	late.CurrentLeaderEpoch = 3
	require.Equal(t, kafka.UnknownLeaderEpoch, s.reads(1, late).Code)
}

// Canary 16: the same.
func TestWhatAFollowerHeldInAnEarlierEpochDoesNotCount(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(2, 1)
	s.controller.change(func(next *image) { next.leader, next.epoch = 3, 1 })
	s.hears(s.node(2))
	s.hears(s.node(3)) // 1 does not hear of it
	s.fetches(2, 3)
	n := s.node(1)
	n.news = nil
	s.image(1, 2, 1, 2)
	require.EqualValues(t, 0, n.replica.HighWatermark(), "2 has truncated what it had")
	require.EqualValues(t, 2, n.replica.LeaderEpoch())
}

// Canary 1 and rule 1.
func TestAFollowerDoesNotTruncateToItsHighWatermark(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	require.EqualValues(t, 0, s.node(2).replica.HighWatermark())
	s.image(3, 1, 1, 2, 3)
	s.fetches(2, 3)
	ends, _ := s.ends()
	require.Equal(t, [...]int{1, 1, 1}, ends)
}

// KIP-279: two leaders fail over with a tail of their own each, and the logs meet again.
func TestAFollowerTruncatesToWhereTheLogsPart(t *testing.T) {
	s := newStage(t)
	s.writes(1) // offset 0, epoch 0, everywhere
	s.fetches(2, 1)
	s.fetches(3, 1)
	s.writes(1) // offset 1, epoch 0, only here
	s.writes(1)
	s.image(2, 1, 1, 2, 3)
	s.writes(2) // offset 1, epoch 1, only here
	s.image(3, 2, 1, 2, 3)
	s.writes(3) // offset 1, epoch 2

	read, _ := s.fetches(1, 3)
	require.Equal(t, partition.Divergence{Epoch: 0, EndOffset: 1}, read.Diverging)
	require.EqualValues(t, 1, s.node(1).replica.LogEndOffset())
	read, _ = s.fetches(2, 3)
	require.Equal(t, partition.Divergence{Epoch: 0, EndOffset: 1}, read.Diverging)
	require.EqualValues(t, 1, s.node(2).replica.LogEndOffset(), "of epoch 1 the leader has nothing")
	for range 2 {
		s.fetches(1, 3)
		s.fetches(2, 3)
	}
	ends, _ := s.ends()
	require.Equal(t, [...]int{2, 2, 2}, ends)
	require.EqualValues(t, 2, s.node(3).replica.HighWatermark())
}

// Rule 4, canary 19: an epoch without records is no reason to go on truncating.
func TestAnEpochWithoutRecordsIsCut(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	s.fetches(2, 1)
	s.fetches(3, 1)
	s.image(2, 1, 1, 2, 3) // writes nothing
	s.image(3, 2, 1, 2, 3)
	require.EqualValues(t, 1, s.node(2).replica.Log().LatestEpoch())
	read, _ := s.fetches(2, 3)
	require.True(t, read.Diverging.Found())
	require.EqualValues(t, 1, s.node(2).replica.LogEndOffset())
	read, _ = s.fetches(2, 3)
	require.False(t, read.Diverging.Found())
}

// Rule 5, canary 23.
func TestAFollowerBehindTheLogStartBeginsThere(t *testing.T) {
	s := newStage(t)
	for range 3 {
		s.writes(1)
	}
	s.image(1, 0, 1, 2)
	s.fetches(2, 1)
	s.fetches(2, 1)
	leader := s.node(1).replica
	require.EqualValues(t, 3, leader.HighWatermark())
	leader.Log().AdvanceLogStart(3) // as DeleteRecords will
	read, _ := s.fetches(2, 1)
	require.EqualValues(t, 3, read.LogStartOffset)
	require.EqualValues(t, 3, s.node(2).replica.LogStartOffset())

	at, w := s.asks(3)
	read = s.reads(1, w)
	require.Equal(t, kafka.OffsetOutOfRange, read.Code)
	n := s.node(3)
	n.replica.Fetched(s.now, at, s.answer(1, read), &n.out)
	for n.replica.State() != partition.Online {
		n.world.Perform(&n.out)
		ev, _ := n.world.Step()
		if ev.Kind == env.EventJobDone {
			n.replica.OnJobDone(&ev, &n.out)
		} else {
			n.replica.OnFileDone(&ev, &n.out)
		}
		if n.replica.State() == partition.Waiting {
			n.replica.Recover(s.now, &n.out)
		}
	}
	require.EqualValues(t, 3, n.replica.LogStartOffset())
	require.EqualValues(t, 3, n.replica.LogEndOffset())
	require.EqualValues(t, 3, n.replica.HighWatermark())
	_, w = s.asks(3)
	require.EqualValues(t, 3, w.Offset)
	require.Equal(t, kafka.NoLeaderEpoch, w.LastFetchedEpoch)
	require.Equal(t, kafka.None, s.node(1).replica.ReadForFollower(s.now, w, &s.node(1).out).Code)
}

// Canary 24.
func TestAFollowerRefusesWhatItsLeaderCanNotHold(t *testing.T) {
	for what, damage := range map[string]func(f *partition.Fetched){
		"a batch of a later epoch":      func(f *partition.Fetched) { f.Batches[1].LeaderEpoch = 7 },
		"a batch of an earlier epoch":   func(f *partition.Fetched) { f.Batches[1].LeaderEpoch = -1 },
		"a batch from below the end":    func(f *partition.Fetched) { f.Batches[1].BaseOffset = 0 },
		"a batch that leaves a gap":     func(f *partition.Fetched) { f.Batches[1].BaseOffset = 2 },
		"a batch that is broken":        func(f *partition.Fetched) { f.Batches[1].Problem++ },
		"something broken behind these": func(f *partition.Fetched) { f.Batches, f.Corrupt = f.Batches[:1], true },
	} {
		s := newStage(t)
		s.writes(1)
		s.writes(1)
		at, w := s.asks(2)
		f := s.answer(1, s.reads(1, w))
		damage(f)
		n := s.node(2)
		require.Equal(t, partition.FollowRetry, n.replica.Fetched(s.now, at, f, &n.out), what)
		n.tend()
		s.quiet()
		require.EqualValues(t, 1, n.replica.LogEndOffset(), "%s: what precedes it is good", what)
		require.EqualValues(t, 1, n.replica.Counters.CorruptBatches, what)
		s.fetches(2, 1)
		require.EqualValues(t, 2, n.replica.LogEndOffset(), what)
	}
}

// Rule 8.
func TestAnAnswerToAnEarlierPositionIsDropped(t *testing.T) {
	s := newStage(t)
	s.writes(1)
	at, w := s.asks(2)
	read := s.reads(1, w)
	f := s.answer(1, read)
	n := s.node(2)
	n.replica.Fetched(s.now, at, f, &n.out)
	_, ok := n.replica.FetchPosition()
	require.False(t, ok, "its writes are under way")
	n.tend()
	s.quiet()
	require.Equal(t, partition.FollowContinue, n.replica.Fetched(s.now, at, f, &n.out))
	n.tend()
	s.quiet()
	require.EqualValues(t, 1, n.replica.LogEndOffset())
	s.image(3, 1, 1, 2, 3)
	at.Offset = 1
	n.replica.Fetched(s.now, at, &partition.Fetched{Diverging: partition.Divergence{Epoch: 0}}, &n.out)
	n.tend()
	s.quiet()
	require.EqualValues(t, 1, n.replica.LogEndOffset(), "the leader of another epoch says nothing")
}

// Rule 6.
func TestAFencedFollowerWaitsForTheMetadata(t *testing.T) {
	s := newStage(t)
	n := s.node(2)
	at, _ := s.asks(2)
	require.Equal(t, partition.FollowWait, n.replica.Fetched(s.now, at,
		&partition.Fetched{Code: kafka.FencedLeaderEpoch, Diverging: partition.NoDivergence()}, &n.out))
	_, ok := n.replica.FetchPosition()
	require.False(t, ok)
	s.image(1, 0, 1, 2)
	_, ok = n.replica.FetchPosition()
	require.False(t, ok, "the same epoch is no news")
	s.image(1, 1, 1, 2)
	s.asks(2)
}
