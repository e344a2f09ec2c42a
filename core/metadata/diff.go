package metadata

import (
	"slices"

	"stet/core/kafka"
)

// Delta is what changed from one image to another, each list in the order of its keys.
type Delta struct {
	TopicsRemoved []*Topic // lives that ended; of a topic created again, the old one
	TopicsCreated []*Topic // lives that began
	TopicsChanged []TopicChange
	Brokers       []BrokerChange
	Voters        []VoterChange
	Resources     []Resource // other than topics, whose settings changed
	Cluster       bool       // cluster id or features
}

// TopicChange is a topic that both images have, in different states.
type TopicChange struct {
	Before, After *Topic
	Configs       bool // the settings changed
	Partitions    []PartitionChange
}

// PartitionChange is a partition in two images; Before is nil for a new one.
type PartitionChange struct {
	ID            kafka.PartitionID
	Before, After *Partition
}

// Unclean says that an election, by one entry, made a leader that may lack committed records. Such a
// leader has to recover; another that was not in sync before has joined in the entry.
func (c *PartitionChange) Unclean() bool {
	if c.Before == nil || c.After == nil || c.After.Leader == kafka.NoBroker || !c.After.Recovering ||
		c.After.LeaderEpoch == c.Before.LeaderEpoch {
		return false
	}
	return !slices.Contains(c.Before.ISR, c.After.Leader) && !slices.Contains(c.Before.ELR, c.After.Leader)
}

// BrokerChange is a broker in two images; either may be nil.
type BrokerChange struct{ Before, After *Broker }

// VoterChange is a voter of the metadata quorum in two images; either may be nil.
type VoterChange struct{ Before, After *Voter }

// Diff returns what changed. It costs about as much as there are changes, however large the images
// are, if one comes from the other.
func Diff(before, after *Image) Delta {
	d := Delta{Cluster: before.clusterID != after.clusterID || before.features != after.features}
	diff(before.byName, after.byName, func(_ topicName, a, b *Topic) { d.topic(a, b) })
	diff(before.brokers, after.brokers, func(_ brokerKey, a, b *Broker) {
		d.Brokers = append(d.Brokers, BrokerChange{a, b})
	})
	diff(before.voters, after.voters, func(_ voterKey, a, b *Voter) {
		d.Voters = append(d.Voters, VoterChange{a, b})
	})
	diff(before.configs, after.configs, func(k resourceKey, _, _ *[]ConfigEntry) {
		d.Resources = append(d.Resources, Resource(k))
	})
	return d
}

func (d *Delta) topic(before, after *Topic) {
	if before != nil && after != nil && before.ID == after.ID {
		change := TopicChange{Before: before, After: after}
		change.Configs = !sameConfigs(before.configs, after.configs)
		before.partitions.diff(after.partitions, func(i int, a, b *Partition) {
			change.Partitions = append(change.Partitions, PartitionChange{kafka.PartitionID(i), a, b})
		})
		d.TopicsChanged = append(d.TopicsChanged, change)
		return
	}
	if before != nil {
		d.TopicsRemoved = append(d.TopicsRemoved, before)
	}
	if after != nil {
		d.TopicsCreated = append(d.TopicsCreated, after)
	}
}

func sameConfigs(a, b []ConfigEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
