package commitlog

import (
	"encoding/binary"
	"fmt"

	"stet/core/kafka"
)

// timeEntrySize is the size of an entry of a time index:
//
//	int64 largest timestamp so far, milliseconds
//	int32 last offset of the batch that brought it, relative to the segment's base offset
const timeEntrySize = 12

// TimeEntry is an entry of a time index: no record of the segment up to Offset is younger than
// Timestamp.
type TimeEntry struct {
	Timestamp int64        // running maximum, milliseconds
	Offset    kafka.Offset // last offset of the batch that brought it
}

// AppendTimeEntry encodes an entry of the segment with this base offset.
func AppendTimeEntry(dst []byte, base kafka.Offset, e TimeEntry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Timestamp))
	return binary.BigEndian.AppendUint32(dst, uint32(e.Offset-base))
}

// timeEntryAt decodes the entry at the start of b.
func timeEntryAt(b []byte, base kafka.Offset) TimeEntry {
	return TimeEntry{
		Timestamp: int64(binary.BigEndian.Uint64(b)),
		Offset:    base + kafka.Offset(int32(binary.BigEndian.Uint32(b[8:]))),
	}
}

// DecodeTimeIndex decodes the time index of the segment with this base offset. A tail of zeros is
// no error, as in DecodeIndex. Entries that precede an error are returned with it.
func DecodeTimeIndex(b []byte, base kafka.Offset) ([]TimeEntry, error) {
	entries := make([]TimeEntry, 0, min(len(b)/timeEntrySize, 4096))
	last := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base}
	for at := 0; ; at += timeEntrySize {
		if allZero(b[at:]) {
			return entries, nil
		}
		if len(b)-at < timeEntrySize {
			return entries, fmt.Errorf("%d trailing bytes at %d", len(b)-at, at)
		}
		e := timeEntryAt(b[at:], base)
		if e.Timestamp <= last.Timestamp || e.Offset < last.Offset {
			return entries, fmt.Errorf("entry %d: timestamp %d offset %d after timestamp %d offset %d",
				len(entries), e.Timestamp, e.Offset, last.Timestamp, last.Offset)
		}
		entries = append(entries, e)
		last = e
	}
}
