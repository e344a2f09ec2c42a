package commitlog

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"stet/core/invariant"
	"stet/core/kafka"
)

// EpochEntry says that Epoch begins at Start.
type EpochEntry struct {
	Epoch kafka.LeaderEpoch
	Start kafka.Offset
}

// epochCache is the list of leader epochs in the log. Both fields increase strictly.
type epochCache []EpochEntry

// assign records that epoch begins at start. Entries that would not precede it are dropped
// (LeaderEpochFileCache.assign; kafka-map rule 4). A known epoch keeps its earlier start.
func (c *epochCache) assign(epoch kafka.LeaderEpoch, start kafka.Offset) {
	if epoch < 0 {
		return
	}
	if last, ok := c.last(); ok && last.Epoch == epoch && last.Start <= start {
		return
	}
	keep := len(*c)
	for keep > 0 && ((*c)[keep-1].Epoch >= epoch || (*c)[keep-1].Start >= start) {
		keep--
	}
	*c = append((*c)[:keep], EpochEntry{epoch, start})
}

func (c epochCache) last() (EpochEntry, bool) {
	if len(c) == 0 {
		return EpochEntry{}, false
	}
	return c[len(c)-1], true
}

func (c epochCache) latest() kafka.LeaderEpoch {
	if last, ok := c.last(); ok {
		return last.Epoch
	}
	return kafka.NoLeaderEpoch
}

// endOffsetFor finds the largest epoch <= epoch and its end: the start of the next one, or end
// (LeaderEpochFileCache.endOffsetFor; rule 2).
func (c epochCache) endOffsetFor(epoch kafka.LeaderEpoch,
	end kafka.Offset,
) (kafka.LeaderEpoch, kafka.Offset) {
	if epoch < 0 || len(c) == 0 || epoch > c.latest() {
		return kafka.NoLeaderEpoch, kafka.NoOffset
	}
	if epoch == c.latest() {
		return epoch, end
	}
	higher := sort.Search(len(c), func(i int) bool { return c[i].Epoch > epoch })
	if higher == 0 {
		// Before the first known epoch: what it wrote, if anything, ends where the first begins.
		return epoch, c[0].Start
	}
	return c[higher-1].Epoch, c[higher].Start
}

// at finds the epoch of the record at offset.
func (c epochCache) at(offset kafka.Offset) kafka.LeaderEpoch {
	after := sort.Search(len(c), func(i int) bool { return c[i].Start > offset })
	if after == 0 {
		return kafka.NoLeaderEpoch
	}
	return c[after-1].Epoch
}

// truncateFromEnd drops epochs that begin at end or later.
func (c *epochCache) truncateFromEnd(end kafka.Offset) {
	keep := sort.Search(len(*c), func(i int) bool { return (*c)[i].Start >= end })
	*c = (*c)[:keep]
}

const epochCheckpointName = "leader-epoch-checkpoint"

// AppendEpochCheckpoint encodes a leader-epoch-checkpoint file.
func AppendEpochCheckpoint(dst []byte, entries []EpochEntry) []byte {
	dst = fmt.Appendf(dst, "0\n%d\n", len(entries))
	for _, e := range entries {
		dst = fmt.Appendf(dst, "%d %d\n", e.Epoch, e.Start)
	}
	return dst
}

// DecodeEpochCheckpoint decodes a leader-epoch-checkpoint file. Entries must increase.
func DecodeEpochCheckpoint(b []byte) ([]EpochEntry, error) {
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	entries := make([]EpochEntry, 0, len(lines))
	for _, line := range lines {
		epochText, startText, ok := strings.Cut(line, " ")
		epoch, err1 := strconv.ParseInt(epochText, 10, 32)
		start, err2 := strconv.ParseInt(startText, 10, 64)
		if !ok || err1 != nil || err2 != nil || epoch < 0 || start < 0 {
			return nil, fmt.Errorf("line %q: want an epoch and an offset", line)
		}
		e := EpochEntry{kafka.LeaderEpoch(epoch), kafka.Offset(start)}
		if n := len(entries); n > 0 && (e.Epoch <= entries[n-1].Epoch || e.Start < entries[n-1].Start) {
			return nil, fmt.Errorf("line %q: not after epoch %d at %d",
				line, entries[n-1].Epoch, entries[n-1].Start)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// checkEpochs asserts the form of the cache.
func (c epochCache) check() {
	for i := 1; i < len(c); i++ {
		invariant.Always(c[i-1].Epoch < c[i].Epoch, "leader epochs increase")
		invariant.Always(c[i-1].Start <= c[i].Start, "starts of leader epochs do not decrease")
	}
}
