package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// storedLog is a partition's log as its files have it: the prefix of sound batches.
type storedLog struct {
	batches  []storedBatch
	segments []storedSegment
	end      kafka.Offset
	problem  string // why the prefix ends before the files do, "" if it does not
}

type storedSegment struct {
	base  kafka.Offset
	bytes int64 // sound
	size  int64 // of the file
}

// storedBatch is a batch in a file.
type storedBatch struct {
	record.View
	segment  kafka.Offset
	position int64
}

// segmentBases lists the segments of a partition as the directory shows them, in order.
func segmentBases(d *sim.Disk, p kafka.PartitionID) (bases []kafka.Offset) {
	for _, e := range d.Entries(partitionPath(p)) {
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

func partitionPath(p kafka.PartitionID) env.Path {
	return env.Path{Name: topicPartition(p).String()}
}

func segmentPath(p kafka.PartitionID, base kafka.Offset, suffix string) env.Path {
	return env.Path{Name: fmt.Sprintf("%s/%020d%s", partitionPath(p).Name, base, suffix)}
}

// reading returns the content of a file in one of its states.
type reading func(*sim.Disk, env.Path) ([]byte, bool)

// cached is what processes see, durable what the medium has.
func cached(d *sim.Disk, p env.Path) ([]byte, bool)  { return d.Bytes(p) }
func durable(d *sim.Disk, p env.Path) ([]byte, bool) { return d.DurableBytes(p) }

// readLog reads the sound prefix of a partition's log. It checks what a recovery must check:
// lengths, CRCs, contiguous offsets, epochs that do not go back.
func readLog(d *sim.Disk, p kafka.PartitionID, read reading) *storedLog {
	l := &storedLog{}
	epoch := kafka.NoLeaderEpoch
	for i, base := range segmentBases(d, p) {
		if i > 0 && base != l.end {
			l.problem = fmt.Sprintf("segment %d follows offset %d", base, l.end)
			return l
		}
		l.end = base
		content, ok := read(d, segmentPath(p, base, ".log"))
		if !ok {
			l.problem = fmt.Sprintf("segment %d has no durable name", base)
			return l
		}
		l.segments = append(l.segments, storedSegment{base: base, size: int64(len(content))})
		if !l.readSegment(base, content, &epoch) {
			return l
		}
	}
	return l
}

// readSegment appends the batches of a segment. It says false where the prefix ends.
func (l *storedLog) readSegment(base kafka.Offset, content []byte, epoch *kafka.LeaderEpoch) bool {
	segment := &l.segments[len(l.segments)-1]
	for len(content) > 0 {
		v, rest, problem := record.First(content)
		if problem == record.NoProblem {
			problem = record.Check(v)
		}
		switch {
		case problem != record.NoProblem:
			l.problem = fmt.Sprintf("segment %d position %d: %s", base, segment.bytes, problem)
		case v.BaseOffset() != l.end:
			l.problem = fmt.Sprintf("segment %d position %d: offset %d, not %d", base, segment.bytes,
				v.BaseOffset(), l.end)
		case v.LeaderEpoch() < *epoch:
			l.problem = fmt.Sprintf("segment %d position %d: epoch %d after %d", base, segment.bytes,
				v.LeaderEpoch(), *epoch)
		}
		if l.problem != "" {
			return false
		}
		l.batches = append(l.batches, storedBatch{v, base, segment.bytes})
		segment.bytes += v.SizeBytes()
		*epoch, l.end, content = v.LeaderEpoch(), v.NextOffset(), rest
	}
	return true
}
