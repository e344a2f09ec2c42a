package wire

import "stet/core/kafka"

// FetchRequest is the body of Fetch v4-18. Its bytes are views into the frame. Fields that a
// version lacks have the default of the schema.
type FetchRequest struct {
	ClusterID      []byte            // v12+; nil when not sent
	ReplicaID      kafka.BrokerID    // of a follower; kafka.NoBroker of a consumer
	ReplicaEpoch   kafka.BrokerEpoch // v15+, KIP-903; -1 when not sent
	MaxWaitMs      int32
	MinBytes       int32
	MaxBytes       int32
	IsolationLevel int8  // 0 read_uncommitted, 1 read_committed
	SessionID      int32 // v7+, KIP-227; 0 is no session
	SessionEpoch   int32 // v7+; 0 starts a session, -1 (the default) ends or avoids one
	Topics         []FetchTopic
	Forgotten      []ForgottenTopic // v7+
	RackID         []byte           // v11+; empty when not sent

	// partitions and forgotten are where the Partitions of all topics lie.
	partitions []FetchPartition
	forgotten  []kafka.PartitionID
}

// FetchTopic is one topic of a FetchRequest.
type FetchTopic struct {
	Name       []byte        // v4-12, otherwise nil
	ID         kafka.TopicID // v13+, otherwise zero
	Partitions []FetchPartition
}

// FetchPartition is a partition to read.
type FetchPartition struct {
	Index              kafka.PartitionID
	CurrentLeaderEpoch kafka.LeaderEpoch // v9+; kafka.NoLeaderEpoch when not known
	LastFetchedEpoch   kafka.LeaderEpoch // v12+; kafka.NoLeaderEpoch when not known
	MaxBytes           int32
	FetchOffset        kafka.Offset
	LogStartOffset     kafka.Offset // v5+, of a follower; -1 of a consumer
	// HighWatermark is what the replica knows (v18+, KIP-1166): -1 when it knows none,
	// HighWatermarkUnsupported when not sent.
	HighWatermark kafka.Offset
	DirectoryID   [16]byte // v17+, of a follower; zero when not sent
	Synced        bool     // of a follower of Stet: all below FetchOffset is durable there
}

// TagSynced is the tagged field of a partition by which a follower says that its position is synced. It
// is Stet's own, and has no value.
const TagSynced = 30000

// HighWatermarkUnsupported is the FetchPartition.HighWatermark of a client that does not send it.
const HighWatermarkUnsupported kafka.Offset = 1<<63 - 1

// ForgottenTopic names partitions that leave a fetch session.
type ForgottenTopic struct {
	Name       []byte        // v7-12, otherwise nil
	ID         kafka.TopicID // v13+, otherwise zero
	Partitions []kafka.PartitionID
}

// What one element takes in memory, bytes; a test compares them with the types.
const (
	fetchTopicBytes     = 64
	fetchPartitionBytes = 64
	forgottenTopicBytes = 64
)

// reset empties q, sets the defaults of the schema and keeps the memory. The frame's bytes are let
// go.
func (q *FetchRequest) reset() {
	clear(q.Topics)
	clear(q.Forgotten)
	*q = FetchRequest{
		ReplicaID: kafka.NoBroker, ReplicaEpoch: -1, SessionEpoch: -1,
		Topics: q.Topics[:0], Forgotten: q.Forgotten[:0],
		partitions: q.partitions[:0], forgotten: q.forgotten[:0],
	}
}

// capacity counts the array elements that q keeps.
func (q *FetchRequest) capacity() int {
	return cap(q.Topics) + cap(q.Forgotten) + cap(q.partitions) + cap(q.forgotten)
}

