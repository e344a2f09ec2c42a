package metadata

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/kafka"
)

// Apply returns the image after the entry at index, which consists of records, or an error if the
// records do not fit the image: then the log and the software do not belong together, and nobody
// may act on it. The records belong to the image from now on.
func (m *Image) Apply(index Index, records ...Record) (*Image, error) {
	if index <= m.index {
		return nil, fmt.Errorf("entry %d applied to the image of entry %d", index, m.index)
	}
	e := editor{image: *m, index: index}
	for i, r := range records {
		if err := e.apply(r); err != nil {
			return nil, fmt.Errorf("record %d of metadata entry %d: %w", i, index, err)
		}
	}
	e.closeTopic()
	e.settleTopics()
	e.image.index = index
	return &e.image, nil
}

// ApplyEntry is Apply with the entry's bytes, which may be empty: such an entry changes nothing but
// the index.
func (m *Image) ApplyEntry(index Index, entry []byte) (*Image, error) {
	return BuildLevels().ApplyEntry(m, index, entry)
}

// editor builds one image. It owns the struct image, not what that shares with other images.
type editor struct {
	image Image
	index Index
	topic *Topic // being changed, and not yet in the trees; nil for none
	owned bool   // nobody else has the list of partitions of topic

	// changed are topics with other partitions that are not in the trees yet, in the order of their
	// names. An event of a broker may change all topics that there are.
	changed []*Topic
}

func (e *editor) apply(r Record) error {
	if r, ok := r.(*PartitionChangesRecord); ok {
		return e.partitionChanges(r)
	}
	e.settleTopics()
	switch r := r.(type) {
	case *ClusterRecord:
		return e.cluster(r)
	case *BrokerRecord:
		return e.broker(r)
	case *BrokerStateRecord:
		return e.brokerState(r)
	case *BrokerRemovalRecord:
		return e.removeBroker(r)
	case *VoterRecord:
		e.image.voters = e.image.voters.put(voterKey(r.Voter.ID), &r.Voter)
		return nil
	case *VoterRemovalRecord:
		return e.removeVoter(r.ID)
	case *TopicRecord:
		return e.createTopic(r)
	case *PartitionRecord:
		return e.partition(r)
	case *TopicRemovalRecord:
		return e.removeTopic(r.ID)
	case *ConfigRecord:
		return e.config(r)
	case *ProducerIDsRecord:
		return e.producerIDs(r)
	case *positionRecord:
		return fmt.Errorf("a snapshot's position inside the log")
	}
	return fmt.Errorf("record of unknown kind")
}

func (e *editor) cluster(r *ClusterRecord) error {
	if r.ID == "" {
		return fmt.Errorf("cluster without an id")
	}
	if e.image.clusterID != "" && e.image.clusterID != r.ID {
		return fmt.Errorf("cluster %s is renamed to %s", e.image.clusterID, r.ID)
	}
	if r.Features.Level < e.image.features.Level {
		return fmt.Errorf("feature level falls to %d", r.Features.Level)
	}
	e.image.clusterID, e.image.features = r.ID, r.Features
	return nil
}

func (e *editor) broker(r *BrokerRecord) error {
	b := r.Broker
	if b.Epoch == brokerEpochFromIndex {
		b.Epoch = kafka.BrokerEpoch(e.index)
	}
	if old := e.image.Broker(b.ID); old != nil && old.Epoch >= b.Epoch {
		return fmt.Errorf("broker %d: epoch goes from %d to %d", b.ID, old.Epoch, b.Epoch)
	}
	e.image.brokers = e.image.brokers.put(brokerKey(b.ID), &b)
	return nil
}

func (e *editor) brokerState(r *BrokerStateRecord) error {
	old := e.image.Broker(r.ID)
	if old == nil || old.Epoch != r.Epoch {
		return fmt.Errorf("broker %d with epoch %d is not registered", r.ID, r.Epoch)
	}
	b := *old
	b.Fenced = r.Fenced
	switch {
	case !r.Stopping:
		b.StoppingFrom = 0
	case !old.Stopping():
		b.StoppingFrom = e.index
	}
	e.image.brokers = e.image.brokers.put(brokerKey(r.ID), &b)
	return nil
}

func (e *editor) removeBroker(r *BrokerRemovalRecord) error {
	old := e.image.Broker(r.ID)
	if old == nil || old.Epoch != r.Epoch {
		return fmt.Errorf("broker %d with epoch %d is not registered", r.ID, r.Epoch)
	}
	e.image.brokers = e.image.brokers.remove(brokerKey(r.ID))
	return nil
}

func (e *editor) removeVoter(id uint64) error {
	if e.image.Voter(id) == nil {
		return fmt.Errorf("the unknown voter %d is removed", id)
	}
	e.image.voters = e.image.voters.remove(voterKey(id))
	return nil
}

