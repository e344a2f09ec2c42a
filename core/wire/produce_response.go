package wire

import "stet/core/kafka"

// ProduceResponse is an answer to Produce v3-13, built topic by topic: AddTopic, then AddPartition
// for each of its partitions. Reset makes it ready for the next; the zero value is ready too.
type ProduceResponse struct {
	ThrottleMs int32
	// Endpoints are of the leaders that partitions name; v10+.
	Endpoints []Endpoint
	// Partitions are those of all topics, in order. Change them, but add with AddPartition.
	Partitions []ProducedPartition

	topics []responseTopic
}

// ProducedPartition is the outcome for one partition.
type ProducedPartition struct {
	Index          kafka.PartitionID
	Error          kafka.ErrorCode
	BaseOffset     kafka.Offset
	AppendTimeMs   int64         // -1 unless the topic has LogAppendTime
	LogStartOffset kafka.Offset  // v5+
	RecordErrors   []RecordError // v8+, KIP-467
	ErrorMessage   string        // v8+; "" is null on the wire
	CurrentLeader  Leader        // v10+
}

// RecordError names a record that made its batch be refused.
type RecordError struct {
	BatchIndex int32  // index of the record in its batch
	Message    string // "" is null on the wire
}

// responseTopic is a topic of a response, of which the partitions lie in one flat slice.
type responseTopic struct {
	name       string
	id         kafka.TopicID
	partitions int // how many
}

// Reset empties r and keeps its memory.
func (r *ProduceResponse) Reset() {
	clear(r.Endpoints)
	clear(r.Partitions)
	clear(r.topics)
	r.ThrottleMs = 0
	r.Endpoints, r.Partitions, r.topics = r.Endpoints[:0], r.Partitions[:0], r.topics[:0]
}

// AddTopic starts a topic. Versions up to 12 write the name, later ones the id.
func (r *ProduceResponse) AddTopic(name string, id kafka.TopicID) {
	r.topics = append(r.topics, responseTopic{name: name, id: id})
}

// AddPartition adds a partition to the last topic, with everything but the index at its default.
// The pointer is good until the next AddPartition.
func (r *ProduceResponse) AddPartition(index kafka.PartitionID) *ProducedPartition {
	r.topics[len(r.topics)-1].partitions++
	r.Partitions = append(r.Partitions, ProducedPartition{
		Index: index, BaseOffset: kafka.NoOffset, AppendTimeMs: kafka.NoTimestamp,
		LogStartOffset: kafka.NoOffset, CurrentLeader: NoLeader(),
	})
	return &r.Partitions[len(r.Partitions)-1]
}

// AppendTo appends the response, header included and length prefix not.
func (r *ProduceResponse) AppendTo(dst []byte, version int16, correlation int32) []byte {
	flexible, byID := version >= 9, version >= 13
	dst = appendResponseHeader(dst, KeyProduce, flexible, correlation)
	dst = appendLength(dst, len(r.topics), flexible)
	next := 0
	for i := range r.topics {
		t := &r.topics[i]
		dst = appendTopic(dst, t, byID, flexible)
		dst = appendLength(dst, t.partitions, flexible)
		for range t.partitions {
			dst = r.Partitions[next].appendTo(dst, version)
			next++
		}
		if flexible {
			dst = append(dst, 0)
		}
	}
	dst = appendInt32(dst, r.ThrottleMs)
	switch {
	case version >= 10:
		return appendEndpointTags(dst, r.Endpoints)
	case flexible:
		return append(dst, 0)
	}
	return dst
}

func (p *ProducedPartition) appendTo(dst []byte, version int16) []byte {
	flexible := version >= 9
	dst = appendInt32(dst, int32(p.Index))
	dst = appendInt16(dst, int16(p.Error))
	dst = appendInt64(dst, int64(p.BaseOffset))
	dst = appendInt64(dst, p.AppendTimeMs)
	if version >= 5 {
		dst = appendInt64(dst, int64(p.LogStartOffset))
	}
	if version >= 8 {
		dst = appendRecordErrors(dst, p.RecordErrors, flexible)
		dst = appendNullableText(dst, p.ErrorMessage, p.ErrorMessage == "", flexible)
	}
	switch {
	case version >= 10 && p.CurrentLeader != NoLeader():
		return appendLeaderTag(append(dst, 1), 0, p.CurrentLeader)
	case flexible:
		return append(dst, 0)
	}
	return dst
}

func appendRecordErrors(dst []byte, errors []RecordError, flexible bool) []byte {
	dst = appendLength(dst, len(errors), flexible)
	for i := range errors {
		e := &errors[i]
		dst = appendInt32(dst, e.BatchIndex)
		dst = appendNullableText(dst, e.Message, e.Message == "", flexible)
		if flexible {
			dst = append(dst, 0)
		}
	}
	return dst
}
