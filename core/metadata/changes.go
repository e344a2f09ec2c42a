package metadata

import (
	"cmp"
	"slices"
	"strings"

	"stet/core/kafka"
)

// changes collects what a decision about single partitions does to them, each at most once.
type changes []partitionChange

// partitionChange is a partition that becomes another.
type partitionChange struct {
	topic  *Topic
	update PartitionUpdate
	whole  *Partition // after the change, if more than the update says is different; else nil
}

// add notes an update and returns what it makes of the partition.
func (c *changes) add(t *Topic, u PartitionUpdate) *Partition {
	*c = append(*c, partitionChange{topic: t, update: u})
	after := u.applied(t.Partition(u.ID))
	return &after
}

// records returns the changes in the order that makes applying them cheapest: by the topics' names, with
// one record for all updates of a topic.
func (c changes) records() []Record {
	slices.SortFunc(c, func(x, y partitionChange) int {
		return cmp.Or(strings.Compare(x.topic.Name, y.topic.Name), cmp.Compare(x.update.ID, y.update.ID))
	})
	var updates, wholes []Record
	var last *PartitionChangesRecord
	for _, p := range c {
		switch {
		case p.whole != nil:
			wholes = append(wholes, &PartitionRecord{p.topic.ID, p.update.ID, *p.whole})
		case last != nil && last.TopicID == p.topic.ID:
			last.Changes = append(last.Changes, p.update)
		default:
			last = &PartitionChangesRecord{p.topic.ID, []PartitionUpdate{p.update}}
			updates = append(updates, last)
		}
	}
	return append(updates, wholes...)
}

// partitionKey names a partition whose topic may not exist.
type partitionKey struct {
	topic kafka.TopicID
	id    kafka.PartitionID
}
