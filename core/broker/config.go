package broker

import (
	"math/rand/v2"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
)

// Listener is an address that clients are told.
type Listener struct {
	Name string // for example PLAINTEXT; a request's ConnInfo.Listener chooses by it
	Host string
	Port int32
}

// Config is what a broker is started with. It is immutable; EventConfig replaces it as a whole.
// NodeID, Directories and ClusterID may not change while the process lives.
type Config struct {
	NodeID      kafka.BrokerID
	Rack        string   // empty: none
	ClusterID   string   // expected cluster; empty: take what the directory or the controller says
	Directories []string // data directories by DirID, named as people know them; only told
	Listeners   []Listener
	InterBroker string                    // name of the listener that brokers use among themselves; "": the first
	Controllers []kafka.ControllerAddress // that metadata comes from; never empty
	Levels      metadata.Levels           // that the software of this node supports

	// Topic holds the values of topic configurations where neither the topic nor the cluster
	// sets one.
	Topic kafka.TopicConfig

	AutoCreateTopics         bool
	NumPartitions            int32 // of automatically created topics and when a request says -1
	DefaultReplicationFactor int16 // likewise

	// Rebalance is only told; the controllers are started with the same, and act upon it.
	Rebalance kafka.LeaderRebalance

	RecoveryJobs       int           // recoveries at once, at least 1
	CheckpointInterval time.Duration // of the offset checkpoints of a directory
	HeartbeatInterval  time.Duration // to the controller
	RequestTimeout     time.Duration // of requests to the controller
	MetadataFetchBytes int32         // of metadata that are asked for at once
	StopTimeout        time.Duration // most that a clean stop waits for the controller to move leaders away
	DuplicateTimeout   time.Duration // how long another live broker with this id is put up with at the start
	FetchSessionSlots  int           // most fetch sessions kept (KIP-227)
	FetchMaxBytes      int32         // upper bound of a fetch response, whatever the client says
	ProducerExpiration time.Duration // idle producer state is forgotten after this
	IndexWriteEntries  int           // as commitlog.Config has it; 0: its default

	Replica ReplicaConfig
}

// ReplicaConfig says how replicas follow their leaders.
type ReplicaConfig struct {
	FetchBackoff    time.Duration // most that a partition pauses after an error
	FetchBytes      int32         // of one partition in an answer, unless its first batch is larger
	FetchMinBytes   int32         // that a leader waits for
	FetchTotalBytes int32         // of an answer, unless its first batch is larger
	FetchWait       time.Duration // most that a leader waits
	LagTime         time.Duration // how long a follower may be behind before it leaves the ISR
}

// DefaultConfig returns Kafka 4.4's defaults for one node with one data directory, but for the
// heartbeats, which are more frequent: a dead broker is to be noticed before clients give up waiting.
func DefaultConfig() Config {
	return Config{
		Directories:              []string{"./data"},
		Controllers:              []kafka.ControllerAddress{{Node: 1}},
		Levels:                   metadata.BuildLevels(),
		Topic:                    kafka.DefaultTopicConfig(),
		AutoCreateTopics:         true,
		Rebalance:                kafka.DefaultLeaderRebalance(),
		NumPartitions:            1,
		DefaultReplicationFactor: 1,
		RecoveryJobs:             2,
		CheckpointInterval:       time.Minute,
		HeartbeatInterval:        150 * time.Millisecond,
		RequestTimeout:           30 * time.Second,
		MetadataFetchBytes:       1 << 20,
		StopTimeout:              5 * time.Second,
		DuplicateTimeout:         20 * time.Second,
		FetchSessionSlots:        1000,
		FetchMaxBytes:            55 << 20,
		ProducerExpiration:       24 * time.Hour,
		Replica: ReplicaConfig{
			FetchBackoff:    time.Second,
			FetchBytes:      1 << 20,
			FetchMinBytes:   1,
			FetchTotalBytes: 10 << 20,
			FetchWait:       500 * time.Millisecond,
			LagTime:         30 * time.Second,
		},
	}
}

// Shutdown is the Res of an EventConfig that asks for a clean stop. The broker refuses new work,
// closes its logs, writes checkpoints and the clean-start marker, and then reports Stopped. The
// node keeps performing effects and calling Turn until then, or gives up: an interrupted stop is
// as safe as a kill.
type Shutdown struct{}

// Streams gives the broker its sources of randomness, one for each use. It is called once for
// each use, from New.
type Streams func(env.Use) *rand.Rand
