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

	// partitions is where the Partitions of all topics lie.
	partitions []ProducePartition
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

// What one element takes in memory, bytes; a test compares them with the types.
const (
	produceTopicBytes     = 64
	producePartitionBytes = 160
)

// reset empties q and keeps its memory. The frame's bytes are let go; facts have no pointers and
// stay until they are overwritten.
func (q *ProduceRequest) reset() {
	for i := range q.Topics {
		q.Topics[i] = ProduceTopic{}
	}
	for i := range q.partitions {
		q.partitions[i].Records = nil
	}
	q.TransactionalID, q.Acks, q.TimeoutMs = nil, 0, 0
	q.Topics, q.partitions = q.Topics[:0], q.partitions[:0]
}

// read fills q, which is empty, but for the facts: examine must follow.
func (q *ProduceRequest) read(r *reader, version int16) {
	flexible := version >= 9
	q.TransactionalID = r.nullableText(flexible)
	q.Acks = r.int16()
	q.TimeoutMs = r.int32()
	for n := r.list(flexible, produceTopicBytes); n > 0 && r.ok(); n-- {
		q.readTopic(r, version, flexible)
	}
	r.skipTags(flexible)
}

func (q *ProduceRequest) readTopic(r *reader, version int16, flexible bool) {
	q.Topics = append(q.Topics, ProduceTopic{})
	t := &q.Topics[len(q.Topics)-1]
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.text(flexible)
	}
	// When the append grows partitions, earlier topics keep their part of the old array: it is
	// complete, and nothing writes to it any more.
	start := len(q.partitions)
	for n := r.list(flexible, producePartitionBytes); n > 0 && r.ok(); n-- {
		p := q.addPartition()
		p.Index = kafka.PartitionID(r.int32())
		p.Records = r.nullableBlob(flexible)
		r.skipTags(flexible)
	}
	t.Partitions = q.partitions[start:len(q.partitions):len(q.partitions)]
	r.skipTags(flexible)
}

// addPartition appends a partition, whose facts may be old.
func (q *ProduceRequest) addPartition() *ProducePartition {
	n := len(q.partitions)
	if n == cap(q.partitions) {
		q.partitions = append(q.partitions, ProducePartition{})
	} else {
		q.partitions = q.partitions[:n+1]
	}
	return &q.partitions[n]
}

// capacity counts the array elements that q keeps.
func (q *ProduceRequest) capacity() int { return cap(q.Topics) + cap(q.partitions) }

// examine fills in the facts of every batch.
func (q *ProduceRequest) examine(s *record.Scratch, maxDecompressed int64) {
	for i := range q.Topics {
		partitions := q.Topics[i].Partitions
		for j := range partitions {
			p := &partitions[j]
			p.Facts = s.Examine(p.Records, maxDecompressed)
		}
	}
}
