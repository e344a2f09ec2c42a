package wire

import (
	"encoding/binary"

	"stet/core/kafka"
)

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

// appendLeaderTag appends the tagged field of a Leader: leaderId int32, leaderEpoch int32, tags.
func appendLeaderTag(dst []byte, tag int, l Leader) []byte {
	dst = appendTag(dst, tag, 9)
	dst = appendInt32(dst, int32(l.ID))
	dst = appendInt32(dst, int32(l.Epoch))
	return append(dst, 0)
}

// appendEndpointTags appends the tags that end a response: none, or tag 0 with the endpoints.
func appendEndpointTags(dst []byte, endpoints []Endpoint) []byte {
	if len(endpoints) == 0 {
		return append(dst, 0)
	}
	size := uvarintBytes(len(endpoints) + 1)
	for i := range endpoints {
		size += endpoints[i].bytes()
	}
	dst = append(dst, 1)
	dst = appendTag(dst, 0, size)
	dst = appendLength(dst, len(endpoints), true)
	for i := range endpoints {
		e := &endpoints[i]
		dst = appendInt32(dst, int32(e.ID))
		dst = appendText(dst, e.Host, true)
		dst = appendInt32(dst, e.Port)
		dst = appendNullableText(dst, e.Rack, e.Rack == "", true)
		dst = append(dst, 0)
	}
	return dst
}

// bytes is the size of e on the wire.
func (e *Endpoint) bytes() int {
	size := 4 + uvarintBytes(len(e.Host)+1) + len(e.Host) + 4 + 1 + 1
	if e.Rack != "" {
		size += uvarintBytes(len(e.Rack)+1) - 1 + len(e.Rack)
	}
	return size
}

// uvarintBytes is the size of n >= 0 as an unsigned varint.
func uvarintBytes(n int) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], uint64(n))
}
