package tamper

import (
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

func lost(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if ok {
		e.remove(s.partition, s.value, false)
	}
	return ok
}

func lostTail(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if !ok {
		return false
	}
	e.views(s.partition, false, func(records []lin.Observed) []lin.Observed {
		return slices.DeleteFunc(records, func(r lin.Observed) bool { return r.Offset >= s.offset })
	})
	for i := range e.history.Dumps {
		if d := &e.history.Dumps[i]; d.Partition == s.partition {
			d.HighWatermark, d.LogEnd = s.offset, s.offset
		}
	}
	return true
}

func unseen(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if !ok {
		return false
	}
	for i := range e.history.Polls {
		if poll := &e.history.Polls[i]; poll.Final {
			poll.Records = slices.DeleteFunc(poll.Records, func(r lin.Observed) bool {
				return r.Value == s.value
			})
		}
	}
	return true
}

// excuseWithdrawn takes away every excuse of a partition that lost an acknowledged record.
func excuseWithdrawn(e *editor) bool {
	excuse, ok := pick(e.random, e.history.Excuses, func(x lin.Excuse) bool {
		return e.gone(x.Partition, func(offset kafka.Offset, invoke lin.Step) bool {
			return x.Step >= invoke && x.From <= offset && !e.deleted(x.Partition, offset)
		})
	})
	e.history.Excuses = slices.DeleteFunc(e.history.Excuses, func(x lin.Excuse) bool {
		return x.Partition == excuse.Partition
	})
	return ok
}

// deletionWithdrawn takes away every deletion of a partition that deleted an acknowledged record.
func deletionWithdrawn(e *editor) bool {
	deletion, ok := pick(e.random, e.history.Deletions, func(d lin.Deletion) bool {
		return e.gone(d.Partition, func(offset kafka.Offset, _ lin.Step) bool {
			excused := slices.ContainsFunc(e.history.Excuses, func(x lin.Excuse) bool {
				return x.Partition == d.Partition && x.From <= offset
			})
			return offset < d.LogStart && !excused
		})
	})
	e.history.Deletions = slices.DeleteFunc(e.history.Deletions, func(d lin.Deletion) bool {
		return d.Partition == deletion.Partition
	})
	return ok
}

func (e *editor) deleted(p lin.Partition, offset kafka.Offset) bool {
	return slices.ContainsFunc(e.history.Deletions, func(d lin.Deletion) bool {
		return d.Partition == p && offset < d.LogStart
	})
}

// gone says whether an acknowledged record that fits is not in the final log where it was.
func (e *editor) gone(p lin.Partition, fits func(kafka.Offset, lin.Step) bool) bool {
	for i := range e.history.Sends {
		s := &e.history.Sends[i]
		outcome, base := s.Outcome()
		if s.Partition != p || outcome != lin.Ok || base < 0 || s.Acks != -1 || mayDuplicate(s) {
			continue
		}
		for k, value := range s.Records {
			at := standing{i, k, p, base + kafka.Offset(k), value}
			if !e.inLog(at) && fits(at.offset, s.Invoke) {
				return true
			}
		}
	}
	return false
}

func duplicated(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if ok {
		e.appendToLog(s.partition, s.value)
	}
	return ok
}

// moved takes a record from its place for everybody but the sender.
func moved(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if ok {
		e.remove(s.partition, s.value, true)
		e.appendToLog(s.partition, s.value)
	}
	return ok
}

func movedAfterRead(e *editor) bool {
	s, ok := e.pickStanding(func(s standing) bool {
		return slices.ContainsFunc(e.history.Polls, func(p lin.Poll) bool {
			return !p.Final && p.Return != 0 && p.Partition == s.partition &&
				slices.ContainsFunc(p.Records, func(r lin.Observed) bool {
					return r.Value == s.value
				})
		})
	})
	if ok {
		e.remove(s.partition, s.value, false)
		e.appendToLog(s.partition, s.value)
	}
	return ok
}

func movedAcross(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if !ok {
		return false
	}
	other, ok := pick(e.random, e.history.Dumps, func(d lin.Dump) bool {
		return d.Partition != s.partition
	})
	if ok {
		e.remove(s.partition, s.value, true)
		e.appendToLog(other.Partition, s.value)
	}
	return ok
}

func garbage(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if ok {
		e.replace(s.partition, map[lin.Value]lin.Value{s.value: e.fabricated(s.value)}, false)
	}
	return ok
}

// fabricated is a value that nobody sent: nothing of it, or a real one with another nonce.
func (e *editor) fabricated(like lin.Value) lin.Value {
	if e.random.IntN(2) == 0 {
		return lin.ParseValue([]byte("not a value"))
	}
	like.Nonce ^= 1 + e.random.Uint64N(1<<63)
	return like
}

// failedVisible turns the answer of a record that stands into a refusal.
func failedVisible(e *editor) bool {
	s, ok := e.pickStanding(nil)
	if !ok {
		return false
	}
	send := &e.history.Sends[s.send]
	send.Attempts = []lin.Attempt{{
		Ending: lin.Answered, Code: kafka.NotEnoughReplicas, BaseOffset: kafka.NoOffset,
	}}
	return true
}
