package commitlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

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
	sequencesVersion  = 1
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

// AppendSequences encodes the sidecar of a snapshot: the older batches of each window, for which
// Kafka's format has no place, and the last batch's own timestamp. It names its snapshot by
// checksum, so that a sidecar is never joined with a snapshot it was not written for:
//
//	int16 version, uint32 CRC-32C of what follows, uint32 CRC-32C of the snapshot file,
//	int32 count, and for each producer that has a batch
//	int64 id, int16 epoch, int64 timestamp of the last batch, uint8 number of older batches,
//	and for each of those, oldest first,
//	int32 last sequence, int64 last offset, int32 offset delta, int64 timestamp
func AppendSequences(dst []byte, entries []ProducerEntry, snapshot []byte) []byte {
	big := binary.BigEndian
	body := big.AppendUint32(nil, crc32.Checksum(snapshot, castagnoli()))
	body = big.AppendUint32(body, 0)
	count := uint32(0)
	for _, e := range entries {
		if len(e.Batches) == 0 {
			continue
		}
		count++
		last := len(e.Batches) - 1
		body = big.AppendUint64(body, uint64(e.ID))
		body = big.AppendUint16(body, uint16(e.Epoch))
		body = big.AppendUint64(body, uint64(e.Batches[last].Timestamp))
		body = append(body, byte(last))
		for _, b := range e.Batches[:last] {
			body = big.AppendUint32(body, uint32(b.LastSequence))
			body = big.AppendUint64(body, uint64(b.LastOffset))
			body = big.AppendUint32(body, uint32(b.OffsetDelta))
			body = big.AppendUint64(body, uint64(b.Timestamp))
		}
	}
	big.PutUint32(body[4:], count)
	return appendSealed(dst, sequencesVersion, body)
}

// JoinSequences puts the batches of a sidecar in front of those of the snapshot that entries were
// decoded from. On an error entries are unchanged, with windows of one batch.
func JoinSequences(entries []ProducerEntry, snapshot, sequences []byte) error {
	body, err := openSealed(sequences, sequencesVersion)
	if err != nil {
		return err
	}
	r := reader{b: body}
	if uint32(r.int32()) != crc32.Checksum(snapshot, castagnoli()) {
		return fmt.Errorf("belongs to another snapshot")
	}
	joined := make([][]ProducerBatch, len(entries))
	next := 0
	for range max(r.int32(), 0) {
		id, epoch := kafka.ProducerID(r.int64()), kafka.ProducerEpoch(r.int16())
		timestamp, older := r.int64(), int(r.uint8())
		for next < len(entries) && (entries[next].ID != id || len(entries[next].Batches) == 0) {
			next++
		}
		if r.bad || next == len(entries) || entries[next].Epoch != epoch || older >= ProducerWindow {
			return fmt.Errorf("producer %d epoch %d with %d older batches", id, epoch, older)
		}
		window := make([]ProducerBatch, 0, older+1)
		for range older {
			b := ProducerBatch{LastSequence: kafka.Sequence(r.int32())}
			b.LastOffset, b.OffsetDelta, b.Timestamp = kafka.Offset(r.int64()), r.int32(), r.int64()
			window = append(window, b)
		}
		last := entries[next].Batches[0]
		last.Timestamp = timestamp
		joined[next] = append(window, last)
		next++
	}
	if err := r.finish(); err != nil {
		return err
	}
	for i, window := range joined {
		if window != nil {
			entries[i].Batches = window
		}
	}
	return nil
}
