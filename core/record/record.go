package record

import "stet/core/kafka"

// Header is a header of a record. A nil Value is null.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record. A nil Key or Value is null; an empty one is not.
type Record struct {
	Offset     kafka.Offset // as read; ignored by Builder
	Timestamp  int64        // milliseconds
	Attributes int8         // unused by Kafka so far
	Key, Value []byte
	Headers    []Header
}

// Records reads the records of one batch that Check accepts, in order, until yield returns false.
// The record and all it points to are valid only during the call of yield. maxDecompressed bounds
// the decompressed records, in bytes. A nil Scratch will do for an uncompressed batch.
//
// It reads what may lie in a log: gaps between offsets, no records at all, control batches.
func (s *Scratch) Records(b []byte, maxDecompressed int64, yield func(Record) bool) Problem {
	batch := View(b)
	payload, problem := s.payload(batch, maxDecompressed)
	if problem != NoProblem {
		return problem
	}
	var headers []Header
	fields := cursor{b: payload}
	for range batch.Count() {
		var raw rawRecord
		if !raw.read(&fields) {
			return ProblemRecord
		}
		headers = raw.appendHeaders(headers[:0])
		if !yield(raw.record(batch, headers)) {
			return NoProblem
		}
	}
	if fields.at != len(payload) {
		return ProblemRecord
	}
	return NoProblem
}

// rawRecord is a record as its bytes say, with deltas.
type rawRecord struct {
	attributes     int8
	offsetDelta    int32
	timestampDelta int64
	key, value     []byte
	headerCount    int32
	headers        []byte // well formed
}

// read reads one record and says whether it is well formed. Every byte of the announced length
// must be used.
func (r *rawRecord) read(in *cursor) bool {
	body := cursor{b: in.bytes(in.varint())}
	if in.bad {
		return false
	}
	r.attributes = int8(body.byte())
	r.timestampDelta = body.varlong()
	r.offsetDelta = body.varint()
	r.key = body.nullable()
	r.value = body.nullable()
	r.headerCount = body.varint()
	r.headers = body.b[body.at:]
	if r.headerCount != 0 {
		body.skipHeaders(r.headerCount)
	}
	return !body.bad && body.at == len(body.b)
}

// skipHeaders checks the form of n headers.
func (c *cursor) skipHeaders(n int32) {
	if n < 0 || int64(n) > int64(len(c.b)-c.at) {
		c.bad = true
		return
	}
	for ; n > 0 && !c.bad; n-- {
		c.bytes(c.varint())
		c.nullable()
	}
}

func (r *rawRecord) appendHeaders(dst []Header) []Header {
	in := cursor{b: r.headers}
	for range r.headerCount {
		key := in.bytes(in.varint())
		dst = append(dst, Header{string(key), in.nullable()})
	}
	return dst
}

func (r *rawRecord) record(batch View, headers []Header) Record {
	return Record{
		Offset:     batch.BaseOffset() + kafka.Offset(r.offsetDelta),
		Timestamp:  recordTimestamp(batch, r.timestampDelta),
		Attributes: r.attributes,
		Key:        r.key,
		Value:      r.value,
		Headers:    headers,
	}
}

// recordTimestamp is a record's time: the batch's with LogAppendTime, its own otherwise.
func recordTimestamp(batch View, delta int64) int64 {
	if batch.Attributes().TimestampType() == kafka.LogAppendTime {
		return batch.MaxTimestamp()
	}
	return batch.BaseTimestamp() + delta
}
