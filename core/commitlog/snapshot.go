package commitlog

import (
	"encoding/binary"
	"fmt"

	"stet/core/kafka"
)

// ProducerWindow is the number of batches that are remembered for each producer, to recognise
// duplicates (ProducerStateEntry.NUM_BATCHES_TO_RETAIN).
const ProducerWindow = 5

// ProducerBatch is a batch that a producer appended.
type ProducerBatch struct {
	LastSequence kafka.Sequence
	LastOffset   kafka.Offset
	OffsetDelta  int32 // last minus first, of offsets and of sequences
	Timestamp    int64 // largest of the batch, milliseconds
}

// FirstSequence is the sequence of the first record.
func (b ProducerBatch) FirstSequence() kafka.Sequence {
	if int32(b.LastSequence) >= b.OffsetDelta {
		return b.LastSequence - kafka.Sequence(b.OffsetDelta)
	}
	// The sequence wrapped inside the batch (DefaultRecordBatch.decrementSequence).
	return kafka.Sequence(1<<31 - 1 - (b.OffsetDelta - int32(b.LastSequence)) + 1)
}

// BaseOffset is the offset of the first record.
func (b ProducerBatch) BaseOffset() kafka.Offset {
	return b.LastOffset - kafka.Offset(b.OffsetDelta)
}

// ProducerEntry is the state of one producer.
type ProducerEntry struct {
	ID               kafka.ProducerID
	Epoch            kafka.ProducerEpoch
	CoordinatorEpoch int32
	// TransactionStart is the first offset of the open transaction, or kafka.NoOffset.
	TransactionStart kafka.Offset
	// Timestamp is the largest of the last batch or the marker, milliseconds: what expiry goes by.
	Timestamp int64
	// Batches are the last batches, oldest first, at most ProducerWindow. It may be empty when
	// all that is known of the producer is a transaction marker.
	Batches []ProducerBatch
}

const (
	snapshotVersion   = 1
	snapshotEntrySize = 46
)

// AppendSnapshot encodes a producer snapshot in Kafka's format, with the last batch of each
// producer (ProducerStateManager.writeSnapshot):
//
//	int16 version, uint32 CRC-32C of what follows, int32 count, and for each producer
//	int64 id, int16 epoch, int32 last sequence, int64 last offset, int32 offset delta,
//	int64 timestamp, int32 coordinator epoch, int64 first offset of the open transaction
func AppendSnapshot(dst []byte, entries []ProducerEntry) []byte {
	big := binary.BigEndian
	body := make([]byte, 0, 4+len(entries)*snapshotEntrySize)
	body = big.AppendUint32(body, uint32(len(entries)))
	for _, e := range entries {
		last := ProducerBatch{LastSequence: kafka.NoSequence, LastOffset: kafka.NoOffset}
		if n := len(e.Batches); n > 0 {
			last = e.Batches[n-1]
		}
		body = big.AppendUint64(body, uint64(e.ID))
		body = big.AppendUint16(body, uint16(e.Epoch))
		body = big.AppendUint32(body, uint32(last.LastSequence))
		body = big.AppendUint64(body, uint64(last.LastOffset))
		body = big.AppendUint32(body, uint32(last.OffsetDelta))
		body = big.AppendUint64(body, uint64(e.Timestamp))
		body = big.AppendUint32(body, uint32(e.CoordinatorEpoch))
		body = big.AppendUint64(body, uint64(e.TransactionStart))
	}
	return appendSealed(dst, snapshotVersion, body)
}

// DecodeSnapshot decodes a producer snapshot. Each entry has at most one batch.
func DecodeSnapshot(b []byte) ([]ProducerEntry, error) {
	body, err := openSealed(b, snapshotVersion)
	if err != nil {
		return nil, err
	}
	r := reader{b: body}
	count := int(r.int32())
	if count < 0 || len(r.b) != count*snapshotEntrySize {
		return nil, fmt.Errorf("%d entries announced in %d bytes", count, len(r.b))
	}
	entries := make([]ProducerEntry, count)
	for i := range entries {
		e := &entries[i]
		e.ID = kafka.ProducerID(r.int64())
		e.Epoch = kafka.ProducerEpoch(r.int16())
		last := ProducerBatch{LastSequence: kafka.Sequence(r.int32())}
		last.LastOffset = kafka.Offset(r.int64())
		last.OffsetDelta = r.int32()
		e.Timestamp = r.int64()
		e.CoordinatorEpoch = r.int32()
		e.TransactionStart = kafka.Offset(r.int64())
		last.Timestamp = e.Timestamp
		if last.LastOffset >= 0 {
			e.Batches = []ProducerBatch{last}
		}
	}
	return entries, r.finish()
}
