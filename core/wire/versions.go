package wire

import "slices"

// The API keys that Stet knows.
const (
	KeyProduce                     int16 = 0
	KeyFetch                       int16 = 1
	KeyListOffsets                 int16 = 2
	KeyMetadata                    int16 = 3
	KeyApiVersions                 int16 = 18
	KeyCreateTopics                int16 = 19
	KeyDeleteTopics                int16 = 20
	KeyInitProducerID              int16 = 22
	KeyOffsetForLeaderEpoch        int16 = 23
	KeyDescribeConfigs             int16 = 32
	KeyAlterConfigs                int16 = 33
	KeyDescribeLogDirs             int16 = 35
	KeyCreatePartitions            int16 = 37
	KeyElectLeaders                int16 = 43
	KeyIncrementalAlterConfigs     int16 = 44
	KeyAlterPartitionReassignments int16 = 45
	KeyListPartitionReassignments  int16 = 46
	KeyDescribeQuorum              int16 = 55
	KeyAlterPartition              int16 = 56
	KeyUpdateFeatures              int16 = 57
	KeyDescribeCluster             int16 = 60
	KeyBrokerRegistration          int16 = 62
	KeyBrokerHeartbeat             int16 = 63
	KeyUnregisterBroker            int16 = 64
	KeyAllocateProducerIDs         int16 = 67
	KeyListConfigResources         int16 = 74
	KeyDescribeTopicPartitions     int16 = 75
	KeyAddRaftVoter                int16 = 80
	KeyRemoveRaftVoter             int16 = 81
	KeyUpdateRaftVoter             int16 = 82

	// KeyMetadataFetch is Stet's own: a broker reads the metadata log from a controller.
	KeyMetadataFetch int16 = 30001
	// What controllers ask each other: who they are, raft's messages, pieces of snapshots.
	KeyQuorumHello    int16 = 30002
	KeyQuorumMessages int16 = 30003
	KeyQuorumSnapshot int16 = 30004
	// KeyMetadataIndex is Stet's own: a broker asks a controller how far the metadata log goes.
	KeyMetadataIndex int16 = 30005
	// KeyReplicaStatus is Stet's own: `stet topic describe` asks a broker for the state of its replicas.
	KeyReplicaStatus int16 = 30006
)

// OwnKey says whether a key is Stet's own, and only nodes use it.
func OwnKey(key int16) bool { return key >= 30000 && key != KeyReplicaStatus }

// Listener names the two sets of keys: what clients and brokers may ask a broker, and what brokers
// may ask a controller.
type Listener uint8

const (
	BrokerListener Listener = iota
	ControllerListener
)

// KeyVersions says which versions of a key are spoken. All bounds are inclusive.
type KeyVersions struct {
	Key  int16
	Name string // Kafka's
	// Min and Max bound what is accepted.
	Min, Max int16
	// AdvertisedMin is the Min that ApiVersions tells. It differs from Min for Produce alone:
	// librdkafka turns features off unless versions 0 to 2 are advertised (KAFKA-18659).
	AdvertisedMin int16
	// FlexibleFrom is the first version with compact lengths and tagged fields (KIP-482).
	FlexibleFrom int16
}

// Supports says whether requests of this version are accepted.
func (v *KeyVersions) Supports(version int16) bool { return version >= v.Min && version <= v.Max }

// Flexible says whether this version has compact lengths and tagged fields.
func (v *KeyVersions) Flexible(version int16) bool { return version >= v.FlexibleFrom }

// brokerVersions is sorted by key. To add a key, add it here and its walker in prescan.go.
var brokerVersions = [...]KeyVersions{
	{KeyProduce, "Produce", 3, 13, 0, 9},
	{KeyFetch, "Fetch", 4, 18, 4, 12},
	{KeyListOffsets, "ListOffsets", 1, 11, 1, 6},
	{KeyMetadata, "Metadata", 0, 13, 0, 9},
	{KeyApiVersions, "ApiVersions", 0, 5, 0, 3},
	{KeyCreateTopics, "CreateTopics", 2, 7, 2, 5},
	{KeyDeleteTopics, "DeleteTopics", 1, 6, 1, 4},
	{KeyInitProducerID, "InitProducerId", 0, 5, 0, 2},
	{KeyOffsetForLeaderEpoch, "OffsetForLeaderEpoch", 2, 4, 2, 4},
	{KeyDescribeConfigs, "DescribeConfigs", 1, 4, 1, 4},
	{KeyAlterConfigs, "AlterConfigs", 0, 2, 0, 2},
	{KeyDescribeLogDirs, "DescribeLogDirs", 1, 5, 1, 2},
	{KeyCreatePartitions, "CreatePartitions", 0, 3, 0, 2},
	{KeyElectLeaders, "ElectLeaders", 0, 2, 0, 2},
	{KeyIncrementalAlterConfigs, "IncrementalAlterConfigs", 0, 1, 0, 1},
	{KeyAlterPartitionReassignments, "AlterPartitionReassignments", 0, 1, 0, 0},
	{KeyListPartitionReassignments, "ListPartitionReassignments", 0, 0, 0, 0},
	{KeyDescribeQuorum, "DescribeQuorum", 0, 2, 0, 0},
	{KeyUpdateFeatures, "UpdateFeatures", 0, 2, 0, 0},
	{KeyDescribeCluster, "DescribeCluster", 0, 2, 0, 0},
	{KeyUnregisterBroker, "UnregisterBroker", 0, 0, 0, 0},
	{KeyListConfigResources, "ListConfigResources", 0, 1, 0, 0},
	{KeyDescribeTopicPartitions, "DescribeTopicPartitions", 0, 0, 0, 0},
	{KeyAddRaftVoter, "AddRaftVoter", 0, 1, 0, 0},
	{KeyRemoveRaftVoter, "RemoveRaftVoter", 0, 0, 0, 0},
	{KeyReplicaStatus, "ReplicaStatus", 0, 0, 0, 0},
}

