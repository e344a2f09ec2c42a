package partition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
)

func testISR() *isr {
	s := newISR(Leadership{Epoch: 5, PartitionEpoch: 8, ISR: brokers(1, 2)})
	s.propose([]ISRMember{{1, -1}, {2, 20}, {3, 30}}, false)
	s.taken = true
	return &s
}

// Rule 19.
func TestAProposalIsPendingUntilItsFateIsKnown(t *testing.T) {
	version := ISRVersion{5, 8}
	for code, want := range map[kafka.ErrorCode]struct{ pending, again bool }{
		kafka.FencedLeaderEpoch:     {pending: true},
		kafka.InvalidUpdateVersion:  {pending: true},
		kafka.NewLeaderElected:      {pending: true},
		kafka.UnknownTopicID:        {pending: true},
		kafka.InvalidRequest:        {pending: true},
		kafka.IneligibleReplica:     {},
		kafka.OperationNotAttempted: {},
		kafka.NetworkException:      {pending: true, again: true},
		kafka.NotController:         {pending: true, again: true},
		kafka.RequestTimedOut:       {pending: true, again: true},
		kafka.UnknownServerError:    {pending: true, again: true},
		kafka.StaleBrokerEpoch:      {pending: true, again: true},
	} {
		s := testISR()
		s.answered(&ISRAnswer{Proposal: version, Code: code})
		require.Equal(t, want.pending, s.mayHave(3), "%d", code)
		require.Equal(t, want.again, want.pending && !s.taken, "%d", code)
		require.Equal(t, brokers(1, 2), s.committed)
	}
	s := testISR()
	require.True(t, s.answered(&ISRAnswer{
		Proposal: version, ISR: brokers(1, 2, 3), LeaderEpoch: 5, PartitionEpoch: 9,
	}))
	require.True(t, s.has(3))
	require.Nil(t, s.proposal)
	require.EqualValues(t, 9, s.partitionEpoch)
}

func TestAnAnswerToAnotherProposalIsLate(t *testing.T) {
	s := testISR()
	for _, version := range []ISRVersion{{4, 8}, {5, 7}, {5, 9}} {
		require.False(t, s.answered(&ISRAnswer{Proposal: version, Code: kafka.IneligibleReplica}))
		require.True(t, s.mayHave(3))
	}
	s.taken = false
	require.False(t, s.answered(&ISRAnswer{Proposal: ISRVersion{5, 8}, Code: kafka.IneligibleReplica}))
}

func TestTheMetadataEndAProposalWhenTheyHaveGoneOn(t *testing.T) {
	s := testISR()
	require.False(t, s.update(Leadership{Epoch: 5, PartitionEpoch: 8, ISR: brokers(1, 2)}))
	require.True(t, s.mayHave(3), "the same epoch says nothing of it")
	require.True(t, s.update(Leadership{Epoch: 5, PartitionEpoch: 9, ISR: brokers(1)}))
	require.False(t, s.mayHave(3))
	require.False(t, s.mayHave(2))
}

func TestAProposalOutlivesAFenceOfItsLeader(t *testing.T) {
	s := newISR(Leadership{Epoch: 5, PartitionEpoch: 8, ISR: brokers(1, 2)})
	s.adopt(testISR())
	require.True(t, s.mayHave(3))
	require.False(t, s.taken, "an answer may have been missed")
	s = newISR(Leadership{Epoch: 5, PartitionEpoch: 9, ISR: brokers(1, 2)})
	s.adopt(testISR())
	require.False(t, s.mayHave(3), "the metadata have gone on")
}

// Rule 14.
func TestLagIsTheTimeSinceAFollowerHadWhatThereWas(t *testing.T) {
	const lagMax = time.Second
	at := func(ms int) env.Mono { return env.Mono(0).Add(time.Duration(ms) * time.Millisecond) }
	f := progress{id: 2}
	fetch := func(ms int, offset, leaderEnd kafka.Offset) {
		f.onFetch(at(ms), &FollowerFetch{Offset: offset, Eligible: true}, leaderEnd)
	}
	require.False(t, f.lags(at(5000), lagMax, 10), "its time begins now")
	require.False(t, f.lags(at(6000), lagMax, 10))
	require.True(t, f.lags(at(6001), lagMax, 10))
	fetch(7000, 4, 10)
	require.True(t, f.lags(at(7000), lagMax, 10))
	require.False(t, f.joining)
	fetch(7500, 10, 15)
	require.False(t, f.lags(at(8000), lagMax, 15), "at 7000 it had what there was at 7000")
	require.True(t, f.joining)
	require.True(t, f.lags(at(8001), lagMax, 15))
	fetch(8100, 15, 15)
	require.False(t, f.lags(at(9100), lagMax, 20))
	require.True(t, f.lags(at(9101), lagMax, 20))
	require.False(t, f.lags(at(99999), lagMax, 15), "who has everything is never out")
}

