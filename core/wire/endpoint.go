package wire

import "stet/core/kafka"

// Leader is the current leader of a partition as a broker tells it to a client that asked the
// wrong one (KIP-951). NoLeader when there is nothing to tell.
type Leader struct {
	ID    kafka.BrokerID
	Epoch kafka.LeaderEpoch
}

// NoLeader is a Leader that is not written.
func NoLeader() Leader { return Leader{kafka.NoBroker, kafka.NoLeaderEpoch} }

// Endpoint is the address of a broker, for the leaders that a response names (KIP-951).
type Endpoint struct {
	ID   kafka.BrokerID
	Host string
	Port int32
	Rack string // "" is null on the wire
}
