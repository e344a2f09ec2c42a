package record

import (
	"encoding/binary"

	"stet/core/kafka"
)

const (
	// HeaderSize is the size of a batch without records, in bytes.
	HeaderSize = 61
	// Magic is the only format version that is read or written.
	Magic = 2
	// MaxSizeBytes bounds the size of one batch, so that sizes fit an int32 with room to spare.
	MaxSizeBytes = 1<<31 - 1

	// lengthOverhead is what batchLength does not count: baseOffset and itself.
	lengthOverhead = 12

	leaderEpochAt     = 12
	magicAt           = 16
	crcAt             = 17
	attributesAt      = 21 // first byte under the CRC
	lastOffsetDeltaAt = 23
	baseTimestampAt   = 27
	maxTimestampAt    = 35
	producerIDAt      = 43
	producerEpochAt   = 51
	baseSequenceAt    = 53
	countAt           = 57
)

// View is a batch seen through its header. It aliases the bytes it is made of. The accessors need
// HeaderSize bytes; First and Check make sure of that.
type View []byte

// BaseOffset is the offset of the first record.
func (v View) BaseOffset() kafka.Offset { return kafka.Offset(binary.BigEndian.Uint64(v)) }

// SizeBytes is the size of the whole batch as the header gives it, header included. It is wider
// than the field so that a lying length cannot overflow.
func (v View) SizeBytes() int64 {
	return lengthOverhead + int64(int32(binary.BigEndian.Uint32(v[8:])))
}

// LeaderEpoch is the epoch of the leader that appended the batch.
func (v View) LeaderEpoch() kafka.LeaderEpoch {
	return kafka.LeaderEpoch(binary.BigEndian.Uint32(v[leaderEpochAt:]))
}

// Magic is the format version.
func (v View) Magic() int8 { return int8(v[magicAt]) }

// CRC is the checksum that the header carries.
func (v View) CRC() uint32 { return binary.BigEndian.Uint32(v[crcAt:]) }

// Attributes are the batch's flags.
func (v View) Attributes() Attributes {
	return Attributes(binary.BigEndian.Uint16(v[attributesAt:]))
}

// LastOffsetDelta is the last record's offset minus the base offset.
func (v View) LastOffsetDelta() int32 {
	return int32(binary.BigEndian.Uint32(v[lastOffsetDeltaAt:]))
}

// LastOffset is the offset of the last record, inclusive.
func (v View) LastOffset() kafka.Offset {
	return v.BaseOffset() + kafka.Offset(v.LastOffsetDelta())
}

// NextOffset is the offset after the batch.
func (v View) NextOffset() kafka.Offset { return v.LastOffset() + 1 }

// BaseTimestamp is the timestamp that the records' deltas add to, in milliseconds. With a delete
// horizon it is that horizon as well.
func (v View) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[baseTimestampAt:])) }

// MaxTimestamp is the largest timestamp as the header gives it, in milliseconds.
func (v View) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[maxTimestampAt:])) }

// ProducerID is the idempotent producer, or kafka.NoProducerID.
func (v View) ProducerID() kafka.ProducerID {
	return kafka.ProducerID(binary.BigEndian.Uint64(v[producerIDAt:]))
}

// ProducerEpoch is the producer's epoch.
func (v View) ProducerEpoch() kafka.ProducerEpoch {
	return kafka.ProducerEpoch(binary.BigEndian.Uint16(v[producerEpochAt:]))
}

// BaseSequence is the sequence of the first record.
func (v View) BaseSequence() kafka.Sequence {
	return kafka.Sequence(binary.BigEndian.Uint32(v[baseSequenceAt:]))
}

// LastSequence is the sequence of the last record, inclusive, wrapping after 2^31-1.
func (v View) LastSequence() kafka.Sequence {
	return lastSequence(v.BaseSequence(), v.LastOffsetDelta())
}

// Count is the number of records as the header gives it.
func (v View) Count() int32 { return int32(binary.BigEndian.Uint32(v[countAt:])) }

// Payload is the records' bytes, compressed or not.
func (v View) Payload() []byte { return v[HeaderSize:] }

func lastSequence(base kafka.Sequence, delta int32) kafka.Sequence {
	if base < 0 {
		return base
	}
	return base.Add(delta)
}

// Attributes are the flags of a batch. See the package comment for the bits.
type Attributes uint16

const (
	codecMask         Attributes = 0x07
	timestampTypeFlag Attributes = 0x08
	transactionalFlag Attributes = 0x10
	controlFlag       Attributes = 0x20
	deleteHorizonFlag Attributes = 0x40
)

// Codec is the compression of the records; it need not be a known one.
func (a Attributes) Codec() Codec { return Codec(a & codecMask) }

// TimestampType says who stamped the records.
func (a Attributes) TimestampType() kafka.TimestampType {
	return kafka.TimestampType(a & timestampTypeFlag / timestampTypeFlag)
}

// IsTransactional says whether the batch belongs to a transaction.
func (a Attributes) IsTransactional() bool { return a&transactionalFlag != 0 }

// IsControl says whether the batch holds a control record, such as a transaction marker.
func (a Attributes) IsControl() bool { return a&controlFlag != 0 }

// HasDeleteHorizon says whether baseTimestamp is the time from which tombstones may go.
func (a Attributes) HasDeleteHorizon() bool { return a&deleteHorizonFlag != 0 }
