package partition

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// isr is the in-sync replicas as a leader knows the controller to have them, and the one change that
// it has asked for (KIP-497).
//
// Whether a change that was asked for has been made is not known until it is answered or the metadata
// have gone on. So who may be in the ISR, the maximal ISR, is who is in the committed one or would be
// in the proposed one: a shrink does not count before it is committed, and an expansion counts before.
type isr struct {
	leaderEpoch    kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	committed      []kafka.BrokerID // shared with the image, or with an answer
	recovering     bool             // no other replica may be in the ISR yet (kafka-map rule 20)
	proposal       *ISRProposal     // nil: nothing is asked for
	taken          bool             // the proposal is with the broker
}

// ISRMember is a replica in a proposal, with the life of its broker in which it was seen to be in
// sync (KIP-903); kafka.NoBrokerEpoch where it was not seen, and for this broker itself.
type ISRMember struct {
	Broker kafka.BrokerID
	Epoch  kafka.BrokerEpoch
}

// ISRProposal asks the controller for an ISR, if the partition still has these epochs.
type ISRProposal struct {
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []ISRMember
	Recovered      bool // the leader need not be called recovering any more
	Recovering     bool // it still has to be, as far as this leader knows
}

// ISRVersion tells the proposals of a partition apart.
type ISRVersion struct {
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
}

// ISRAnswer is what became of a proposal. When nothing came back the Code is
// kafka.NetworkException.
type ISRAnswer struct {
	Proposal       ISRVersion // the epochs that were proposed
	Code           kafka.ErrorCode
	ISR            []kafka.BrokerID     // without an error: as it is now. Not written
	LeaderEpoch    kafka.LeaderEpoch    // likewise
	PartitionEpoch kafka.PartitionEpoch // likewise
}

func newISR(l Leadership) isr {
	return isr{
		leaderEpoch: l.Epoch, partitionEpoch: l.PartitionEpoch,
		committed: l.ISR, recovering: l.Recovering,
	}
}

// has says whether a replica is known to be in the ISR.
func (s *isr) has(id kafka.BrokerID) bool { return slices.Contains(s.committed, id) }

// mayHave says whether a replica is in the maximal ISR.
func (s *isr) mayHave(id kafka.BrokerID) bool {
	return s.has(id) || s.proposal != nil &&
		slices.ContainsFunc(s.proposal.ISR, func(m ISRMember) bool { return m.Broker == id })
}

// propose asks for a change. There is none under way.
func (s *isr) propose(members []ISRMember, recovered bool) {
	invariant.Always(s.proposal == nil, "one change of the ISR at a time")
	s.proposal = &ISRProposal{
		LeaderEpoch: s.leaderEpoch, PartitionEpoch: s.partitionEpoch,
		ISR: members, Recovered: recovered, Recovering: s.recovering && !recovered,
	}
	s.taken = false
}

// update takes over what the metadata say, unless that is no news. A proposal was for the partition
// epoch before: either this is what it became, or it never will be anything.
func (s *isr) update(to Leadership) bool {
	if to.PartitionEpoch <= s.partitionEpoch {
		return false
	}
	*s = newISR(to)
	return true
}

// adopt goes on with what a leadership knew that ended in this epoch, its proposal included: that may
// have been granted.
func (s *isr) adopt(before *isr) {
	if before.partitionEpoch >= s.partitionEpoch {
		*s = *before
		s.taken = false
	}
}

// answered takes the controller's answer to the proposal, and says whether anything has changed.
func (s *isr) answered(a *ISRAnswer) bool {
	if s.proposal == nil || !s.taken ||
		a.Proposal != (ISRVersion{s.proposal.LeaderEpoch, s.proposal.PartitionEpoch}) {
		return false // late
	}
	switch a.Code {
	case kafka.None:
		if a.LeaderEpoch != s.leaderEpoch || a.PartitionEpoch < s.partitionEpoch {
			return false // another leader is elected: the metadata will say so
		}
		s.partitionEpoch, s.committed = a.PartitionEpoch, a.ISR
		s.recovering = s.recovering && !s.proposal.Recovered
		s.proposal = nil
		return true
	case kafka.IneligibleReplica, kafka.OperationNotAttempted:
		s.proposal = nil // refused for good: what is committed stands
		return true
	case kafka.FencedLeaderEpoch, kafka.InvalidUpdateVersion, kafka.NewLeaderElected,
		kafka.UnknownTopicID, kafka.UnknownTopicOrPartition, kafka.InvalidRequest:
		return false // the metadata that say why are on their way; until then it may have been granted
	}
	if !invariant.CanaryProposedOnce.On() {
		s.taken = false // not known: it is proposed again
	}
	return false
}
