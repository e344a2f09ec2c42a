package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/invariant"
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
	kept     int // array elements in produces and fetches
}

// NewDecoder makes a decoder. It is small until it has decoded.
func NewDecoder(l Listener, limits Limits) *Decoder {
	return &Decoder{listener: l, limits: limits}
}

// Decode reads a request frame, without its length prefix, into the fields Key, Version,
// Correlation, ClientID and Body of into. Body is a *ProduceRequest or *FetchRequest, whose bytes
// are views into the frame; or a kmsg request, which owns its memory, but for the bytes in
// *QuorumMessagesRequest; or UnsupportedApiVersions, which must be answered. An error is an *Error; the connection can
// not go on.
func (d *Decoder) Decode(frame []byte, into *env.Request) error {
	r := newReader(frame, 0, &d.limits)
	h, err := readHeader(d.listener, &r)
	if err != nil {
		return err
	}
	if string(h.ClientID) != d.clientID {
		d.clientID = string(h.ClientID)
	}
	into.Key, into.Version, into.Correlation = h.Key, h.Version, h.Correlation
	into.ClientID, into.Body = d.clientID, nil
	switch h.Key {
	case KeyProduce:
		into.Body = d.produce(&r, h.Version)
	case KeyFetch:
		into.Body = d.fetch(&r, h.Version)
	case KeyApiVersions:
		if h.Version < 0 || h.Version > maxApiVersions {
			into.Body = UnsupportedApiVersions{}
			return nil
		}
		fallthrough
	default:
		return readGeneric(&r, h.Key, h.Version, into)
	}
	if !r.ok() {
		d.Recycle(into.Body)
		into.Body = nil
		return bodyError(&r, h.Key, h.Version)
	}
	return nil
}

func bodyError(r *reader, key, version int16) error {
	return &Error{Kind: Malformed, Key: key, Version: version, At: r.where, What: r.fault}
}

// readGeneric lets kmsg read the body after a walker has bounded it.
func readGeneric(r *reader, key, version int16, into *env.Request) error {
	body := r.frame[r.at:]
	known := scanBody(r, key, version)
	invariant.Always(known, "a key of the version table has no walker")
	if !r.ok() {
		return bodyError(r, key, version)
	}
	request := newRequest(key)
	request.SetVersion(version)
	if err := request.ReadFrom(body); err != nil {
		r.stop(err.Error())
		return bodyError(r, key, version)
	}
	into.Body = request
	return nil
}

// newRequest makes an empty request of a key of the version tables.
func newRequest(key int16) kmsg.Request {
	if own := ownRequest(key); own != nil {
		return own
	}
	return kmsg.RequestForKey(key)
}

func (d *Decoder) produce(r *reader, version int16) *ProduceRequest {
	var q *ProduceRequest
	if n := len(d.produces); n > 0 {
		q, d.produces = d.produces[n-1], d.produces[:n-1]
		d.kept -= q.capacity()
	} else {
		q = new(ProduceRequest)
	}
	q.read(r, version)
	if r.ok() {
		q.examine(&d.scratch, d.limits.MaxDecompressedBytes)
	}
	return q
}

func (d *Decoder) fetch(r *reader, version int16) *FetchRequest {
	var q *FetchRequest
	if n := len(d.fetches); n > 0 {
		q, d.fetches = d.fetches[n-1], d.fetches[:n-1]
		d.kept -= q.capacity()
	} else {
		q = new(FetchRequest)
		q.reset()
	}
	q.read(r, version)
	return q
}

// What a decoder keeps of what it is given back; the rest is left to the collector.
const (
	keptBodies   = 8    // of a kind
	keptElements = 4096 // of the arrays of all kept bodies
)

// Recycle takes back a body that Decode returned, for reuse. Nothing may refer to it or to its
// parts any more. Bodies of other types, and nil, are left alone.
func (d *Decoder) Recycle(body any) {
	switch q := body.(type) {
	case *ProduceRequest:
		if n := q.capacity(); len(d.produces) < keptBodies && d.kept+n <= keptElements {
			q.reset()
			d.produces, d.kept = append(d.produces, q), d.kept+n
		}
	case *FetchRequest:
		if n := q.capacity(); len(d.fetches) < keptBodies && d.kept+n <= keptElements {
			q.reset()
			d.fetches, d.kept = append(d.fetches, q), d.kept+n
		}
	}
}

// NoResponse says whether the protocol has no answer to the request: Produce with acks=0.
func NoResponse(r *env.Request) bool {
	p, ok := r.Body.(*ProduceRequest)
	return ok && p.Acks == 0
}
