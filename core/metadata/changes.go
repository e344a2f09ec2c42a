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

// update notes an update and returns the partition after it, with a reassignment that it completes.
func (c *changes) update(t *Topic, u PartitionUpdate) *Partition {
	before := t.Partition(u.ID)
	updated := u.applied(before)
	if done := updated.completed(before); done != &updated {
		c.replace(t, u.ID, done)
		return done
	}
	*c = append(*c, partitionChange{topic: t, update: u})
	return &updated
}

// replace notes that a partition becomes another with other replicas.
func (c *changes) replace(t *Topic, id kafka.PartitionID, p *Partition) {
	*c = append(*c, partitionChange{t, PartitionUpdate{ID: id}, p})
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
