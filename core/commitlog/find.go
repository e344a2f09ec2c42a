package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
)

// Found is a range of whole batches in one segment.
type Found struct {
	File    env.FileID
	Off     int64        // position of the first batch
	Len     int64        // 0: nothing to read below upTo, or nothing that fits
	Segment kafka.Offset // base offset of the segment
	Start   kafka.Offset // base offset of the first batch, but never above the offset asked for
	End     kafka.Offset // offset after the last batch
	// Locate: the position is not at hand. Call Locate, and Find again once its job is done.
	Locate bool
}

// Find returns a range that starts with the batch that contains offset, ends on a batch boundary
// with no record at or above upTo, and has at most maxBytes; with minOne the first batch may be
// larger. It takes no lease.
//
// Errors: OffsetOutOfRange for an offset below LogStartOffset or above Written; KafkaStorageError
// when the log is fenced.
func (l *Log) Find(offset kafka.Offset, maxBytes int64, minOne bool,
	upTo kafka.Offset,
) (Found, kafka.ErrorCode) {
	switch {
	case l.fenced || l.closed || l.opening > 0:
		return Found{}, kafka.KafkaStorageError
	case offset < l.LocalLogStartOffset() || offset > l.written:
		return Found{}, kafka.OffsetOutOfRange
	}
	upTo = min(upTo, l.written)
	if offset >= upTo {
		return Found{Start: offset, End: offset}, kafka.None
	}
	s, i := l.segments.of(offset)
	for s.writtenEnd <= offset { // a gap, left by compaction
		i++
		s = l.segments[i]
	}
	found := Found{Locate: true}
	if first, ok := l.places.batchAt(s, offset); ok {
		found = l.places.rangeFrom(s, first, maxBytes, minOne, upTo)
	} else if position, ok := l.places.ends.position(s.base, offset); ok {
		found = l.places.rangeAfter(s, offset, position, maxBytes, upTo)
	}
	found.Start = min(found.Start, offset) // above it in a gap, left by compaction
	if found.Len > 0 {
		l.places.ends.remember(s.base, found.End, found.Off+found.Len)
	}
	return found, kafka.None
}
