package commitlog

import (
	"encoding/binary"
	"fmt"

	"stet/core/kafka"
)

// indexEntrySize is the size of an entry of an offset index:
//
//	int32 last offset of the batch, relative to the segment's base offset
//	int32 position of the batch's first byte in the segment
const indexEntrySize = 8

// IndexEntry is an entry of an offset index. It is a hint: the batch at Position ends with Offset.
type IndexEntry struct {
	Offset   kafka.Offset // last offset of the batch
	Position int64        // of its first byte in the segment
}

// AppendIndexEntry encodes an entry of the segment with this base offset.
func AppendIndexEntry(dst []byte, base kafka.Offset, e IndexEntry) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.Offset-base))
	return binary.BigEndian.AppendUint32(dst, uint32(e.Position))
}

// indexEntryAt decodes the entry at the start of b.
func indexEntryAt(b []byte, base kafka.Offset) IndexEntry {
	return IndexEntry{
		Offset:   base + kafka.Offset(int32(binary.BigEndian.Uint32(b))),
		Position: int64(int32(binary.BigEndian.Uint32(b[4:]))),
	}
}

// DecodeIndex decodes the offset index of the segment with this base offset. A live index of
// Kafka's is preallocated, so a tail of zeros is no error: the first entry of an index never has
// position 0. Entries that precede an error are returned with it.
func DecodeIndex(b []byte, base kafka.Offset) ([]IndexEntry, error) {
	entries := make([]IndexEntry, 0, min(len(b)/indexEntrySize, 4096))
	last := IndexEntry{Offset: base - 1}
	for at := 0; ; at += indexEntrySize {
		if allZero(b[at:]) {
			return entries, nil
		}
		if len(b)-at < indexEntrySize {
			return entries, fmt.Errorf("%d trailing bytes at %d", len(b)-at, at)
		}
		e := indexEntryAt(b[at:], base)
		if e.Offset <= last.Offset || e.Position <= last.Position {
			return entries, fmt.Errorf("entry %d: offset %d position %d after offset %d position %d",
				len(entries), e.Offset, e.Position, last.Offset, last.Position)
		}
		entries = append(entries, e)
		last = e
	}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
