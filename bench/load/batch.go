package load

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BatchShape says what a pre-encoded batch holds.
type BatchShape struct {
	RecordBytes int    // size of each value
	BatchBytes  int    // the batch is filled up to this size, with one record at least
	Seed        uint64 // of the values, which do not compress
}

const (
	batchHeaderBytes = 61
	crcFrom          = 21 // the checksum covers the batch from here
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// EncodeBatch returns a record batch (format 2, no compression, no producer id) and its number of
// records.
func EncodeBatch(shape BatchShape) (batch []byte, records int) {
	random := rand.New(rand.NewPCG(shape.Seed, 1))
	value := make([]byte, shape.RecordBytes)
	var body []byte
	for {
		for i := range value {
			value[i] = byte(random.Uint32())
		}
		next := appendRecord(body, records, value)
		if records > 0 && batchHeaderBytes+len(next) > shape.BatchBytes {
			return SealBatch(body, records), records
		}
		body = next
		records++
	}
}

// SealBatch puts a header with the current time and a checksum before encoded records.
func SealBatch(body []byte, records int) []byte {
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		Length:               int32(batchHeaderBytes - 12 + len(body)),
		PartitionLeaderEpoch: -1,
		Magic:                2,
		LastOffsetDelta:      int32(records - 1),
		FirstTimestamp:       now,
		MaxTimestamp:         now,
		ProducerID:           -1,
		ProducerEpoch:        -1,
		FirstSequence:        -1,
		NumRecords:           int32(records),
		Records:              body,
	}
	out := b.AppendTo(nil)
	binary.BigEndian.PutUint32(out[crcFrom-4:], crc32.Checksum(out[crcFrom:], castagnoli))
	return out
}

// appendRecord appends one record without key, headers or time difference.
func appendRecord(dst []byte, offsetDelta int, value []byte) []byte {
	var body []byte
	body = append(body, 0) // attributes
	body = binary.AppendVarint(body, 0)
	body = binary.AppendVarint(body, int64(offsetDelta))
	body = binary.AppendVarint(body, -1) // no key
	body = binary.AppendVarint(body, int64(len(value)))
	body = append(body, value...)
	body = binary.AppendVarint(body, 0) // no headers
	dst = binary.AppendVarint(dst, int64(len(body)))
	return append(dst, body...)
}

// BatchOf encodes these values as one batch.
func BatchOf(values ...[]byte) []byte {
	var body []byte
	for i, v := range values {
		body = appendRecord(body, i, v)
	}
	return SealBatch(body, len(values))
}
