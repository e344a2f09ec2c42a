package commitlog

import (
	"sort"

	"stet/core/kafka"
)

// ring remembers the newest written batches, one by one, for readers at the tail.
type ring struct {
	items []batchRef // circular when full
	next  int        // where the next one goes, once full
}

const ringSize = 128

func (r *ring) push(b batchRef) {
	if len(r.items) < ringSize {
		r.items = append(r.items, b)
		return
	}
	r.items[r.next] = b
	r.next = (r.next + 1) % ringSize
}

func (r *ring) len() int { return len(r.items) }

// at returns the i-th batch from the oldest.
func (r *ring) at(i int) batchRef { return r.items[(r.next+i)%len(r.items)] }

// list is a sequence of batches of one segment, in order, not necessarily adjacent.
type list struct {
	ring  *ring // or
	refs  []batchRef
	start int
	n     int
}

func (s list) at(i int) batchRef {
	if s.ring != nil {
		return s.ring.at(s.start + i)
	}
	return s.refs[i]
}

// of returns the batches of the ring that lie in [start, end).
func (r *ring) of(start, end kafka.Offset) list {
	from := sort.Search(r.len(), func(i int) bool { return r.at(i).base >= start })
	to := sort.Search(r.len(), func(i int) bool { return r.at(i).base >= end })
	return list{ring: r, start: from, n: to - from}
}

// containing returns the batch that holds offset.
func (s list) containing(offset kafka.Offset) (batchRef, bool) {
	i := sort.Search(s.n, func(i int) bool { return s.at(i).last >= offset })
	if i == s.n || s.at(i).base > offset {
		return batchRef{}, false
	}
	return s.at(i), true
}

// boundary returns the position of the last known batch boundary at or before limit with nothing
// at or above upTo in front of it, and the offset of what follows it. Position 0 if there is none.
func (s list) boundary(limit int64, upTo kafka.Offset) (int64, kafka.Offset) {
	i := sort.Search(s.n, func(i int) bool {
		b := s.at(i)
		return b.position > limit || b.base > upTo
	})
	if i == 0 {
		return 0, 0
	}
	b := s.at(i - 1)
	if b.end() <= limit && b.last < upTo {
		return b.end(), b.last + 1
	}
	return b.position, b.base
}

// runs remembers the batches that Locate jobs have found, for readers that catch up.
type runs struct {
	items []run
	next  int // the one to replace, once full
}

// run is a sequence of batches of one segment that starts where a Locate was asked for.
type run struct {
	segment kafka.Offset // base
	from    kafka.Offset // offset that was asked for; in a gap it precedes refs[0]
	refs    []batchRef
}

const runCount = 16

func (r *runs) add(item run) {
	if len(r.items) < runCount {
		r.items = append(r.items, item)
		return
	}
	r.items[r.next] = item
	r.next = (r.next + 1) % runCount
}

// ends remembers where recent reads ended, which is where their readers come next.
type ends struct {
	items [endCount]readEnd
	next  int
}

type readEnd struct {
	segment, offset kafka.Offset
	position        int64 // 0: unused, or the start of a segment, which needs no memory
}

const endCount = 16

func (e *ends) remember(segment, offset kafka.Offset, position int64) {
	end := readEnd{segment, offset, position}
	for i := range e.items {
		if e.items[i] == end {
			return
		}
	}
	e.items[e.next] = end
	e.next = (e.next + 1) % endCount
}

func (e *ends) position(segment, offset kafka.Offset) (int64, bool) {
	if segment == offset {
		return 0, true
	}
	for i := range e.items {
		if end := &e.items[i]; end.position > 0 && end.segment == segment && end.offset == offset {
			return end.position, true
		}
	}
	return 0, false
}