func (e *editor) createTopic(r *TopicRecord) error {
	e.closeTopic()
	if e.image.Topic(r.Name) != nil || e.image.TopicByID(r.ID) != nil {
		return fmt.Errorf("topic %s with id %s exists", r.Name, r.ID)
	}
	e.topic, e.owned = &Topic{Name: r.Name, ID: r.ID, Created: r.Created, configs: r.Configs}, true
	return nil
}

func (e *editor) partition(r *PartitionRecord) error {
	if !e.openTopic(r.TopicID) {
		return fmt.Errorf("partition of the unknown topic %s", r.TopicID)
	}
	i := int(r.ID)
	if i < 0 || i > e.topic.partitions.count {
		return fmt.Errorf("partition %d of topic %s leaves a gap", i, e.topic.Name)
	}
	if old := e.topic.partitions.get(i); old == nil {
		e.image.partitionCount++
	} else if old.Epoch > r.Partition.Epoch || old.LeaderEpoch > r.Partition.LeaderEpoch {
		return fmt.Errorf("partition %d of topic %s: an epoch goes back", i, e.topic.Name)
	}
	if e.owned && i == e.topic.partitions.count {
		e.topic.partitions.append(compactPartition(&r.Partition))
	} else {
		e.topic.partitions = e.topic.partitions.set(i, compactPartition(&r.Partition))
	}
	return nil
}

// compactPartition lets the ISR share the memory of the replicas where they are equal, as they are
// nearly always.
func compactPartition(p *Partition) *Partition {
	c := *p
	if slices.Equal(c.ISR, c.Replicas) {
		c.ISR = c.Replicas
	}
	if len(c.ELR) == 0 {
		c.ELR = nil
	}
	return &c
}

func (e *editor) removeTopic(id kafka.TopicID) error {
	e.closeTopic()
	t := e.image.TopicByID(id)
	if t == nil {
		return fmt.Errorf("the unknown topic %s is removed", id)
	}
	e.image.partitionCount -= t.partitions.count
	e.image.byName = e.image.byName.remove(topicName(t.Name))
	e.image.byID = e.image.byID.remove(topicID(id))
	return nil
}

func (e *editor) config(r *ConfigRecord) error {
	if r.Resource.Type != ResourceTopic {
		k := resourceKey(r.Resource)
		if changed := changeConfig(e.image.ResourceConfigs(r.Resource), r); len(changed) == 0 {
			e.image.configs = e.image.configs.remove(k)
		} else {
			e.image.configs = e.image.configs.put(k, &changed)
		}
		return nil
	}
	e.closeTopic()
	t := e.image.Topic(r.Resource.Name)
	if t == nil {
		return fmt.Errorf("setting %s of the unknown topic %s", r.Name, r.Resource.Name)
	}
	e.openTopic(t.ID)
	e.topic.configs = changeConfig(t.configs, r)
	return nil
}

// changeConfig returns a changed copy of the sorted entries.
func changeConfig(entries []ConfigEntry, r *ConfigRecord) []ConfigEntry {
	i, found := slices.BinarySearchFunc(entries, r.Name, func(e ConfigEntry, name string) int {
		return strings.Compare(e.Name, name)
	})
	out := slices.Clone(entries)
	switch {
	case r.Deleted && found && len(out) == 1:
		return nil
	case r.Deleted && found:
		return slices.Delete(out, i, i+1)
	case r.Deleted:
		return out
	case found:
		out[i].Value = r.Value
		return out
	}
	return slices.Insert(out, i, ConfigEntry{r.Name, r.Value})
}

func (e *editor) producerIDs(r *ProducerIDsRecord) error {
	if r.Next < e.image.nextProducerID {
		return fmt.Errorf("producer ids from %d on are given again", r.Next)
	}
	e.image.nextProducerID = r.Next
	return nil
}

// openTopic makes the topic with this id the one that is being changed. Partitions of a topic come
// in a row, so that the trees are changed once for all of them.
func (e *editor) openTopic(id kafka.TopicID) bool {
	if e.topic != nil && e.topic.ID == id {
		return true
	}
	e.closeTopic()
	t := e.image.TopicByID(id)
	if t == nil {
		return false
	}
	c := *t
	e.topic, e.owned = &c, false
	return true
}

// closeTopic puts the topic that was being changed into the trees.
func (e *editor) closeTopic() {
	if e.topic == nil {
		return
	}
	e.image.byName = e.image.byName.put(topicName(e.topic.Name), e.topic)
	e.image.byID = e.image.byID.put(topicID(e.topic.ID), e.topic)
	e.topic = nil
}
