package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
)

// segment is one file of the log with its indexes.
//
// Invariants: base <= syncedEnd <= writtenEnd <= end; writtenBytes <= bytes; all segments but the
// last (the active one) end where the next begins.
type segment struct {
	base kafka.Offset
	file env.FileID // the .log

	end          kafka.Offset // of what is assigned
	bytes        int64        // assigned; the position of the next batch
	writtenEnd   kafka.Offset // of the contiguous prefix of completed writes
	writtenBytes int64
	syncedEnd    kafka.Offset // covered by a completed sync of this file
	syncAsked    kafka.Offset // covered by a sync that was emitted
	syncing      bool         // a sync is in flight
	// entryDurable: the directory was synced after this file was created.
	entryDurable bool

	// firstTimestamp is the largest timestamp of the first batch, by whose age the segment is
	// rolled (LogSegment.rollingBasedTimestamp), or kafka.NoTimestamp in an empty segment.
	firstTimestamp int64
	createdMs      int64

	live *liveIndex // nil once sealed
	max  TimeEntry  // once sealed: the largest timestamp

	sealing *sealing // not nil from the roll, or the close, until sealed
	sealed  bool     // companions are durable
}

// liveIndex is what a segment that is not sealed keeps of its indexes. What is counted at assign
// decides over rolls, what is collected at written is read and reaches the files.
type liveIndex struct {
	index, timeIndex env.FileID
	opened           bool // the files exist under these ids; else FileOpen precedes the first write

	// Counted at assign.
	lastEntryAt   int64 // position of the last batch with an entry
	entryCount    int
	timeCount     int
	assignedMax   TimeEntry // running maximum
	lastTimeEntry int64     // timestamp of the last time entry

	// Collected at written.
	max           TimeEntry  // running maximum
	entries       []batchRef // the newest of the offset index
	entriesBefore int        // entries that precede these, and lie in the file
	entriesSaved  int        // entries for which a write was emitted
	times         []TimeEntry
	timesBefore   int
	timesSaved    int
}

// batchRef says where a batch lies. It takes 32 bytes, for which the lists of them are bounded.
type batchRef struct {
	base, last kafka.Offset
	position   int64
	bytes      int32
}

func (b batchRef) end() int64 { return b.position + int64(b.bytes) }

func newLiveIndex(h *Handles, base kafka.Offset) *liveIndex {
	none := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base}
	return &liveIndex{
		index:         h.NextFile(),
		timeIndex:     h.NextFile(),
		assignedMax:   none,
		max:           none,
		lastTimeEntry: kafka.NoTimestamp,
	}
}

// indexed is what an append decides about a batch's index entries.
type indexed struct {
	entry bool // the batch gets an entry in the offset index
	time  bool // and one in the time index
	max   TimeEntry
}

// assign applies Kafka's rule (LogSegment.append): if the bytes since the last entry exceed
// index.interval.bytes, the batch gets both entries; then its size is counted. A time entry needs
// a timestamp above the last entry's.
func (x *liveIndex) assign(ref batchRef, maxTimestamp int64, interval int32) indexed {
	if maxTimestamp > x.assignedMax.Timestamp {
		x.assignedMax = TimeEntry{maxTimestamp, ref.last}
	}
	in := indexed{max: x.assignedMax}
	if ref.position-x.lastEntryAt <= int64(interval) {
		return in
	}
	in.entry = true
	x.lastEntryAt = ref.position
	x.entryCount++
	if x.assignedMax.Timestamp > x.lastTimeEntry {
		in.time = true
		x.lastTimeEntry = x.assignedMax.Timestamp
		x.timeCount++
	}
	return in
}

// keptEntries bounds the entries that stay in memory once they are in the file.
const keptEntries = 1024

// confirm collects the entries of a batch that is written.
func (x *liveIndex) confirm(ref batchRef, in indexed) {
	x.max = in.max
	if in.entry {
		x.entries = append(x.entries, ref)
	}
	if in.time {
		x.times = append(x.times, in.max)
	}
}

// forget drops entries from memory that were written long ago. The slices are not changed in
// place: jobs may hold a part of them.
func (x *liveIndex) forget() {
	if n := x.entriesSaved - x.entriesBefore - keptEntries; n >= keptEntries {
		x.entries = append(make([]batchRef, 0, 2*keptEntries+64), x.entries[n:]...)
		x.entriesBefore += n
	}
	if n := x.timesSaved - x.timesBefore - keptEntries; n >= keptEntries {
		x.times = append(make([]TimeEntry, 0, 2*keptEntries+64), x.times[n:]...)
		x.timesBefore += n
	}
}

// unsaved returns how many entries of the offset index were not emitted yet.
func (x *liveIndex) unsaved() int { return x.entriesBefore + len(x.entries) - x.entriesSaved }

// Suffixes of the files of a segment or snapshot.
const (
	logSuffix       = ".log"
	indexSuffix     = ".index"
	timeIndexSuffix = ".timeindex"
	txnIndexSuffix  = ".txnindex"
	snapshotSuffix  = ".snapshot"
	sequencesSuffix = ".sequences"
)

// FileName gives the name of a file of a segment or snapshot: 20 digits and the suffix.
func FileName(offset kafka.Offset, suffix string) string {
	return fmt.Sprintf("%020d%s", int64(offset), suffix)
}

// maxTimestamp returns the largest timestamp that is written.
func (s *segment) maxTimestamp() TimeEntry {
	if s.live != nil {
		return s.live.max
	}
	return s.max
}
