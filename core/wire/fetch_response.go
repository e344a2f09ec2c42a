package wire

import "stet/core/kafka"

// FetchResponse is an answer to Fetch v4-18, built topic by topic: AddTopic, then AddPartition for
// each of its partitions. Reset makes it ready for the next; the zero value is ready too.
type FetchResponse struct {
	ThrottleMs int32
	Error      kafka.ErrorCode // v7+
	SessionID  int32           // v7+
	// Endpoints are of the leaders that partitions name; v16+.
	Endpoints []Endpoint
	// Partitions are those of all topics, in order. Change them, but add with AddPartition.
	Partitions []FetchedPartition

	topics []responseTopic
}

// FetchedPartition is what one partition answers.
type FetchedPartition struct {
	Index            kafka.PartitionID
	Error            kafka.ErrorCode
	HighWatermark    kafka.Offset
	LastStableOffset kafka.Offset
	LogStartOffset   kafka.Offset   // v5+
	PreferredReplica kafka.BrokerID // v11+, KIP-392; kafka.NoBroker for none
	DivergingEpoch   DivergingEpoch // v12+
	CurrentLeader    Leader         // v12+
	// Aborted is nil (null on the wire) for read_uncommitted.
	Aborted []AbortedTransaction

	// RecordBytes is how many bytes of records follow. They are not written.
	RecordBytes int64
	// RecordsAt is set by AppendTo: the position, from the start of the response, at which the
	// records are to be inserted (env.Range.At; several ranges may share it).
	RecordsAt uint32
}

// DivergingEpoch tells a follower the largest epoch not above its own and where it ends.
type DivergingEpoch struct {
	Epoch     kafka.LeaderEpoch // kafka.NoLeaderEpoch when there is no divergence
	EndOffset kafka.Offset
}

// AbortedTransaction names a transaction whose records a reader must skip.
type AbortedTransaction struct {
	ProducerID  kafka.ProducerID
	FirstOffset kafka.Offset
}

// Reset empties r and keeps its memory.
func (r *FetchResponse) Reset() {
	clear(r.Endpoints)
	clear(r.Partitions)
	clear(r.topics)
	r.ThrottleMs, r.Error, r.SessionID = 0, 0, 0
	r.Endpoints, r.Partitions, r.topics = r.Endpoints[:0], r.Partitions[:0], r.topics[:0]
}

// AddTopic starts a topic. Versions up to 12 write the name, later ones the id.
func (r *FetchResponse) AddTopic(name string, id kafka.TopicID) {
	r.topics = append(r.topics, responseTopic{name: name, id: id})
}

// AddPartition adds a partition to the last topic, with everything but the index at its default.
// The pointer is good until the next AddPartition.
func (r *FetchResponse) AddPartition(index kafka.PartitionID) *FetchedPartition {
	r.topics[len(r.topics)-1].partitions++
	r.Partitions = append(r.Partitions, FetchedPartition{
		Index: index, HighWatermark: kafka.NoOffset, LastStableOffset: kafka.NoOffset,
		LogStartOffset: kafka.NoOffset, PreferredReplica: kafka.NoBroker,
		DivergingEpoch: DivergingEpoch{kafka.NoLeaderEpoch, kafka.NoOffset},
		CurrentLeader:  NoLeader(),
	})
	return &r.Partitions[len(r.Partitions)-1]
}

// AppendTo appends the response, header included and length prefix not, without the records, and
// sets RecordsAt of every partition.
func (r *FetchResponse) AppendTo(dst []byte, version int16, correlation int32) []byte {
	flexible, byID := version >= 12, version >= 13
	start := len(dst)
	dst = appendResponseHeader(dst, KeyFetch, flexible, correlation)
	dst = appendInt32(dst, r.ThrottleMs)
	if version >= 7 {
		dst = appendInt16(dst, int16(r.Error))
		dst = appendInt32(dst, r.SessionID)
	}
	dst = appendLength(dst, len(r.topics), flexible)
	next := 0
	for i := range r.topics {
		t := &r.topics[i]
		dst = appendTopic(dst, t, byID, flexible)
		dst = appendLength(dst, t.partitions, flexible)
		for range t.partitions {
			dst = r.Partitions[next].appendTo(dst, version, start)
			next++
		}
		if flexible {
			dst = append(dst, 0)
		}
	}
	switch {
	case version >= 16:
		return appendEndpointTags(dst, r.Endpoints)
	case flexible:
		return append(dst, 0)
	}
	return dst
}

// appendTo appends p and sets its RecordsAt, counted from start.
func (p *FetchedPartition) appendTo(dst []byte, version int16, start int) []byte {
	flexible := version >= 12
	dst = appendInt32(dst, int32(p.Index))
	dst = appendInt16(dst, int16(p.Error))
	dst = appendInt64(dst, int64(p.HighWatermark))
	dst = appendInt64(dst, int64(p.LastStableOffset))
	if version >= 5 {
		dst = appendInt64(dst, int64(p.LogStartOffset))
	}
	dst = appendAborted(dst, p.Aborted, flexible)
	if version >= 11 {
		dst = appendInt32(dst, int32(p.PreferredReplica))
	}
	// Empty records, not null: librdkafka and kafkajs do not expect null.
	dst = appendLength(dst, int(p.RecordBytes), flexible)
	p.RecordsAt = uint32(len(dst) - start)
	if flexible {
		dst = p.appendTags(dst)
	}
	return dst
}

func appendAborted(dst []byte, aborted []AbortedTransaction, flexible bool) []byte {
	if aborted == nil {
		return appendLength(dst, -1, flexible)
	}
	dst = appendLength(dst, len(aborted), flexible)
	for i := range aborted {
		dst = appendInt64(dst, int64(aborted[i].ProducerID))
		dst = appendInt64(dst, int64(aborted[i].FirstOffset))
		if flexible {
			dst = append(dst, 0)
		}
	}
	return dst
}

// appendTags appends the tagged fields: divergence as tag 0, the leader as tag 1.
func (p *FetchedPartition) appendTags(dst []byte) []byte {
	diverges := p.DivergingEpoch != DivergingEpoch{kafka.NoLeaderEpoch, kafka.NoOffset}
	redirects := p.CurrentLeader != NoLeader()
	if !diverges && !redirects {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if diverges && redirects {
		dst[len(dst)-1] = 2
	}
	if diverges {
		dst = appendTag(dst, 0, 13) // epoch int32, endOffset int64, tags
		dst = appendInt32(dst, int32(p.DivergingEpoch.Epoch))
		dst = appendInt64(dst, int64(p.DivergingEpoch.EndOffset))
		dst = append(dst, 0)
	}
	if redirects {
		dst = appendLeaderTag(dst, 1, p.CurrentLeader)
	}
	return dst
}