// controllerVersions is sorted by key.
var controllerVersions = [...]KeyVersions{
	{KeyApiVersions, "ApiVersions", 0, 5, 0, 3},
	{KeyCreateTopics, "CreateTopics", 2, 7, 2, 5},
	{KeyDeleteTopics, "DeleteTopics", 1, 6, 1, 4},
	{KeyAlterConfigs, "AlterConfigs", 0, 2, 0, 2},
	{KeyCreatePartitions, "CreatePartitions", 0, 3, 0, 2},
	{KeyElectLeaders, "ElectLeaders", 0, 2, 0, 2},
	{KeyIncrementalAlterConfigs, "IncrementalAlterConfigs", 0, 1, 0, 1},
	{KeyAlterPartitionReassignments, "AlterPartitionReassignments", 0, 1, 0, 0},
	{KeyListPartitionReassignments, "ListPartitionReassignments", 0, 0, 0, 0},
	{KeyDescribeQuorum, "DescribeQuorum", 0, 2, 0, 0},
	{KeyAlterPartition, "AlterPartition", 2, 3, 2, 0},
	{KeyUpdateFeatures, "UpdateFeatures", 0, 2, 0, 0},
	{KeyDescribeCluster, "DescribeCluster", 0, 2, 0, 0},
	{KeyBrokerRegistration, "BrokerRegistration", 0, 4, 0, 0},
	{KeyBrokerHeartbeat, "BrokerHeartbeat", 0, 2, 0, 0},
	{KeyUnregisterBroker, "UnregisterBroker", 0, 0, 0, 0},
	{KeyAllocateProducerIDs, "AllocateProducerIds", 0, 0, 0, 0},
	{KeyAddRaftVoter, "AddRaftVoter", 0, 1, 0, 0},
	{KeyRemoveRaftVoter, "RemoveRaftVoter", 0, 0, 0, 0},
	{KeyUpdateRaftVoter, "UpdateRaftVoter", 0, 0, 0, 0},
	{KeyMetadataFetch, "MetadataFetch", 0, 0, 0, 0},
	{KeyQuorumHello, "QuorumHello", 0, 0, 0, 0},
	{KeyQuorumMessages, "QuorumMessages", 0, 0, 0, 0},
	{KeyQuorumSnapshot, "QuorumSnapshot", 0, 0, 0, 0},
	{KeyMetadataIndex, "MetadataIndex", 0, 0, 0, 0},
}

// Versions lists what the listener speaks, sorted by key.
func Versions(l Listener) []KeyVersions {
	if l == ControllerListener {
		return slices.Clone(controllerVersions[:])
	}
	return slices.Clone(brokerVersions[:])
}

// Lookup finds a key of the listener.
func Lookup(l Listener, key int16) (KeyVersions, bool) {
	if l == ControllerListener {
		return lookupController(key)
	}
	return lookupBroker(key)
}

func lookupBroker(key int16) (KeyVersions, bool) {
	for i := range brokerVersions {
		if brokerVersions[i].Key == key {
			return brokerVersions[i], true
		}
	}
	return KeyVersions{}, false
}

func lookupController(key int16) (KeyVersions, bool) {
	for i := range controllerVersions {
		if controllerVersions[i].Key == key {
			return controllerVersions[i], true
		}
	}
	return KeyVersions{}, false
}

// lookupAny finds a key of either listener.
func lookupAny(key int16) (KeyVersions, bool) {
	if v, ok := lookupBroker(key); ok {
		return v, true
	}
	return lookupController(key)
}
