package metadata

import (
	"encoding/base64"
	"encoding/hex"
	"slices"

	"stet/core/kafka"
)

// Index is the place of an entry in the metadata log: raft's index. Entries of the log have
// indexes from 1; an empty image is at index 0.
type Index int64

// DirectoryID is the 16-byte id of a data directory (KIP-858). The zero value is "not assigned".
type DirectoryID [16]byte

// String gives the 22 characters of unpadded base64url.
func (id DirectoryID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// IncarnationID is the random id of one life of a broker process.
type IncarnationID [16]byte

// String gives 32 hexadecimal digits.
func (id IncarnationID) String() string { return hex.EncodeToString(id[:]) }

// Endpoint is an address at which a broker tells clients to reach it.
type Endpoint struct {
	Name             string // of the listener, for example PLAINTEXT
	Host             string
	Port             uint16
	SecurityProtocol int16 // Kafka's number; 0 is PLAINTEXT
}

// FeatureRange is a range of levels that a broker or a controller supports.
type FeatureRange struct {
	Name     string
	Min, Max int16
}

// FeatureName is the name that the feature level has in Kafka's requests.
const FeatureName = "stet.version"

// Broker is a registered broker. Immutable, with all that it refers to.
type Broker struct {
	ID          kafka.BrokerID
	Epoch       kafka.BrokerEpoch // index of the entry that registered this incarnation
	Incarnation IncarnationID
	Directories []DirectoryID // sorted
	Endpoints   []Endpoint    // in the broker's order
	Rack        string        // empty: none
	Features    []FeatureRange
	Fenced      bool // hosts replicas, but may not lead nor join an ISR

	// StoppingFrom is the index of the entry from which on the broker is in controlled shutdown: it
	// may not lead nor join an ISR either. 0: it is not.
	StoppingFrom Index
}

// Stopping says whether the broker is in controlled shutdown.
func (b *Broker) Stopping() bool { return b.StoppingFrom != 0 }

// Active says whether the broker may lead and be in sync.
func (b *Broker) Active() bool { return !b.Fenced && !b.Stopping() }

// Endpoint returns the address for a listener's name.
func (b *Broker) Endpoint(name string) (Endpoint, bool) {
	i := slices.IndexFunc(b.Endpoints, func(e Endpoint) bool { return e.Name == name })
	if i < 0 {
		return Endpoint{}, false
	}
	return b.Endpoints[i], true
}

// Partition is the state of one partition. Immutable, with all that it refers to.
type Partition struct {
	Replicas    []kafka.BrokerID // in order of preference
	Directories []DirectoryID    // one for each of Replicas, or empty if none is assigned
	LeaderEpoch kafka.LeaderEpoch
	Epoch       kafka.PartitionEpoch
	Standing
	Reassignment *Reassignment // under way; nil: none
}

// Standing is who leads a partition and whose replicas hold all that is committed.
//
// Invariant: the leader is in the ISR, and there is none only if the ISR is empty. ISR and ELR are
// disjoint sets of replicas. Members of the ISR are active brokers. The ELR is empty unless the ISR
// is smaller than the topic's minimum.
type Standing struct {
	ISR    []kafka.BrokerID
	ELR    []kafka.BrokerID // eligible leader replicas (KIP-966)
	Leader kafka.BrokerID   // kafka.NoBroker: none

	// LastKnownLeader led when the partition lost its leader; kafka.NoBroker while there is one. When
	// ISR and ELR are empty it is the best that is left.
	LastKnownLeader kafka.BrokerID

	// Recovering says that the leader was elected although it may lack committed records, and has not
	// recovered since (KIP-704).
	Recovering bool
}

// Voter is a controller that votes in the metadata quorum. Immutable, with all that it refers to.
type Voter struct {
	ID        uint64 // raft's, which derives from Directory
	Node      kafka.BrokerID
	Directory DirectoryID    // of its raft log
	Endpoints []Endpoint     // in the controller's order
	Features  []FeatureRange // that it supports
}

// HasReplica says whether the broker hosts a replica.
func (p *Partition) HasReplica(b kafka.BrokerID) bool { return slices.Contains(p.Replicas, b) }

// Directory returns the id of the directory that holds the broker's replica; zero if it is not
// assigned.
func (p *Partition) Directory(b kafka.BrokerID) DirectoryID {
	i := slices.Index(p.Replicas, b)
	if i < 0 || i >= len(p.Directories) {
		return DirectoryID{}
	}
	return p.Directories[i]
}

// Topic is one life of a topic. Immutable; its partitions are reached through it.
type Topic struct {
	Name string
	ID   kafka.TopicID

	// Created is when the controller decided to create it, by its wall clock in milliseconds; 0 for a
	// topic that is older than LevelTopicsDated.
	Created int64

	configs    []ConfigEntry // sorted by name; overrides only
	partitions partitions
}

// Configs returns the topic's own settings, sorted by name. The slice is read only.
func (t *Topic) Configs() []ConfigEntry { return t.configs }

// PartitionCount returns the number of partitions; their ids are 0 to count-1.
func (t *Topic) PartitionCount() int { return t.partitions.count }

// Partition returns a partition, or nil if there is none with this id.
func (t *Topic) Partition(id kafka.PartitionID) *Partition { return t.partitions.get(int(id)) }

// ReplicationFactor returns that of partition 0, as Kafka's tools do.
func (t *Topic) ReplicationFactor() int {
	if p := t.Partition(0); p != nil {
		return p.ReplicationFactor()
	}
	return 0
}

// ResourceType says what a configuration belongs to, with Kafka's numbers.
type ResourceType int8

const (
	ResourceTopic  ResourceType = 2
	ResourceBroker ResourceType = 4 // Name "" is the default of all brokers
	ResourceGroup  ResourceType = 32
)

// Resource names what a configuration belongs to.
type Resource struct {
	Type ResourceType
	Name string
}

// ConfigEntry is one setting.
type ConfigEntry struct{ Name, Value string }

// ProducerIDBlock is a range of producer ids that belongs to one broker.
type ProducerIDBlock struct {
	First kafka.ProducerID
	Count int32
}

// ProducerIDBlockSize is the number of ids in a block, as in Kafka.
const ProducerIDBlockSize = 1000
