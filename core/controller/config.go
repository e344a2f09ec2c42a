package controller

import (
	"time"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
)

// Config is what a controller is started with. It is immutable.
type Config struct {
	NodeID      kafka.BrokerID            // of this node, told as the leader
	Controllers []kafka.ControllerAddress // the quorum to found; empty or only itself: of one
	ClusterID   string                    // expected or chosen cluster id; empty: whatever there is, or a new one
	Directory   string                    // data directory of the raft log, named as people know it; only told
	Levels      metadata.Levels           // that the software of this node supports

	// Defaults for topics whose creator says -1, the broker's for automatic creation too.
	NumPartitions            int32
	DefaultReplicationFactor int16

	// Topic is what topics have that set nothing: what brokers are configured with too. It is only
	// told; a broker acts upon its own.
	Topic kafka.TopicConfig

	// Advertise is host:port of this node's controller listener, as others reach it; empty: they know
	// it from their lists.
	Advertise string

	// AutoJoin lets a controller that is no member of the quorum ask to become one.
	AutoJoin bool

	// Rebalance says when first replicas are to lead again.
	Rebalance kafka.LeaderRebalance

	// TickInterval is a step of raft's clock. It runs only if there is more than one member.
	TickInterval time.Duration

	// SessionTimeout is how long a broker may be silent before it is fenced.
	SessionTimeout time.Duration

	// ReconnectGrace is how long a broker may be silent once the connection has ended over which it was
	// heard.
	ReconnectGrace time.Duration

	// RedialPause is the time from the end of a link to the next attempt, and between questions to a
	// controller that can not say yet what is asked; JoinPause is that between requests to be added.
	RedialPause, JoinPause time.Duration

	// RequestTimeout is how long another controller may take to answer before its link is given up.
	RequestTimeout time.Duration

	// RestartPause is the time from a failed write of the raft log to the next attempt to recover.
	RestartPause time.Duration

	Quorum quorum.Config
}

// DefaultConfig returns Kafka 4.4's defaults, but for the session: it ends before a client gives up
// waiting, and outlasts a pause of half a second.
func DefaultConfig() Config {
	return Config{
		Directory:                "./data",
		Levels:                   metadata.BuildLevels(),
		NumPartitions:            1,
		DefaultReplicationFactor: 1,
		Topic:                    kafka.DefaultTopicConfig(),
		AutoJoin:                 true,
		Rebalance:                kafka.DefaultLeaderRebalance(),
		TickInterval:             50 * time.Millisecond,
		SessionTimeout:           800 * time.Millisecond,
		ReconnectGrace:           200 * time.Millisecond,
		RedialPause:              100 * time.Millisecond,
		JoinPause:                time.Second,
		RequestTimeout:           2 * time.Second,
		RestartPause:             time.Second,
		Quorum:                   quorum.DefaultConfig(),
	}
}
