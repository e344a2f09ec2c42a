package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
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
	s, i := l.segmentOf(offset)
	for s.writtenEnd <= offset { // a gap, left by compaction
		i++
		s = l.segments[i]
	}
	found := Found{Locate: true}
	if first, ok := l.batchAt(s, offset); ok {
		found = l.rangeFrom(s, first, maxBytes, minOne, upTo)
	} else if position, ok := l.ends.position(s.base, offset); ok {
		found = l.rangeAfter(s, offset, position, maxBytes, upTo)
	}
	found.Start = min(found.Start, offset) // above it in a gap, left by compaction
	if found.Len > 0 {
		l.ends.remember(s.base, found.End, found.Off+found.Len)
	}
	return found, kafka.None
}

// rangeAfter is rangeFrom for a batch of which only the place is remembered, not the size.
func (l *Log) rangeAfter(s *segment, offset kafka.Offset, position, maxBytes int64,
	upTo kafka.Offset,
) Found {
	first := batchRef{base: offset, last: offset - 1, position: position}
	end, next := l.lastBoundary(s, first, position+maxBytes, upTo)
	if end <= position {
		return Found{Locate: true}
	}
	return Found{
		File: s.file, Off: position, Len: end - position, Segment: s.base,
		Start: offset, End: next,
	}
}

// rangeFrom extends a range from its first batch as far as boundaries are known.
func (l *Log) rangeFrom(s *segment, first batchRef, maxBytes int64, minOne bool,
	upTo kafka.Offset,
) Found {
	found := Found{
		File: s.file, Off: first.position, Segment: s.base, Start: first.base, End: first.base,
	}
	if first.last >= upTo {
		return found
	}
	if int64(first.bytes) > maxBytes {
		if minOne {
			invariant.Sometimes(true, invariant.MarkFetchFirstBatchOversized)
			found.Len, found.End = int64(first.bytes), first.last+1
		}
		return found
	}
	position, end := l.lastBoundary(s, first, first.position+maxBytes, upTo)
	found.Len, found.End = position-first.position, end
	return found
}

// lastBoundary finds the end of the longest range that begins with first.
func (l *Log) lastBoundary(s *segment, first batchRef, limit int64,
	upTo kafka.Offset,
) (int64, kafka.Offset) {
	if s.writtenBytes <= limit && s.writtenEnd <= upTo {
		return s.writtenBytes, s.writtenEnd
	}
	position, end := first.end(), first.last+1
	better := func(known list) {
		if p, e := known.boundary(limit, upTo); p > position {
			position, end = p, e
		}
	}
	better(l.tail.of(s.base, s.writtenEnd))
	if s.live != nil {
		better(list{refs: s.live.entries, n: len(s.live.entries)})
	}
	for i := range l.runs.items {
		if r := &l.runs.items[i]; r.segment == s.base {
			better(list{refs: r.refs, n: len(r.refs)})
		}
	}
	return position, end
}

// batchAt finds the batch of the segment that holds offset, if its place is at hand.
func (l *Log) batchAt(s *segment, offset kafka.Offset) (batchRef, bool) {
	if b, ok := l.tail.of(s.base, s.writtenEnd).containing(offset); ok {
		return b, true
	}
	if s.live != nil {
		if b, ok := (list{refs: s.live.entries, n: len(s.live.entries)}).containing(offset); ok {
			return b, true
		}
	}
	for i := range l.runs.items {
		r := &l.runs.items[i]
		if r.segment != s.base {
			continue
		}
		if offset >= r.from && offset <= r.refs[0].last {
			return r.refs[0], true
		}
		if b, ok := (list{refs: r.refs, n: len(r.refs)}).containing(offset); ok {
			return b, true
		}
	}
	return batchRef{}, false
}
