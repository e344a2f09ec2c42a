// Package storedlog reads the log of a partition as the files of a simulated disk have it, without
// the code that is judged by it.
package storedlog

import (
	"fmt"
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// Log is the prefix of sound batches.
type Log struct {
	Batches  []Batch
	Bases    []kafka.Offset // of all segments that the directory shows, in order
	Segments []Segment      // of the prefix
	End      kafka.Offset
	Problem  string // why the prefix ends before the files do, "" if it does not
}

// Segment is a segment of the prefix.
type Segment struct {
	Base  kafka.Offset
	Bytes int64 // sound
}

// Batch is a batch in a file.
type Batch struct {
	record.View
	Segment  kafka.Offset
	Position int64
}

// Reading returns the content of a file in one of its states, and whether there is such a file.
type Reading func(*sim.Disk, env.Path) ([]byte, bool)

// Cached is what processes see, Durable what the medium has.
func Cached(d *sim.Disk, p env.Path) ([]byte, bool)  { return d.Bytes(p) }
func Durable(d *sim.Disk, p env.Path) ([]byte, bool) { return d.DurableBytes(p) }

// SegmentBases lists the segments in the directory dir as processes see it, in order.
func SegmentBases(d *sim.Disk, dir env.Path) (bases []kafka.Offset) {
	for _, e := range d.Entries(dir) {
		name, ok := strings.CutSuffix(e.Name, ".log")
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(name, 10, 64); err == nil {
			bases = append(bases, kafka.Offset(n))
		}
	}
	return bases
}

// SegmentPath names a file of the segment that begins at base.
func SegmentPath(dir env.Path, base kafka.Offset, suffix string) env.Path {
	return env.Path{Name: fmt.Sprintf("%s/%020d%s", dir.Name, base, suffix)}
}

// Read reads the log in the directory dir. It checks what a recovery must check: lengths, CRCs,
// contiguous offsets, epochs that do not go back.
func Read(d *sim.Disk, dir env.Path, read Reading) *Log {
	l := &Log{Bases: SegmentBases(d, dir)}
	epoch := kafka.NoLeaderEpoch
	for i, base := range l.Bases {
		if i > 0 && base != l.End {
			l.Problem = fmt.Sprintf("segment %d follows offset %d", base, l.End)
			return l
		}
		l.End = base
		content, ok := read(d, SegmentPath(dir, base, ".log"))
		if !ok {
			l.Problem = fmt.Sprintf("segment %d has no durable name", base)
			return l
		}
		if !l.take(base, content, &epoch) {
			return l
		}
	}
	return l
}

// ReadSegment reads the content of one segment by itself.
func ReadSegment(base kafka.Offset, content []byte) *Log {
	l := &Log{Bases: []kafka.Offset{base}, End: base}
	epoch := kafka.NoLeaderEpoch
	l.take(base, content, &epoch)
	return l
}

// take appends the batches of a segment. It says false where the prefix ends.
func (l *Log) take(base kafka.Offset, content []byte, epoch *kafka.LeaderEpoch) bool {
	l.Segments = append(l.Segments, Segment{Base: base})
	segment := &l.Segments[len(l.Segments)-1]
	for len(content) > 0 {
		v, rest, problem := record.First(content)
		if problem == record.NoProblem {
			problem = record.Check(v)
		}
		switch {
		case problem != record.NoProblem:
			l.Problem = fmt.Sprintf("segment %d position %d: %s", base, segment.Bytes, problem)
		case v.BaseOffset() != l.End:
			l.Problem = fmt.Sprintf("segment %d position %d: offset %d, not %d", base, segment.Bytes,
				v.BaseOffset(), l.End)
		case v.LeaderEpoch() < *epoch:
			l.Problem = fmt.Sprintf("segment %d position %d: epoch %d after %d", base, segment.Bytes,
				v.LeaderEpoch(), *epoch)
		}
		if l.Problem != "" {
			return false
		}
		l.Batches = append(l.Batches, Batch{v, base, segment.Bytes})
		segment.Bytes += v.SizeBytes()
		*epoch, l.End, content = v.LeaderEpoch(), v.NextOffset(), rest
	}
	return true
}
