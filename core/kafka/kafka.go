// Package kafka holds the nouns of the Kafka protocol that every other room uses.
//
// It is a leaf: it imports nothing of Stet. Different numbers have different types, so that an
// offset can not be passed for an epoch. Ranges are [start, end): an "end" is exclusive, a
// "last" is inclusive.
package kafka

import (
	"encoding/base64"
	"fmt"
)

// Offset is the position of a record in a partition. Valid offsets are >= 0.
type Offset int64

// NoOffset marks an offset that is not known or does not apply; Kafka puts -1 on the wire.
const NoOffset Offset = -1

// LeaderEpoch counts the leaders of one partition. Valid epochs are >= 0.
type LeaderEpoch int32

// NoLeaderEpoch marks an epoch that is not known; Kafka puts -1 on the wire.
const NoLeaderEpoch LeaderEpoch = -1

// PartitionEpoch counts the changes of one partition's leader and ISR (KIP-497).
type PartitionEpoch int32

// BrokerID is the id of a node in its broker role. Valid ids are >= 0.
type BrokerID int32

// NoBroker marks the absence of a broker, for example of a leader.
const NoBroker BrokerID = -1

// BrokerEpoch is the metadata log offset of a broker's registration record.
type BrokerEpoch int64

// NoBrokerEpoch marks an epoch that is not known; Kafka puts -1 on the wire.
const NoBrokerEpoch BrokerEpoch = -1

// PartitionID is the index of a partition in its topic, from 0.
type PartitionID int32

// ProducerID identifies an idempotent producer. Valid ids are >= 0.
type ProducerID int64

// NoProducerID marks a batch that was written without idempotence.
const NoProducerID ProducerID = -1

// ProducerEpoch fences older instances of one producer id.
type ProducerEpoch int16

// NoProducerEpoch is what a batch without a producer carries.
const NoProducerEpoch ProducerEpoch = -1

// Sequence numbers the records of one producer in one partition; 0 follows 2^31-1.
type Sequence int32

// NoSequence is what a batch without a producer carries.
const NoSequence Sequence = -1

// Add returns the sequence n records after s, wrapping from 2^31-1 to 0 (KafkaProducer's rule:
// DefaultRecordBatch.incrementSequence).
func (s Sequence) Add(n int32) Sequence {
	const max = int32(1<<31 - 1)
	if int32(s) > max-n {
		return Sequence(n - (max - int32(s)) - 1)
	}
	return s + Sequence(n)
}

// TopicID is the 16-byte id of one life of a topic (KIP-516). The zero value is "no id".
type TopicID [16]byte

// String gives the 22 characters that Kafka prints: unpadded base64url.
func (id TopicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseTopicID reads the form that String prints.
func ParseTopicID(s string) (TopicID, error) {
	var id TopicID
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("topic id %q: want 22 characters of base64url", s)
	}
	copy(id[:], b)
	return id, nil
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition PartitionID
}

// String gives Kafka's form, which is also the partition's directory name: topic-partition.
func (tp TopicPartition) String() string { return fmt.Sprintf("%s-%d", tp.Topic, tp.Partition) }

// MaxTopicNameLength is Kafka's limit: the directory name must fit into 255 bytes.
const MaxTopicNameLength = 249

// ValidTopicName says whether Kafka accepts the name (org.apache.kafka.common.internals.Topic).
func ValidTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > MaxTopicNameLength {
		return false
	}
	for i := range len(name) {
		c := name[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '.' || c == '_' || c == '-'
		if !ok {
			return false
		}
	}
	return true
}

// TimestampType says who stamped a batch (attribute bit 3).
type TimestampType int8

const (
	CreateTime    TimestampType = 0 // the producer
	LogAppendTime TimestampType = 1 // the broker, at append
)

// NoTimestamp is what a record without a timestamp carries.
const NoTimestamp int64 = -1

// Special timestamps of ListOffsets.
const (
	LatestTimestamp        int64 = -1
	EarliestTimestamp      int64 = -2
	MaxTimestamp           int64 = -3 // KIP-734
	EarliestLocalTimestamp int64 = -4 // KIP-405
	LatestTieredTimestamp  int64 = -5 // KIP-1005
	EarliestPendingUpload  int64 = -6 // KIP-1023
)
