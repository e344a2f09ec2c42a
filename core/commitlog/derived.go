package commitlog

import (
	"fmt"

	"stet/core/kafka"
)

// DerivedState is what a log keeps in memory that its files also say, at one end. That of a live
// log equals that of a recovery of its files up to the same end (check R12), but for producers
// that have expired in one of them.
type DerivedState struct {
	LogStart, End kafka.Offset
	Segments      []SegmentState
	Epochs        []EpochEntry
	Producers     []ProducerEntry // by id
	MaxTimestamp  TimeEntry       // of the last segment that is not empty
}

// SegmentState describes a segment.
type SegmentState struct {
	Base, End kafka.Offset
	Bytes     int64
}

// DerivedState returns the confirmed state: that at Written. Epochs that begin there or later are
// left out, because a log without records of an epoch does not show it.
func (l *Log) DerivedState() DerivedState {
	d := DerivedState{
		LogStart:  l.logStart,
		End:       l.written,
		Epochs:    epochsBelow(l.epochs, l.written),
		Producers: l.producers.entries(),
	}
	for _, s := range l.segments {
		if s.writtenBytes == 0 && len(d.Segments) > 0 {
			break // nothing of it is written, so a recovery may not find it
		}
		d.Segments = append(d.Segments, SegmentState{s.base, s.writtenEnd, s.writtenBytes})
		d.MaxTimestamp = s.maxTimestamp()
	}
	return d
}

// DerivedState returns the state that the recovery derived.
func (r *Recovered) DerivedState() DerivedState {
	d := DerivedState{
		LogStart:  r.LogStart,
		End:       r.End,
		Epochs:    epochsBelow(r.epochs, r.End),
		Producers: r.producers.entries(),
	}
	for i, s := range r.segments {
		if s.bytes == 0 && i > 0 {
			break
		}
		d.Segments = append(d.Segments, SegmentState{s.base, s.end, s.bytes})
		d.MaxTimestamp = s.max
	}
	return d
}

func epochsBelow(c epochCache, end kafka.Offset) []EpochEntry {
	below := append(epochCache(nil), c...)
	below.truncateFromEnd(end)
	return below
}

// Canonical gives the state as text that is equal for equal states, for hashes and comparisons.
func (d DerivedState) Canonical() string { return fmt.Sprintf("%+v", d) }
