package metadata

import (
	"fmt"
	"slices"
)

// partitionChanges applies changes of partitions of one topic.
func (e *editor) partitionChanges(r *PartitionChangesRecord) error {
	e.closeTopic()
	t := e.image.TopicByID(r.TopicID)
	if n := len(e.changed); t != nil && n > 0 && t.Name <= e.changed[n-1].Name {
		e.settleTopics()
		t = e.image.TopicByID(r.TopicID)
	}
	if t == nil {
		return fmt.Errorf("changes of partitions of the unknown topic %s", r.TopicID)
	}
	for i := range r.Changes {
		if id := r.Changes[i].ID; i > 0 && id <= r.Changes[i-1].ID || t.Partition(id) == nil {
			return fmt.Errorf("change of partition %d of topic %s, which has %d, is out of order",
				id, t.Name, t.partitions.count)
		}
	}
	after := *t
	after.partitions = t.partitions.replacedAt(len(r.Changes), func(i int) (int, *Partition) {
		c := &r.Changes[i]
		p := c.applied(t.Partition(c.ID))
		return int(c.ID), compactPartition(&p)
	})
	e.changed = append(e.changed, &after)
	return nil
}

// settleTopics puts the changed topics into the trees.
func (e *editor) settleTopics() {
	if len(e.changed) == 0 {
		return
	}
	names, ids := make([]topicName, len(e.changed)), make([]topicID, len(e.changed))
	for i, t := range e.changed {
		names[i] = topicName(t.Name)
	}
	e.image.byName = e.image.byName.replaced(names, e.changed)
	slices.SortFunc(e.changed, func(a, b *Topic) int { return topicID(a.ID).compare(topicID(b.ID)) })
	for i, t := range e.changed {
		ids[i] = topicID(t.ID)
	}
	e.image.byID = e.image.byID.replaced(ids, e.changed)
	e.changed = nil
}

// applied returns the partition after the update.
func (u *PartitionUpdate) applied(p *Partition) Partition {
	out := *p
	out.Standing = u.Standing
	out.Epoch++
	if u.NewEpoch {
		out.LeaderEpoch++
	}
	return out
}