func TestARecoveringLeaderIsAloneUntilItHasRecovered(t *testing.T) {
	l := newLeader(1, Leadership{Epoch: 5, PartitionEpoch: 8, ISR: brokers(1), Replicas: brokers(1, 2), Recovering: true}, 0)
	require.Equal(t, &ISRProposal{5, 8, []ISRMember{{1, kafka.NoBrokerEpoch}}, true, false}, l.isr.proposal)
	l.isr.taken = true
	f := l.followers.find(2)
	f.fetched, f.brokerEpoch = true, 20
	l.isr.answered(&ISRAnswer{Proposal: ISRVersion{5, 8}, Code: kafka.OperationNotAttempted})
	l.expand(f, true, 0)
	require.Nil(t, l.isr.proposal, "it is recovering still")
	l.proposeRecovered()
	l.isr.taken = true
	l.isr.answered(&ISRAnswer{Proposal: ISRVersion{5, 8}, ISR: brokers(1), LeaderEpoch: 5, PartitionEpoch: 9})
	l.expand(f, true, 0)
	require.Equal(t, &ISRProposal{5, 9, []ISRMember{{1, kafka.NoBrokerEpoch}, {2, 20}}, false, false}, l.isr.proposal)
}

// Rule 12.
func TestAFollowerJoinsWithEverythingThatMayBeCommitted(t *testing.T) {
	for what, c := range map[string]struct {
		end      kafka.Offset
		eligible bool
		joins    bool
	}{
		"at the start of the epoch":              {10, true, true},
		"below the start of the epoch":           {9, true, false},
		"not eligible":                           {10, false, false},
		"below the high watermark that it lacks": {4, true, false},
	} {
		l := newLeader(1, Leadership{Epoch: 5, ISR: brokers(1), Replicas: brokers(1, 2)}, 10)
		f := l.followers.find(2)
		f.end = c.end
		l.expand(f, c.eligible, 5)
		require.Equal(t, c.joins, l.isr.proposal != nil, what)
	}
}

func TestAMemberThatLostWhatIsCommittedIsOutAtOnce(t *testing.T) {
	l := newLeader(1, Leadership{Epoch: 5, ISR: brokers(1, 2, 3), Replicas: brokers(1, 2, 3)}, 10)
	f := l.followers.find(2)
	f.end = 7
	l.dropLost(f, 7)
	require.Nil(t, l.isr.proposal)
	l.dropLost(f, 8)
	require.Equal(t, []ISRMember{{1, -1}, {3, -1}}, l.isr.proposal.ISR)
}

// Canary 11: the life in which it was in sync, not the one that asks now.
func TestAProposalNamesTheLifeThatWasInSync(t *testing.T) {
	r := &Replica{state: Online, lead: newLeader(1, Leadership{Epoch: 5, ISR: brokers(1), Replicas: brokers(1, 2)}, 0)}
	f := r.lead.followers.find(2)
	f.onFetch(0, &FollowerFetch{Offset: 3, BrokerEpoch: 20, Eligible: true}, 3)
	r.lead.expand(f, true, 3)
	f.onFetch(0, &FollowerFetch{Offset: 0, BrokerEpoch: 21, Eligible: true}, 3)
	p, ok := r.TakeProposal()
	require.True(t, ok)
	require.EqualValues(t, 20, p.ISR[1].Epoch)
	_, ok = r.TakeProposal()
	require.False(t, ok, "once")
	r.ProposalAnswered(ISRAnswer{Proposal: ISRVersion{5, 0}, Code: kafka.NetworkException}, new(env.Effects))
	again, ok := r.TakeProposal()
	require.True(t, ok)
	require.Equal(t, p, again)
}
