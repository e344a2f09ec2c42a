package commitlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"stet/core/kafka"
)

// Sequences is the sidecar of a producer snapshot: the older batches of each window, for which
// Kafka's format has no place, and the last batch's own timestamp.
type Sequences struct {
	// Snapshot is the CRC-32C of the snapshot file, so that a sidecar is never joined with a
	// snapshot it was not written for.
	Snapshot  uint32
	Producers []ProducerSequences
}

// ProducerSequences is what a sidecar says of a producer that has a batch.
type ProducerSequences struct {
	ID            kafka.ProducerID
	Epoch         kafka.ProducerEpoch
	LastTimestamp int64           // of the batch that the snapshot has, milliseconds
	Older         []ProducerBatch // that the snapshot has not, oldest first
}

const sequencesVersion = 1

// AppendSequences encodes the sidecar of a snapshot file with these entries:
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

// DecodeSequences decodes a sidecar.
func DecodeSequences(b []byte) (Sequences, error) {
	var s Sequences
	body, err := openSealed(b, sequencesVersion)
	if err != nil {
		return s, err
	}
	r := reader{b: body}
	s.Snapshot = uint32(r.int32())
	for range max(r.int32(), 0) {
		p := ProducerSequences{
			ID: kafka.ProducerID(r.int64()), Epoch: kafka.ProducerEpoch(r.int16()),
			LastTimestamp: r.int64(),
		}
		older := int(r.uint8())
		if r.bad || older >= ProducerWindow {
			return s, fmt.Errorf("producer %d epoch %d with %d older batches", p.ID, p.Epoch, older)
		}
		for range older {
			p.Older = append(p.Older, ProducerBatch{
				LastSequence: kafka.Sequence(r.int32()), LastOffset: kafka.Offset(r.int64()),
				OffsetDelta: r.int32(), Timestamp: r.int64(),
			})
		}
		s.Producers = append(s.Producers, p)
	}
	return s, r.finish()
}

// Of says whether the sidecar was written for this snapshot file.
func (s *Sequences) Of(snapshot []byte) bool {
	return s.Snapshot == crc32.Checksum(snapshot, castagnoli())
}

// JoinSequences puts the batches of a sidecar in front of those of the snapshot that entries were
// decoded from. On an error entries are unchanged, with windows of one batch.
func JoinSequences(entries []ProducerEntry, snapshot, sequences []byte) error {
	s, err := DecodeSequences(sequences)
	if err != nil {
		return err
	}
	if !s.Of(snapshot) {
		return fmt.Errorf("belongs to another snapshot")
	}
	windows := make([][]ProducerBatch, len(entries))
	next := 0
	for _, p := range s.Producers {
		for next < len(entries) && (entries[next].ID != p.ID || len(entries[next].Batches) == 0) {
			next++
		}
		if next == len(entries) || entries[next].Epoch != p.Epoch {
			return fmt.Errorf("producer %d epoch %d is not in the snapshot", p.ID, p.Epoch)
		}
		last := entries[next].Batches[0]
		last.Timestamp = p.LastTimestamp
		windows[next] = append(p.Older, last)
		next++
	}
	for i, window := range windows {
		if window != nil {
			entries[i].Batches = window
		}
	}
	return nil
}
