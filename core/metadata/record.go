package metadata

import "stet/core/kafka"

// Record is a change of the image. The kinds are closed: this package declares them all.
type Record interface{ kind() recordKind }

// recordKind is the number of a kind on disk and on the wire. Numbers are never reused.
type recordKind uint8

const (
	kindCluster          recordKind = 1
	kindBroker           recordKind = 2
	kindBrokerState      recordKind = 3
	_                               = 4 // bumped leader epochs, before feature level 1 was released
	kindTopic            recordKind = 5
	kindPartition        recordKind = 6
	kindTopicRemoval     recordKind = 7
	kindConfig           recordKind = 8
	kindProducerIDs      recordKind = 9
	kindPosition         recordKind = 10
	kindPartitionChanges recordKind = 11
	kindVoter            recordKind = 12
	kindVoterRemoval     recordKind = 13
	kindBrokerRemoval    recordKind = 14
	kindLast                        = kindBrokerRemoval
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

// BrokerStateRecord sets whether a registered broker is fenced, and whether it is in controlled
// shutdown. A broker that was not stopping before is stopping from this entry on.
type BrokerStateRecord struct {
	ID       kafka.BrokerID
	Epoch    kafka.BrokerEpoch // of the registration that is meant
	Fenced   bool
	Stopping bool
}

// BrokerRemovalRecord forgets a broker.
type BrokerRemovalRecord struct {
	ID    kafka.BrokerID
	Epoch kafka.BrokerEpoch // of the registration that is meant
}

// VoterRecord adds a voter of the metadata quorum, or replaces what is known of it. Who votes is
// raft's to say; this is what its brokers and tools have to know of a voter.
type VoterRecord struct{ Voter Voter }

// VoterRemovalRecord forgets a voter.
type VoterRemovalRecord struct{ ID uint64 }

// TopicRecord creates a topic without partitions.
type TopicRecord struct {
	ID      kafka.TopicID
	Name    string
	Configs []ConfigEntry // sorted by name
	Created int64         // as in Topic; 0 below LevelTopicsDated
}

// PartitionRecord creates a partition, which must be the next of its topic, or replaces its state.
type PartitionRecord struct {
	TopicID   kafka.TopicID
	ID        kafka.PartitionID
	Partition Partition
}

// PartitionChangesRecord changes who leads and who is in sync in partitions of one topic. It is what
// elections and fencing write: a broker that fails may change tens of thousands of partitions, so it
// is as small as it is explicit. Changes are in the order of their ids, each once.
type PartitionChangesRecord struct {
	TopicID kafka.TopicID
	Changes []PartitionUpdate
}

// PartitionUpdate is what one partition becomes. The partition epoch rises by one, and with NewEpoch
// the leader epoch too.
type PartitionUpdate struct {
	ID       kafka.PartitionID
	NewEpoch bool // always where Leader changes
	Standing
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

func (*ClusterRecord) kind() recordKind          { return kindCluster }
func (*BrokerRecord) kind() recordKind           { return kindBroker }
func (*BrokerStateRecord) kind() recordKind      { return kindBrokerState }
func (*TopicRecord) kind() recordKind            { return kindTopic }
func (*PartitionRecord) kind() recordKind        { return kindPartition }
func (*PartitionChangesRecord) kind() recordKind { return kindPartitionChanges }
func (*VoterRecord) kind() recordKind            { return kindVoter }
func (*VoterRemovalRecord) kind() recordKind     { return kindVoterRemoval }
func (*BrokerRemovalRecord) kind() recordKind    { return kindBrokerRemoval }
func (*TopicRemovalRecord) kind() recordKind     { return kindTopicRemoval }
func (*ConfigRecord) kind() recordKind           { return kindConfig }
func (*ProducerIDsRecord) kind() recordKind      { return kindProducerIDs }
func (*positionRecord) kind() recordKind         { return kindPosition }
