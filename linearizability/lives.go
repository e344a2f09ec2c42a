package linearizability

import (
	"slices"

	"stet/core/kafka"
)

// lives tells the lives of a partition's offsets apart. A fault that the promise does not cover
// may take the end of a log; what is appended next gets the same offsets again. Life n of an
// offset ends with the n-th excuse that covers it. In a history without excuses every offset has
// one life, and all of this is free.
type lives struct {
	excuses []Excuse // by step
}

func (l *lives) add(e Excuse) {
	at := len(l.excuses)
	for at > 0 && l.excuses[at-1].Step > e.Step {
		at--
	}
	l.excuses = slices.Insert(l.excuses, at, e)
}

// span gives the lives [first, last] of the offset that an observation within [from, to] may
// have seen. There is more than one when a loss falls into the interval.
func (l *lives) span(offset kafka.Offset, from, to Step) (first, last int) {
	for _, e := range l.excuses {
		if !e.covers(offset) {
			continue
		}
		if e.Step < from {
			first++
		}
		if e.Step <= to {
			last++
		}
	}
	return first, last
}

// excuse finds the first excuse for the loss of a record at the offset that was invoked at from.
// A loss before the record existed is no excuse for it.
func (l *lives) excuse(offset kafka.Offset, from Step) (Excuse, bool) {
	for _, e := range l.excuses {
		if e.Step >= from && e.covers(offset) {
			return e, true
		}
	}
	return Excuse{}, false
}

// clamp lowers a log end that was seen within [from, to] to what was surely still there after the
// losses of that interval.
func (l *lives) clamp(end kafka.Offset, from, to Step) kafka.Offset {
	for _, e := range l.excuses {
		if from <= e.Step && e.Step <= to {
			end = min(end, e.From)
		}
	}
	return end
}
