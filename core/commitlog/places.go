package commitlog

import (
	"stet/core/invariant"
	"stet/core/kafka"
)

// places is what a log remembers of where its batches lie, so that most reads need no index file:
// the newest, those that were looked up, and where reads ended. The entries of a live segment's
// index serve too.
type places struct {
	tail ring
	runs runs
	ends ends
}

// rangeAfter is rangeFrom for a batch of which only the place is remembered, not the size.
func (p *places) rangeAfter(s *segment, offset kafka.Offset, position, maxBytes int64,
	upTo kafka.Offset,
) Found {
	first := batchRef{base: offset, last: offset - 1, position: position}
	end, next := p.lastBoundary(s, first, position+maxBytes, upTo)
	if end <= position {
		return Found{Locate: true}
	}
	return Found{
		File: s.file, Off: position, Len: end - position, Segment: s.base,
		Start: offset, End: next,
	}
}

// rangeFrom extends a range from its first batch as far as boundaries are known.
func (p *places) rangeFrom(s *segment, first batchRef, maxBytes int64, minOne bool,
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
	position, end := p.lastBoundary(s, first, first.position+maxBytes, upTo)
	found.Len, found.End = position-first.position, end
	return found
}

// lastBoundary finds the end of the longest range that begins with first.
func (p *places) lastBoundary(s *segment, first batchRef, limit int64,
	upTo kafka.Offset,
) (int64, kafka.Offset) {
	if s.writtenBytes <= limit && s.writtenEnd <= upTo {
		return s.writtenBytes, s.writtenEnd
	}
	position, end := first.end(), first.last+1
	better := func(known list) {
		if at, next := known.boundary(limit, upTo); at > position {
			position, end = at, next
		}
	}
	better(p.tail.of(s.base, s.writtenEnd))
	if s.live != nil {
		better(list{refs: s.live.entries, n: len(s.live.entries)})
	}
	for i := range p.runs.items {
		if r := &p.runs.items[i]; r.segment == s.base {
			better(list{refs: r.refs, n: len(r.refs)})
		}
	}
	return position, end
}

// batchAt finds the batch of the segment that holds offset, if its place is at hand.
func (p *places) batchAt(s *segment, offset kafka.Offset) (batchRef, bool) {
	if b, ok := p.tail.of(s.base, s.writtenEnd).containing(offset); ok {
		return b, true
	}
	if s.live != nil {
		if b, ok := (list{refs: s.live.entries, n: len(s.live.entries)}).containing(offset); ok {
			return b, true
		}
	}
	for i := range p.runs.items {
		r := &p.runs.items[i]
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
