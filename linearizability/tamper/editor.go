package tamper

import (
	"math/rand/v2"
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// editor changes a copy of a history.
type editor struct {
	history  *lin.History
	random   *rand.Rand
	standing []standing
}

// standing is an acknowledged record under promise that stands where it was acknowledged, at an
// offset that no loss ever touched: damage to it can have no excuse.
type standing struct {
	send, record int
	partition    lin.Partition
	offset       kafka.Offset
	value        lin.Value
}

func newEditor(h *lin.History, random *rand.Rand) *editor {
	e := &editor{history: clone(h), random: random}
	for i := range e.history.Sends {
		s := &e.history.Sends[i]
		outcome, base := s.Outcome()
		if outcome != lin.Ok || base < 0 || s.Acks != -1 || mayDuplicate(s) {
			continue
		}
		for k, value := range s.Records {
			found := standing{i, k, s.Partition, base + kafka.Offset(k), value}
			if e.inLog(found) && !e.touched(found.partition, found.offset) {
				e.standing = append(e.standing, found)
			}
		}
	}
	return e
}

func mayDuplicate(s *lin.Send) bool { return !s.Idempotent && len(s.Attempts) != 1 }

func (e *editor) inLog(s standing) bool {
	for _, d := range e.history.Dumps {
		if d.Leader && d.Partition == s.partition {
			return slices.ContainsFunc(d.Records, func(r lin.Observed) bool {
				return r.Offset == s.offset && r.Value == s.value
			})
		}
	}
	return false
}

// touched says whether a loss or a deletion ever concerned the offset.
func (e *editor) touched(p lin.Partition, offset kafka.Offset) bool {
	for _, x := range e.history.Excuses {
		if x.Partition == p && x.From <= offset && (x.To < 0 || offset < x.To) {
			return true
		}
	}
	for _, d := range e.history.Deletions {
		if d.Partition == p && offset < d.LogStart {
			return true
		}
	}
	return false
}

// pick takes a random element that fits.
func pick[T any](random *rand.Rand, from []T, fits func(T) bool) (T, bool) {
	var candidates []T
	for _, c := range from {
		if fits == nil || fits(c) {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 0 {
		var none T
		return none, false
	}
	return candidates[random.IntN(len(candidates))], true
}

func (e *editor) pickStanding(fits func(standing) bool) (standing, bool) {
	return pick(e.random, e.standing, fits)
}

// standingAt finds a standing record by its place.
func (e *editor) standingAt(p lin.Partition, offset kafka.Offset) (standing, bool) {
	at := slices.IndexFunc(e.standing, func(s standing) bool {
		return s.partition == p && s.offset == offset
	})
	if at < 0 {
		return standing{}, false
	}
	return e.standing[at], true
}

// views calls edit on every list of records of a partition: those of the dumps, the final polls,
// and, when asked for, of all other polls.
func (e *editor) views(p lin.Partition, all bool, edit func([]lin.Observed) []lin.Observed) {
	for i := range e.history.Dumps {
		if d := &e.history.Dumps[i]; d.Partition == p {
			d.Records = edit(d.Records)
		}
	}
	for i := range e.history.Polls {
		if poll := &e.history.Polls[i]; poll.Partition == p && (poll.Final || all) {
			poll.Records = edit(poll.Records)
		}
	}
}

// remove takes a value out of the log and what it serves at the end, or of everything ever seen.
func (e *editor) remove(p lin.Partition, value lin.Value, all bool) {
	e.views(p, all, func(records []lin.Observed) []lin.Observed {
		return slices.DeleteFunc(records, func(r lin.Observed) bool { return r.Value == value })
	})
}

// replace renames values in the log and what it serves at the end, or in everything ever seen.
func (e *editor) replace(p lin.Partition, by map[lin.Value]lin.Value, all bool) {
	e.views(p, all, func(records []lin.Observed) []lin.Observed {
		for i := range records {
			if other, ok := by[records[i].Value]; ok {
				records[i].Value = other
			}
		}
		return records
	})
}

// appendToLog puts a record at the end of every replica's log.
func (e *editor) appendToLog(p lin.Partition, value lin.Value) {
	for i := range e.history.Dumps {
		d := &e.history.Dumps[i]
		if d.Partition != p {
			continue
		}
		d.Records = append(d.Records, lin.Observed{Offset: d.LogEnd, Value: value, Timestamp: 1})
		d.LogEnd++
		d.HighWatermark = d.LogEnd
	}
}

func clone(h *lin.History) *lin.History {
	c := *h
	c.Partitions = slices.Clone(h.Partitions)
	c.Sends = slices.Clone(h.Sends)
	for i := range c.Sends {
		c.Sends[i].Records = slices.Clone(c.Sends[i].Records)
		c.Sends[i].Attempts = slices.Clone(c.Sends[i].Attempts)
	}
	c.Polls = slices.Clone(h.Polls)
	for i := range c.Polls {
		c.Polls[i].Records = slices.Clone(c.Polls[i].Records)
		c.Polls[i].Batches = slices.Clone(c.Polls[i].Batches)
		if g := c.Polls[i].Ghost; g != nil {
			copied := *g
			c.Polls[i].Ghost = &copied
		}
	}
	c.Lists = slices.Clone(h.Lists)
	c.Dumps = slices.Clone(h.Dumps)
	for i := range c.Dumps {
		c.Dumps[i].Records = slices.Clone(c.Dumps[i].Records)
	}
	c.Excuses, c.Deletions = slices.Clone(h.Excuses), slices.Clone(h.Deletions)
	return &c
}
