package crashpoints

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// storedLog is partition 0 of a topic as its files have it: the prefix of sound batches.
type storedLog struct {
	batches []storedBatch
	bases   []kafka.Offset // of the segments
	end     kafka.Offset
	problem string // why the prefix ends before the files do, "" if it does not
}

// storedBatch is a batch in a file.
type storedBatch struct {
	record.View
	segment  kafka.Offset
	position int64
}

func partitionPath(topic string) env.Path { return env.Path{Name: topic + "-0"} }

func segmentPath(topic string, base kafka.Offset, suffix string) env.Path {
	return env.Path{Name: fmt.Sprintf("%s/%020d%s", partitionPath(topic).Name, base, suffix)}
}

// readLog reads what processes see of a log. It checks what a recovery has to: lengths, CRCs,
// contiguous offsets, epochs that do not go back.
func readLog(d *sim.Disk, topic string) *storedLog {
	l := &storedLog{}
	for _, e := range d.Entries(partitionPath(topic)) {
		name, ok := strings.CutSuffix(e.Name, ".log")
		if n, err := strconv.ParseInt(name, 10, 64); ok && err == nil {
			l.bases = append(l.bases, kafka.Offset(n))
		}
	}
	epoch := kafka.NoLeaderEpoch
	for i, base := range l.bases {
		if i > 0 && base != l.end {
			l.problem = fmt.Sprintf("segment %d follows offset %d", base, l.end)
			return l
		}
		l.end = base
		content, _ := d.Bytes(segmentPath(topic, base, ".log"))
		if l.readSegment(base, content, &epoch); l.problem != "" {
			return l
		}
	}
	return l
}

func (l *storedLog) readSegment(base kafka.Offset, content []byte, epoch *kafka.LeaderEpoch) {
	size := int64(len(content))
	for len(content) > 0 {
		v, rest, problem := record.First(content)
		if problem == record.NoProblem {
			problem = record.Check(v)
		}
		at := size - int64(len(content))
		switch {
		case problem != record.NoProblem:
			l.problem = fmt.Sprintf("segment %d position %d: %s", base, at, problem)
		case v.BaseOffset() != l.end:
			l.problem = fmt.Sprintf("segment %d position %d: offset %d, not %d", base, at, v.BaseOffset(), l.end)
		case v.LeaderEpoch() < *epoch:
			l.problem = fmt.Sprintf("segment %d position %d: epoch %d after %d", base, at, v.LeaderEpoch(), *epoch)
		}
		if l.problem != "" {
			return
		}
		l.batches = append(l.batches, storedBatch{v, base, at})
		*epoch, l.end, content = v.LeaderEpoch(), v.NextOffset(), rest
	}
}

// imprint is a hash over all names and bytes of a disk as processes see it.
func imprint(d *sim.Disk) string {
	h := sha256.New()
	imprintDir(h, d, env.Path{})
	return string(h.Sum(nil))
}

func imprintDir(h hash.Hash, d *sim.Disk, dir env.Path) {
	for _, e := range d.Entries(dir) {
		path := env.Path{Name: strings.TrimPrefix(dir.Name+"/"+e.Name, "/")}
		fmt.Fprintf(h, "%q %v %d\n", path.Name, e.Dir, e.Size)
		if e.Dir {
			imprintDir(h, d, path)
			continue
		}
		content, _ := d.Bytes(path)
		h.Write(content)
	}
}
