package record

import (
	"encoding/binary"
	"hash/crc32"

	"stet/core/invariant"
	"stet/core/kafka"
)

// Spec is the header of a batch to be built.
type Spec struct {
	BaseOffset    kafka.Offset
	LeaderEpoch   kafka.LeaderEpoch
	Codec         Codec
	TimestampType kafka.TimestampType
	Transactional bool
	Control       bool
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	BaseSequence  kafka.Sequence
}

// Plain is the Spec of a client without idempotence: uncompressed, from offset 0.
func Plain() Spec {
	return Spec{
		LeaderEpoch:   kafka.NoLeaderEpoch,
		ProducerID:    kafka.NoProducerID,
		ProducerEpoch: kafka.NoProducerEpoch,
		BaseSequence:  kafka.NoSequence,
	}
}

// attributes gives the flags of the batch.
func (s *Spec) attributes() Attributes {
	a := Attributes(s.Codec) | Attributes(s.TimestampType)*timestampTypeFlag
	if s.Transactional {
		a |= transactionalFlag
	}
	if s.Control {
		a |= controlFlag
	}
	return a
}

// Builder builds batches. The same calls give the same bytes. A Builder with a Spec is ready.
type Builder struct {
	Spec Spec

	records       []byte // encoded
	record        []byte // the body of one record, before its length is known
	count         int32
	lastDelta     int32
	baseTimestamp int64
	maxTimestamp  int64
}

// Add appends a record with the next offset delta. It copies what r points to.
func (b *Builder) Add(r Record) {
	if b.count == 0 {
		b.AddAt(0, r)
		return
	}
	b.AddAt(b.lastDelta+1, r)
}

// AddAt appends a record with this offset delta, larger than the last one's. Batches with gaps
// come from compaction.
func (b *Builder) AddAt(offsetDelta int32, r Record) {
	invariant.Always(offsetDelta >= 0, "offset deltas are not negative")
	if b.count == 0 {
		b.baseTimestamp, b.maxTimestamp = r.Timestamp, r.Timestamp
	} else {
		invariant.Always(offsetDelta > b.lastDelta, "offset deltas increase")
	}
	b.count++
	b.lastDelta = offsetDelta
	b.maxTimestamp = max(b.maxTimestamp, r.Timestamp)
	b.record = appendBody(b.record[:0], r.Timestamp-b.baseTimestamp, offsetDelta, r)
	b.records = appendVarint(b.records, int32(len(b.record)))
	b.records = append(b.records, b.record...)
}

func appendBody(dst []byte, timestampDelta int64, offsetDelta int32, r Record) []byte {
	dst = append(dst, byte(r.Attributes))
	dst = appendVarlong(dst, timestampDelta)
	dst = appendVarint(dst, offsetDelta)
	dst = appendNullable(dst, r.Key)
	dst = appendNullable(dst, r.Value)
	dst = appendVarint(dst, int32(len(r.Headers)))
	for _, h := range r.Headers {
		dst = appendVarint(dst, int32(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = appendNullable(dst, h.Value)
	}
	return dst
}

func appendNullable(dst, b []byte) []byte {
	if b == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int32(len(b))), b...)
}

// Count is the number of records added since the last Build.
func (b *Builder) Count() int32 { return b.count }

// RecordsBytes is the size of the records added since the last Build, uncompressed.
func (b *Builder) RecordsBytes() int { return len(b.records) }

// Build appends the batch to dst and resets b for the next one, keeping Spec. A nil Scratch will
// do without compression. A batch without records has the last offset delta of its Spec, -1.
func (b *Builder) Build(dst []byte, s *Scratch) []byte {
	start := len(dst)
	dst = b.appendHeader(dst)
	if b.Spec.Codec == None {
		dst = append(dst, b.records...)
	} else {
		dst = s.Compress(dst, b.Spec.Codec, b.records)
	}
	batch := View(dst[start:])
	binary.BigEndian.PutUint32(batch[8:], uint32(len(batch)-lengthOverhead))
	batch.setCRC(crc32.Checksum(batch[attributesAt:], castagnoli))
	*b = Builder{Spec: b.Spec, records: b.records[:0], record: b.record[:0]}
	return dst
}

// appendHeader appends the header with length and CRC still zero.
func (b *Builder) appendHeader(dst []byte) []byte {
	spec, big := &b.Spec, binary.BigEndian
	lastDelta := b.lastDelta
	if b.count == 0 {
		lastDelta = -1
		b.baseTimestamp, b.maxTimestamp = kafka.NoTimestamp, kafka.NoTimestamp
	}
	dst = big.AppendUint64(dst, uint64(spec.BaseOffset))
	dst = big.AppendUint32(dst, 0)
	dst = big.AppendUint32(dst, uint32(spec.LeaderEpoch))
	dst = append(dst, Magic)
	dst = big.AppendUint32(dst, 0)
	dst = big.AppendUint16(dst, uint16(spec.attributes()))
	dst = big.AppendUint32(dst, uint32(lastDelta))
	dst = big.AppendUint64(dst, uint64(b.baseTimestamp))
	dst = big.AppendUint64(dst, uint64(b.maxTimestamp))
	dst = big.AppendUint64(dst, uint64(spec.ProducerID))
	dst = big.AppendUint16(dst, uint16(spec.ProducerEpoch))
	dst = big.AppendUint32(dst, uint32(spec.BaseSequence))
	return big.AppendUint32(dst, uint32(b.count))
}
