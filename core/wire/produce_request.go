package wire

import (
	"stet/core/kafka"
	"stet/core/record"
)

// ProduceRequest is the body of Produce v3-13. Its bytes are views into the frame.
type ProduceRequest struct {
	// TransactionalID is nil when the producer is not transactional.
	TransactionalID []byte
	Acks            int16 // as sent; only -1, 0 and 1 are legal
	TimeoutMs       int32
	Topics          []ProduceTopic
}

// ProduceTopic is one topic of a ProduceRequest. A request may name a topic more than once.
type ProduceTopic struct {
	Name       []byte        // v3-12, otherwise nil
	ID         kafka.TopicID // v13, otherwise zero
	Partitions []ProducePartition
}

// ProducePartition is what is to be appended to one partition.
type ProducePartition struct {
	Index   kafka.PartitionID
	Records []byte // should be one batch; nil when the client sent null
	Facts   record.Facts
}
