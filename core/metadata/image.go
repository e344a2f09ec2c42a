package metadata

import (
	"iter"

	"stet/core/kafka"
)

// Image is the state of a cluster after an entry of the metadata log. It is immutable; Apply
// returns a new one that shares what did not change.
type Image struct {
	index          Index
	clusterID      string
	features       Features
	nextProducerID kafka.ProducerID
	partitionCount int

	brokers tree[brokerKey, Broker]
	voters  tree[voterKey, Voter]
	// Invariant: both trees hold the same topics.
	byName  tree[topicName, Topic]
	byID    tree[topicID, Topic]
	configs tree[resourceKey, []ConfigEntry] // of resources other than topics; sorted, not empty
}

// Empty returns the image before the first entry.
func Empty() *Image { return &Image{} }

// Index returns the index of the last entry applied; 0 before the first.
func (m *Image) Index() Index { return m.index }

// ClusterID returns the cluster's id, or "" before the first controller has chosen it.
func (m *Image) ClusterID() string { return m.clusterID }

// Features returns the level of behaviour that is in force.
func (m *Image) Features() Features { return m.features }

// NextProducerID returns the first producer id that was never given to a broker.
func (m *Image) NextProducerID() kafka.ProducerID { return m.nextProducerID }

// Broker returns a registered broker, or nil.
func (m *Image) Broker(id kafka.BrokerID) *Broker { return m.brokers.get(brokerKey(id)) }

// Brokers yields the registered brokers, fenced ones included, by ascending id.
func (m *Image) Brokers() iter.Seq[*Broker] { return m.brokers.all() }

// Voter returns a voter of the metadata quorum, or nil.
func (m *Image) Voter(id uint64) *Voter { return m.voters.get(voterKey(id)) }

// Voters yields the voters of the metadata quorum by ascending id.
func (m *Image) Voters() iter.Seq[*Voter] { return m.voters.all() }

// Topic returns the topic with this name, or nil.
func (m *Image) Topic(name string) *Topic { return m.byName.get(topicName(name)) }

// TopicByID returns the topic with this id, or nil.
func (m *Image) TopicByID(id kafka.TopicID) *Topic { return m.byID.get(topicID(id)) }

// Topics yields all topics, by ascending name.
func (m *Image) Topics() iter.Seq[*Topic] { return m.byName.all() }

// TopicCount returns the number of topics.
func (m *Image) TopicCount() int { return m.byName.size() }

// PartitionCount returns the number of partitions of all topics.
func (m *Image) PartitionCount() int { return m.partitionCount }

// ResourceConfigs returns the settings of a resource, sorted by name. The slice is read only.
func (m *Image) ResourceConfigs(r Resource) []ConfigEntry {
	if r.Type == ResourceTopic {
		if t := m.Topic(r.Name); t != nil {
			return t.configs
		}
		return nil
	}
	if e := m.configs.get(resourceKey(r)); e != nil {
		return *e
	}
	return nil
}
