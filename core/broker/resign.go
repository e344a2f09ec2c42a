package broker

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
)

// A leader whose log has failed gives the leadership up: it proposes an ISR without itself, and the
// controller elects another, or the same one in a new epoch if nobody else can lead. It does so when it
// has lost records that followers may have, under whose offsets no others may come in this epoch; and
// when it can not be read, if anybody else is in sync.

// resignation is the ISR that a leader proposes that can not go on, once in an epoch.
func (r *hosted) resignation(b *Broker) (partition.ISRProposal, bool) {
	if !r.NeedsEpoch() && !r.failed() {
		return partition.ISRProposal{}, false
	}
	p := r.ledPartition(b)
	if p == nil || r.resigned == p.LeaderEpoch || !r.NeedsEpoch() && len(p.ISR) < 2 {
		return partition.ISRProposal{}, false
	}
	invariant.Sometimes(true, invariant.MarkLeaderResigned)
	r.resigned = p.LeaderEpoch
	proposal := partition.ISRProposal{LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.Epoch}
	for _, id := range p.ISR {
		if id != b.config.NodeID {
			proposal.ISR = append(proposal.ISR, partition.ISRMember{Broker: id, Epoch: kafka.NoBrokerEpoch})
		}
	}
	proposal.Recovered = true // only a leader can be recovering
	return proposal, true
}

// ledPartition is the partition, if the metadata have this replica lead it.
func (r *hosted) ledPartition(b *Broker) *metadata.Partition {
	topic := b.image.TopicByID(r.TopicID)
	if topic == nil || !r.Leading() && !r.NeedsEpoch() {
		return nil
	}
	p := topic.Partition(r.Partition)
	if p == nil || p.Leader != b.config.NodeID || !slices.Contains(p.ISR, b.config.NodeID) {
		return nil
	}
	return p
}

// failed says whether the log can not be read, as far as is known.
func (r *hosted) failed() bool {
	return r.State() == partition.Damaged || r.State() == partition.Waiting && r.Err() != nil
}

// resignationAnswered has a resignation sent again that came to nothing.
func (r *hosted) resignationAnswered(code kafka.ErrorCode) {
	if code != kafka.NewLeaderElected {
		r.resigned = kafka.NoLeaderEpoch
	}
}
