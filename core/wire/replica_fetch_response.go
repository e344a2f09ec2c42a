package wire

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// ReplicaFetchResponse is what a follower reads of an answer to its Fetch, v13-18, prepared: each
// batch has been checked, so that nothing which does not stand the test of its CRC can reach a log
// (KAFKA-18723). What consumers alone need is passed over.
type ReplicaFetchResponse struct {
	Version    int16
	Error      kafka.ErrorCode
	SessionID  int32
	Partitions []ReplicaFetched
	// Endpoints are of the leaders that partitions name; v16+.
	Endpoints []Endpoint
	// Frame owns the bytes of the batches. It is lent to the turn; an effect that names it keeps it
	// (env.BufRef). In a replay it has no bytes.
	Frame env.Buffer
}

// ReplicaFetched is what a leader says of one partition.
type ReplicaFetched struct {
	TopicID        kafka.TopicID
	Partition      kafka.PartitionID
	Error          kafka.ErrorCode
	HighWatermark  kafka.Offset
	LogStartOffset kafka.Offset
	DivergingEpoch DivergingEpoch
	CurrentLeader  Leader

	// Batches are whole batches that pass record.Inspect, in the order of the answer, and Data their
	// bytes, views into the frame. What the leader cut off at the end is left out.
	Batches []record.Facts
	Data    [][]byte
	// Corrupt: what follows Batches is no sound batch.
	Corrupt bool
}

// What one element takes in memory, bytes; a test compares them with the types.
const (
	replicaFetchedBytes = 152
	replicaBatchBytes   = 152 // facts and the view of the bytes
	endpointBytes       = 48
)

// DecodeReplicaFetchResponse reads the frame of an answer to a Fetch of a version from 13 on. It
// keeps views into the frame, and takes no more memory than a small multiple of its size.
func DecodeReplicaFetchResponse(version int16, frame []byte) (*ReplicaFetchResponse, error) {
	if version < 13 {
		return nil, fmt.Errorf("response to a Fetch v%d: followers ask by topic id, from version 13 on", version)
	}
	limits := DefaultLimits()
	r := newReader(frame, 0, &limits)
	r.skip(4)
	r.skipTags(true)
	out := &ReplicaFetchResponse{Version: version}
	out.read(&r)
	switch {
	case !r.ok():
		return nil, fmt.Errorf("response to a Fetch v%d: %s at byte %d", version, r.fault, r.where)
	case r.left() > 0:
		return nil, fmt.Errorf("response to a Fetch v%d: %d bytes behind its end", version, r.left())
	}
	return out, nil
}

func (q *ReplicaFetchResponse) read(r *reader) {
	r.skip(4) // throttle time
	q.Error = kafka.ErrorCode(r.int16())
	q.SessionID = r.int32()
	for n := r.list(true, 1); n > 0 && r.ok(); n-- {
		topic := kafka.TopicID(r.uuid())
		for m := r.list(true, replicaFetchedBytes); m > 0 && r.ok(); m-- {
			p := ReplicaFetched{TopicID: topic}
			p.read(r)
			q.Partitions = append(q.Partitions, p)
		}
		r.skipTags(true)
	}
	if r.noTags() {
		return
	}
	for n := r.tagCount(); n > 0 && r.ok(); n-- {
		tag, value := r.tag()
		if tag == 0 && q.Version >= 16 {
			value.elements, value.memory = r.elements, r.memory
			value.tags = r.tags
			q.Endpoints = readEndpoints(&value)
			r.memory = value.memory
		}
		r.adopt(&value)
	}
}

// readEndpoints reads what appendEndpointTags writes behind its tag.
func readEndpoints(r *reader) (endpoints []Endpoint) {
	for n := r.list(true, endpointBytes); n > 0 && r.ok(); n-- {
		e := Endpoint{ID: kafka.BrokerID(r.int32())}
		e.Host = string(r.text(true))
		e.Port = r.int32()
		e.Rack = string(r.nullableText(true))
		r.skipTags(true)
		endpoints = append(endpoints, e)
	}
	return endpoints
}

func (p *ReplicaFetched) read(r *reader) {
	p.Partition = kafka.PartitionID(r.int32())
	p.Error = kafka.ErrorCode(r.int16())
	p.HighWatermark = kafka.Offset(r.int64())
	r.skip(8) // last stable offset
	p.LogStartOffset = kafka.Offset(r.int64())
	for n := r.nullableList(true, 0); n > 0 && r.ok(); n-- { // aborted transactions
		r.skip(16)
		r.skipTags(true)
	}
	r.skip(4) // preferred read replica
	records := r.nullableBlob(true)
	p.DivergingEpoch = DivergingEpoch{kafka.NoLeaderEpoch, kafka.NoOffset}
	p.CurrentLeader = NoLeader()
	if !r.noTags() {
		p.readTags(r)
	}
	p.readBatches(r, records)
}

// readTags reads the tagged fields: divergence as tag 0, the leader as tag 1. Others are passed over.
func (p *ReplicaFetched) readTags(r *reader) {
	for n := r.tagCount(); n > 0 && r.ok(); n-- {
		tag, value := r.tag()
		switch tag {
		case 0:
			p.DivergingEpoch.Epoch = kafka.LeaderEpoch(value.int32())
			p.DivergingEpoch.EndOffset = kafka.Offset(value.int64())
		case 1:
			p.CurrentLeader.ID = kafka.BrokerID(value.int32())
			p.CurrentLeader.Epoch = kafka.LeaderEpoch(value.int32())
		}
		r.adopt(&value)
	}
}

// readBatches cuts records into batches and inspects each. A leader may cut off the last one, but
// never the first.
func (p *ReplicaFetched) readBatches(r *reader, records []byte) {
	for r.ok() {
		batch, rest, problem := record.First(records)
		if problem == record.ProblemEmpty || problem == record.ProblemTooShort && len(p.Batches) > 0 {
			return
		}
		facts := record.Inspect(batch)
		if problem != record.NoProblem || facts.Problem != record.NoProblem {
			p.Corrupt = true
			return
		}
		r.charge(replicaBatchBytes)
		p.Batches = append(p.Batches, facts)
		p.Data = append(p.Data, batch)
		records = rest
	}
}
