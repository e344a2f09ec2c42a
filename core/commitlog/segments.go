package commitlog

import (
	"sort"

	"stet/core/kafka"
)

// segments are those of one log, by ascending base; never empty, and the last one is active.
type segments []*segment

func (all segments) active() *segment { return all[len(all)-1] }

// of returns the segment whose range contains offset: the last one with base <= offset.
func (all segments) of(offset kafka.Offset) (*segment, int) {
	i := sort.Search(len(all), func(i int) bool { return all[i].base > offset }) - 1
	if i < 0 {
		return nil, -1
	}
	return all[i], i
}

// after returns the segment that follows, or nil.
func (all segments) after(s *segment) *segment {
	if _, i := all.of(s.base); i+1 < len(all) {
		return all[i+1]
	}
	return nil
}

// before returns the segment that precedes; s is not the first.
func (all segments) before(s *segment) *segment {
	_, i := all.of(s.base)
	return all[i-1]
}

// firstUnsealed returns the first segment that is not sealed, and its index; the count of
// segments and nil when all are.
func (all segments) firstUnsealed() (int, *segment) {
	for i := len(all); i > 0; i-- {
		if all[i-1].sealed {
			if i == len(all) {
				return i, nil
			}
			return i, all[i]
		}
	}
	return 0, all[0]
}

// sizeBytes is the size of all segments, written or not.
func (all segments) sizeBytes() int64 {
	total := int64(0)
	for _, s := range all {
		total += s.bytes
	}
	return total
}

// segmentView is what a job needs to know of a segment: a part of the log's state that does not
// change.
type segmentView struct {
	base  kafka.Offset
	bytes int64        // written
	end   kafka.Offset // written, or the next segment's base

	sealed      bool // the index files are complete; else the last entries are here
	fileEntries int  // entries in the offset index file, when not sealed
	entries     []batchRef
	fileTimes   int
	times       []TimeEntry
}

// view takes the i-th segment as it is now.
func (all segments) view(i int) segmentView {
	s := all[i]
	v := segmentView{base: s.base, bytes: s.writtenBytes, end: s.writtenEnd, sealed: s.live == nil}
	if i+1 < len(all) && s.writtenBytes == s.bytes {
		v.end = all[i+1].base
	}
	if x := s.live; x != nil {
		v.fileEntries, v.entries = x.entriesBefore, x.entries
		v.fileTimes, v.times = x.timesBefore, x.times
	}
	return v
}
