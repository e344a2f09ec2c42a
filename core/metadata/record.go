package metadata

import "stet/core/kafka"

// Record is a change of the image. The kinds are closed: this package declares them all.
type Record interface{ kind() recordKind }

// recordKind is the number of a kind on disk and on the wire. Numbers are never reused.
type recordKind uint8

const (
	kindCluster          recordKind = 1
	kindBroker           recordKind = 2
	kindBrokerFence      recordKind = 3
	kindLeaderEpochs     recordKind = 4
	kindTopic            recordKind = 5
	kindPartition        recordKind = 6
	kindTopicRemoval     recordKind = 7
	kindConfig           recordKind = 8
	kindProducerIDs      recordKind = 9
	kindPosition         recordKind = 10
	brokerEpochFromIndex            = kafka.BrokerEpoch(-1)
)

// ClusterRecord sets the cluster's id, once, and its feature level.
type ClusterRecord struct {
	ID       string
	Features Features
}

// BrokerRecord registers a broker, or a new incarnation of one. In the log Broker.Epoch is -1: the
// epoch is the index of the entry, which is not known before it is proposed.
type BrokerRecord struct{ Broker Broker }

// BrokerFenceRecord fences or unfences a registered broker.
type BrokerFenceRecord struct {
	ID     kafka.BrokerID
	Epoch  kafka.BrokerEpoch // of the registration that is meant
	Fenced bool
}

// LeaderEpochsRecord bumps the leader epoch and the partition epoch of every partition that the
// broker leads. A new incarnation of a broker comes with one, so that nothing of its former life is
// taken for the new one. It stands for one PartitionRecord for each such partition.
type LeaderEpochsRecord struct{ Broker kafka.BrokerID }

// TopicRecord creates a topic without partitions.
type TopicRecord struct {
	ID      kafka.TopicID
	Name    string
	Configs []ConfigEntry // sorted by name
}

// PartitionRecord creates a partition, which must be the next of its topic, or replaces its state.
type PartitionRecord struct {
	TopicID   kafka.TopicID
	ID        kafka.PartitionID
	Partition Partition
}

// TopicRemovalRecord removes a topic, its partitions and its settings.
type TopicRemovalRecord struct{ ID kafka.TopicID }

// ConfigRecord sets or, with Deleted, removes one setting of a resource.
type ConfigRecord struct {
	Resource Resource
	Name     string
	Value    string
	Deleted  bool
}

// ProducerIDsRecord gives the ids below Next, that no earlier record gave, to a broker.
type ProducerIDsRecord struct {
	Next        kafka.ProducerID
	Broker      kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch
}

// positionRecord starts a snapshot: the index of the image.
type positionRecord struct{ Index Index }

func (*ClusterRecord) kind() recordKind      { return kindCluster }
func (*BrokerRecord) kind() recordKind       { return kindBroker }
func (*BrokerFenceRecord) kind() recordKind  { return kindBrokerFence }
func (*LeaderEpochsRecord) kind() recordKind { return kindLeaderEpochs }
func (*TopicRecord) kind() recordKind        { return kindTopic }
func (*PartitionRecord) kind() recordKind    { return kindPartition }
func (*TopicRemovalRecord) kind() recordKind { return kindTopicRemoval }
func (*ConfigRecord) kind() recordKind       { return kindConfig }
func (*ProducerIDsRecord) kind() recordKind  { return kindProducerIDs }
func (*positionRecord) kind() recordKind     { return kindPosition }
