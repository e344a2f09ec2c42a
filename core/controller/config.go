package controller

import (
	"time"

	"stet/core/kafka"
	"stet/core/quorum"
)

// Config is what a controller is started with. It is immutable.
type Config struct {
	NodeID      kafka.BrokerID            // of this node, told as the leader
	Controllers []kafka.ControllerAddress // the quorum to found; empty or only itself: of one
	ClusterID   string                    // expected or chosen cluster id; empty: whatever there is, or a new one
	Directory   string                    // data directory of the raft log, named as people know it; only told

	// Defaults for topics whose creator says -1, the broker's for automatic creation too.
	NumPartitions            int32
	DefaultReplicationFactor int16

	// Topic is what topics have that set nothing: what brokers are configured with too. It is only
	// told; a broker acts upon its own.
	Topic kafka.TopicConfig

	// RestartPause is the time from a failed write of the raft log to the next attempt to recover.
	RestartPause time.Duration

	Quorum quorum.Config
}

// DefaultConfig returns Kafka 4.4's defaults.
func DefaultConfig() Config {
	return Config{
		Directory:                "./data",
		NumPartitions:            1,
		DefaultReplicationFactor: 1,
		Topic:                    kafka.DefaultTopicConfig(),
		RestartPause:             time.Second,
		Quorum:                   quorum.DefaultConfig(),
	}
}
