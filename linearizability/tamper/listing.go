package tamper

import (
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// pickList picks an answered query for a timestamp and gives a pointer to it.
func (e *editor) pickList(fits func(*lin.ListOffsets) bool) (*lin.ListOffsets, bool) {
	var all []*lin.ListOffsets
	for i := range e.history.Lists {
		all = append(all, &e.history.Lists[i])
	}
	return pick(e.random, all, func(l *lin.ListOffsets) bool {
		return l.Return != 0 && l.Code == kafka.None && !l.Deposed && fits(l)
	})
}

// before finds a record that stood for certain when the query was invoked.
func (e *editor) before(l *lin.ListOffsets, fits func(standing) bool) (standing, bool) {
	return e.pickStanding(func(s standing) bool {
		return s.partition == l.Partition && e.history.Sends[s.send].Return < l.Invoke && fits(s)
	})
}

func anyStanding(standing) bool { return true }

func latestTooLow(e *editor) bool {
	l, ok := e.pickList(func(l *lin.ListOffsets) bool {
		_, ok := e.before(l, anyStanding)
		return ok && l.Timestamp == kafka.LatestTimestamp && l.Isolation == lin.ReadUncommitted
	})
	if ok {
		s, _ := e.before(l, anyStanding)
		l.Offset = s.offset
	}
	return ok
}

func latestTooHigh(e *editor) bool {
	l, ok := e.pickList(func(l *lin.ListOffsets) bool {
		return l.Timestamp == kafka.LatestTimestamp && l.Ghost != nil
	})
	if ok {
		l.Offset = l.Ghost.HighWatermark + 1 + kafka.Offset(e.random.Int64N(3))
	}
	return ok
}

func earliestTooHigh(e *editor) bool {
	l, ok := e.pickList(func(l *lin.ListOffsets) bool {
		return l.Timestamp == kafka.EarliestTimestamp
	})
	if ok {
		start := l.Offset
		if l.Ghost != nil {
			start = max(start, l.Ghost.LogStart)
		}
		l.Offset = start + 1
	}
	return ok
}

// whole says whether the final log of the query's partition is all that there ever was.
func (e *editor) whole(l *lin.ListOffsets) bool {
	return !slices.ContainsFunc(e.history.Excuses, func(x lin.Excuse) bool {
		return x.Partition == l.Partition
	})
}

// stamped finds a record that stood when the query was invoked and is as new as it asks.
func (e *editor) stamped(l *lin.ListOffsets) (standing, bool) {
	return e.before(l, func(s standing) bool { return e.stampOf(s) >= l.Timestamp })
}

func (e *editor) stampOf(s standing) int64 {
	for _, d := range e.history.Dumps {
		for _, r := range d.Records {
			if d.Partition == s.partition && r.Offset == s.offset {
				return r.Timestamp
			}
		}
	}
	return kafka.NoTimestamp
}

// timeTooLate answers with a later record that is new enough, instead of the first one.
func timeTooLate(e *editor) bool {
	later := func(l *lin.ListOffsets) (standing, bool) {
		return e.before(l, func(s standing) bool {
			_, first := e.standingAt(l.Partition, l.Offset)
			return first && s.offset > l.Offset && e.stampOf(s) >= l.Timestamp
		})
	}
	l, ok := e.pickList(func(l *lin.ListOffsets) bool {
		if l.Timestamp < 0 || l.Offset < 0 || !e.whole(l) {
			return false
		}
		_, ok := later(l)
		return ok
	})
	if ok {
		s, _ := later(l)
		l.Offset, l.AnswerStamp = s.offset, e.stampOf(s)
	}
	return ok
}

func timeNone(e *editor) bool {
	l, ok := e.pickList(func(l *lin.ListOffsets) bool {
		if l.Timestamp < 0 || !e.whole(l) {
			return false
		}
		_, ok := e.stamped(l)
		return ok
	})
	if ok {
		l.Offset, l.AnswerStamp = kafka.NoOffset, kafka.NoTimestamp
	}
	return ok
}
