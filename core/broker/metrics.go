package broker

// Metrics counts what the loop does. The node publishes copies of it.
type Metrics struct {
	Requests          [maxKey]int64 // by API key
	ProduceTimeouts   int64
	FetchesParked     int64
	FetchesAnswered   int64
	FetchBytesOut     int64
	ReplicaFetches    int64 // asked of leaders
	ISRProposals      int64 // of which the controller was told
	AutoCreatedTopics int64
	Checkpoints       int64
	CheckpointsFailed int64
	LeasesOut         int64 // responses with ranges that have not left yet
}

// maxKey is one more than the largest key of the broker's listener.
const maxKey = 128
