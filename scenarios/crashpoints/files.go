package crashpoints

import (
	"crypto/sha256"
	"fmt"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/scenarios/storedlog"
	"stet/sim"
)

func rootPath(name string) env.Path { return env.Path{Name: name} }

// hashLog hashes the files of a log's segments.
func hashLog(d *sim.Disk, topic string, log *storedlog.Log) string {
	h := sha256.New()
	for _, base := range log.Bases {
		content, _ := d.Bytes(segmentPath(topic, base, ".log"))
		fmt.Fprintf(h, "%d %d\n", base, len(content))
		h.Write(content)
	}
	return string(h.Sum(nil))
}

// checkIndexes is S8: every entry of an index tells the truth.
func checkIndexes(d *sim.Disk, topic string, log *storedlog.Log) (failed []string) {
	for _, base := range log.Bases {
		b, _ := d.Bytes(segmentPath(topic, base, ".index"))
		entries, err := commitlog.DecodeIndex(b, base)
		if err != nil {
			failed = append(failed, fmt.Sprintf("S8 %s index %d: %v", topic, base, err))
		}
		for _, e := range entries {
			if !has(log, base, e) {
				failed = append(failed, fmt.Sprintf("S8 %s index %d: no batch at position %d ends with %d",
					topic, base, e.Position, e.Offset))
			}
		}
		b, _ = d.Bytes(segmentPath(topic, base, ".timeindex"))
		times, err := commitlog.DecodeTimeIndex(b, base)
		if err != nil {
			failed = append(failed, fmt.Sprintf("S8 %s time index %d: %v", topic, base, err))
		}
		for _, e := range times {
			if highest := highestTimestamp(log, base, e.Offset); highest != e.Timestamp {
				failed = append(failed, fmt.Sprintf("S8 %s time index %d: %d up to offset %d, the log has %d",
					topic, base, e.Timestamp, e.Offset, highest))
			}
		}
	}
	return failed
}

func has(l *storedlog.Log, base kafka.Offset, e commitlog.IndexEntry) bool {
	for _, b := range l.Batches {
		if b.Segment == base && b.Position == e.Position && b.LastOffset() == e.Offset {
			return true
		}
	}
	return false
}

// highestTimestamp is that of a segment's batches up to an offset.
func highestTimestamp(l *storedlog.Log, base, last kafka.Offset) int64 {
	highest := kafka.NoTimestamp
	for _, b := range l.Batches {
		if b.Segment == base && b.LastOffset() <= last {
			highest = max(highest, b.MaxTimestamp())
		}
	}
	return highest
}

// epochs derives the leader epochs of a log from its batches.
func epochs(l *storedlog.Log) (epochs []commitlog.EpochEntry) {
	for _, b := range l.Batches {
		if n := len(epochs); n == 0 || epochs[n-1].Epoch != b.LeaderEpoch() {
			epochs = append(epochs, commitlog.EpochEntry{Epoch: b.LeaderEpoch(), Start: b.BaseOffset()})
		}
	}
	return epochs
}
