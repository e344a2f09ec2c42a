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
}

// HighWatermarkUnsupported is the FetchPartition.HighWatermark of a client that does not send it.
const HighWatermarkUnsupported kafka.Offset = 1<<63 - 1

// ForgottenTopic names partitions that leave a fetch session.
type ForgottenTopic struct {
	Name       []byte        // v7-12, otherwise nil
	ID         kafka.TopicID // v13+, otherwise zero
	Partitions []kafka.PartitionID
}