// read fills q, which is reset.
func (q *FetchRequest) read(r *reader, version int16) {
	flexible := version >= 12
	if version <= 14 {
		q.ReplicaID = kafka.BrokerID(r.int32())
	}
	q.MaxWaitMs = r.int32()
	q.MinBytes = r.int32()
	q.MaxBytes = r.int32()
	q.IsolationLevel = r.int8()
	if version >= 7 {
		q.SessionID = r.int32()
		q.SessionEpoch = r.int32()
	}
	for n := r.list(flexible, fetchTopicBytes); n > 0 && r.ok(); n-- {
		q.readTopic(r, version, flexible)
	}
	if version >= 7 {
		for n := r.list(flexible, forgottenTopicBytes); n > 0 && r.ok(); n-- {
			q.readForgotten(r, version, flexible)
		}
	}
	if version >= 11 {
		q.RackID = r.text(flexible)
	}
	if flexible && !r.noTags() {
		q.readTags(r, version)
	}
}

// readTags reads the tagged fields of the request: the cluster id as tag 0, the replica's state as
// tag 1. Others are passed over.
func (q *FetchRequest) readTags(r *reader, version int16) {
	for n := r.tagCount(); n > 0 && r.ok(); n-- {
		tag, value := r.tag()
		switch {
		case tag == 0:
			q.ClusterID = value.nullableText(true)
		case tag == 1 && version >= 15:
			q.ReplicaID = kafka.BrokerID(value.int32())
			q.ReplicaEpoch = kafka.BrokerEpoch(value.int64())
		}
		r.adopt(&value)
	}
}

func (q *FetchRequest) readTopic(r *reader, version int16, flexible bool) {
	var t FetchTopic
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.text(flexible)
	}
	// See ProduceRequest.readTopic for why growing is safe.
	start := len(q.partitions)
	for n := r.list(flexible, fetchPartitionBytes); n > 0 && r.ok(); n-- {
		q.addPartition().read(r, version, flexible)
	}
	t.Partitions = q.partitions[start:len(q.partitions):len(q.partitions)]
	r.skipTags(flexible)
	q.Topics = append(q.Topics, t)
}

// addPartition appends a partition, which may have old contents.
func (q *FetchRequest) addPartition() *FetchPartition {
	n := len(q.partitions)
	if n == cap(q.partitions) {
		q.partitions = append(q.partitions, FetchPartition{})
	} else {
		q.partitions = q.partitions[:n+1]
	}
	return &q.partitions[n]
}

// read fills p, whatever it held.
func (p *FetchPartition) read(r *reader, version int16, flexible bool) {
	p.Index = kafka.PartitionID(r.int32())
	p.CurrentLeaderEpoch, p.LastFetchedEpoch = kafka.NoLeaderEpoch, kafka.NoLeaderEpoch
	p.LogStartOffset, p.HighWatermark = kafka.NoOffset, HighWatermarkUnsupported
	p.DirectoryID, p.Synced = [16]byte{}, false
	if version >= 9 {
		p.CurrentLeaderEpoch = kafka.LeaderEpoch(r.int32())
	}
	p.FetchOffset = kafka.Offset(r.int64())
	if version >= 12 {
		p.LastFetchedEpoch = kafka.LeaderEpoch(r.int32())
	}
	if version >= 5 {
		p.LogStartOffset = kafka.Offset(r.int64())
	}
	p.MaxBytes = r.int32()
	if flexible && !r.noTags() {
		p.readTags(r, version)
	}
}

// readTags reads the tagged fields of a partition: the directory as tag 0, the high watermark as
// tag 1. Others are passed over.
func (p *FetchPartition) readTags(r *reader, version int16) {
	for n := r.tagCount(); n > 0 && r.ok(); n-- {
		tag, value := r.tag()
		switch {
		case tag == 0 && version >= 17:
			p.DirectoryID = value.uuid()
		case tag == 1 && version >= 18:
			p.HighWatermark = kafka.Offset(value.int64())
		case tag == TagSynced:
			p.Synced = true
		}
		r.adopt(&value)
	}
}

func (q *FetchRequest) readForgotten(r *reader, version int16, flexible bool) {
	var t ForgottenTopic
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.text(flexible)
	}
	start := len(q.forgotten)
	for n := r.list(flexible, 4); n > 0 && r.ok(); n-- {
		q.forgotten = append(q.forgotten, kafka.PartitionID(r.int32()))
	}
	t.Partitions = q.forgotten[start:len(q.forgotten):len(q.forgotten)]
	r.skipTags(flexible)
	q.Forgotten = append(q.Forgotten, t)
}
