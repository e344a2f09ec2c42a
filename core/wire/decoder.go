package wire

import (
	"stet/core/env"
	"stet/core/record"
)

// Limits bounds what a Decoder accepts. Immutable.
type Limits struct {
	// MaxDecompressedBytes bounds the records of one batch (max.decompressed.message.bytes).
	MaxDecompressedBytes int64
	// MaxElements bounds one array.
	MaxElements int32
	// MaxTags bounds the tagged fields of one structure.
	MaxTags int32
	// MemoryFactor and MemorySlack bound what a decoded body may take in memory:
	// MemoryFactor times the frame's size, plus MemorySlack bytes.
	MemoryFactor, MemorySlack int64
}

// DefaultLimits are Kafka 4.4's: 1,000,000 elements, 10,000 tags, 2^31-9 decompressed bytes.
// Without Kafka's model, and generous to real requests, a body may take 16 times its frame.
func DefaultLimits() Limits {
	return Limits{
		MaxDecompressedBytes: 1<<31 - 9,
		MaxElements:          1_000_000,
		MaxTags:              10_000,
		MemoryFactor:         16,
		MemorySlack:          64 << 10,
	}
}

// Decoder prepares the requests of one listener. What Decode returns depends on the frame and on
// the limits only; the decoder keeps memory between calls, not meaning. One caller at a time.
type Decoder struct {
	listener Listener
	limits   Limits
	scratch  record.Scratch
	clientID string // of the last request
	produces []*ProduceRequest
	fetches  []*FetchRequest
}

// NewDecoder makes a decoder. It is small until it has decoded.
func NewDecoder(l Listener, limits Limits) *Decoder {
	return &Decoder{listener: l, limits: limits}
}

// Decode reads a request frame, without its length prefix, into the fields Key, Version,
// Correlation, ClientID and Body of into. Body is a *ProduceRequest or *FetchRequest, whose bytes
// are views into the frame; or a kmsg request (or *MetadataFetchRequest), which owns its memory;
// or *UnsupportedApiVersions, which must be answered. An error is an *Error; the connection can
// not go on.
func (d *Decoder) Decode(frame []byte, into *env.Request) error { panic("not yet") }

// Recycle takes back a body that Decode returned, for reuse. Nothing may refer to it or to its
// parts any more. Bodies of other types, and nil, are left alone.
func (d *Decoder) Recycle(body any) { panic("not yet") }

// NoResponse says whether the protocol has no answer to the request: Produce with acks=0.
func NoResponse(r *env.Request) bool {
	p, ok := r.Body.(*ProduceRequest)
	return ok && p.Acks == 0
}
