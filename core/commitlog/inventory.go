package commitlog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
)

// inventory sorts the files of a replica's directory.
type inventory struct {
	segments    []foundSegment // by base offset
	snapshots   []kafka.Offset // ascending
	sidecars    []kafka.Offset // ascending
	stray       []string       // of no use to anyone: unfinished writes, indexes without a log
	unfinished  []string       // of an interrupted compaction of Kafka's, which only Kafka completes
	interrupted bool           // a recovery began to repair and did not finish
}

// foundSegment is a segment file and what recovery learns of it.
type foundSegment struct {
	base                   kafka.Offset
	fileBytes              int64 // as found
	hasIndex, hasTimeIndex bool

	end            kafka.Offset
	bytes          int64 // valid ones
	firstTimestamp int64
	index          indexSummary
	rebuilt        *rebuiltIndexes // not nil: the index files have to be rewritten
	scanned        bool
}

// indexSummary is what a live index knows of its files.
type indexSummary struct {
	entryCount  int
	lastEntryAt int64
	timeCount   int
	lastTime    int64 // timestamp of the last time entry, or kafka.NoTimestamp
	max         TimeEntry
}

// rebuiltIndexes are the contents of the index files of one segment.
type rebuiltIndexes struct{ index, timeIndex []byte }

// liveIndex continues the index files where recovery left them.
func (s indexSummary) liveIndex(h *Handles, base kafka.Offset) *liveIndex {
	x := newLiveIndex(h, base)
	x.lastEntryAt, x.entryCount, x.timeCount = s.lastEntryAt, s.entryCount, s.timeCount
	x.entriesBefore, x.entriesSaved = s.entryCount, s.entryCount
	x.timesBefore, x.timesSaved = s.timeCount, s.timeCount
	x.lastTimeEntry = s.lastTime
	x.assignedMax, x.max = s.max, s.max
	return x
}

// recoveryMarkName is a file that exists while a recovery repairs, so that one that was
// interrupted can be told.
const recoveryMarkName = "recovery" + temporarySuffix

func takeInventory(entries []env.DirEntry) inventory {
	var v inventory
	byBase := map[kafka.Offset]int{}
	for _, e := range entries {
		if offset, suffix, ok := splitName(e.Name); ok && suffix == logSuffix {
			byBase[offset] = len(v.segments)
			v.segments = append(v.segments, foundSegment{base: offset, fileBytes: e.Size})
		}
	}
	for _, e := range entries {
		v.add(e, byBase)
	}
	slices.SortFunc(v.segments, func(a, b foundSegment) int { return cmp.Compare(a.base, b.base) })
	slices.Sort(v.snapshots)
	slices.Sort(v.sidecars)
	return v
}

func (v *inventory) add(e env.DirEntry, byBase map[kafka.Offset]int) {
	if e.Dir {
		return
	}
	if strings.HasSuffix(e.Name, ".swap") {
		v.unfinished = append(v.unfinished, e.Name)
		return
	}
	if isLeftover(e.Name) {
		v.interrupted = v.interrupted || e.Name == recoveryMarkName
		v.stray = append(v.stray, e.Name)
		return
	}
	offset, suffix, ok := splitName(e.Name)
	if !ok {
		return
	}
	i, hasLog := byBase[offset]
	switch suffix {
	case snapshotSuffix:
		v.snapshots = append(v.snapshots, offset)
	case sequencesSuffix:
		v.sidecars = append(v.sidecars, offset)
	case indexSuffix, timeIndexSuffix, txnIndexSuffix:
		if !hasLog {
			v.stray = append(v.stray, e.Name)
			return
		}
		v.segments[i].hasIndex = v.segments[i].hasIndex || suffix == indexSuffix
		v.segments[i].hasTimeIndex = v.segments[i].hasTimeIndex || suffix == timeIndexSuffix
	}
}

// isLeftover says whether a file is the trace of a write, compaction or deletion that a crash has
// ended before it counted.
func isLeftover(name string) bool {
	return strings.HasSuffix(name, temporarySuffix) || strings.HasSuffix(name, ".cleaned") ||
		strings.HasSuffix(name, ".deleted")
}

// splitName takes the name of a segment's or snapshot's file apart.
func splitName(name string) (kafka.Offset, string, bool) {
	if len(name) < 21 || name[20] != '.' {
		return 0, "", false
	}
	offset, err := strconv.ParseUint(name[:20], 10, 63)
	return kafka.Offset(offset), name[20:], err == nil
}
