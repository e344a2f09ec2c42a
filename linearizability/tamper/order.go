package tamper

import (
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// pair is two standing appends of one partition with equally many records, the first at the lower
// offset.
type pair struct{ first, second int }

// pickPair picks two appends that stand whole and fit.
func (e *editor) pickPair(fits func(a, b *lin.Send) bool) (pair, bool) {
	var whole []standing
	for _, s := range e.standing {
		last := kafka.Offset(len(e.history.Sends[s.send].Records) - 1)
		end, ok := e.standingAt(s.partition, s.offset+last)
		if s.record == 0 && ok && end.send == s.send {
			whole = append(whole, s)
		}
	}
	var pairs []pair
	for _, a := range whole {
		for _, b := range whole {
			sendA, sendB := &e.history.Sends[a.send], &e.history.Sends[b.send]
			if a.partition == b.partition && a.offset < b.offset &&
				len(sendA.Records) == len(sendB.Records) && fits(sendA, sendB) {
				pairs = append(pairs, pair{a.send, b.send})
			}
		}
	}
	return pick(e.random, pairs, nil)
}

// exchange makes everybody see two appends in each other's place, their senders too.
func (e *editor) exchange(p pair) {
	a, b := &e.history.Sends[p.first], &e.history.Sends[p.second]
	by := map[lin.Value]lin.Value{}
	for k := range a.Records {
		by[a.Records[k]], by[b.Records[k]] = b.Records[k], a.Records[k]
	}
	e.replace(a.Partition, by, true)
	_, baseA := a.Outcome()
	_, baseB := b.Outcome()
	a.Attempts[len(a.Attempts)-1].BaseOffset = baseB
	b.Attempts[len(b.Attempts)-1].BaseOffset = baseA
}

func swapped(e *editor) bool {
	p, ok := e.pickPair(func(a, b *lin.Send) bool { return a.Return < b.Invoke })
	if ok {
		e.exchange(p)
	}
	return ok
}

func swappedInSession(e *editor) bool {
	p, ok := e.pickPair(func(a, b *lin.Send) bool {
		return a.Client == b.Client && a.Session == b.Session && a.Invoke < b.Invoke
	})
	if ok {
		e.exchange(p)
	}
	return ok
}

func swappedInLog(e *editor) bool {
	follower := func(s standing) (standing, bool) {
		next, ok := e.standingAt(s.partition, s.offset+1)
		return next, ok && next.send == s.send
	}
	s, ok := e.pickStanding(func(s standing) bool {
		_, ok := follower(s)
		return ok
	})
	if !ok {
		return false
	}
	next, _ := follower(s)
	e.replace(s.partition, map[lin.Value]lin.Value{s.value: next.value, next.value: s.value}, false)
	return true
}

// staleAcknowledgement answers a send with the place of another.
func staleAcknowledgement(e *editor) bool {
	s, ok := e.pickStanding(func(s standing) bool { return s.record == 0 })
	if !ok {
		return false
	}
	other, ok := e.pickStanding(func(o standing) bool {
		return o.partition == s.partition && o.send != s.send
	})
	if !ok {
		return false
	}
	attempts := e.history.Sends[s.send].Attempts
	attempts[len(attempts)-1].BaseOffset = other.offset
	return true
}

// shown is a standing record in a poll.
type shown struct {
	poll, at int
	record   standing
}

// pickShown picks a standing record that a poll shows.
func (e *editor) pickShown(fits func(shown) bool) (shown, bool) {
	var all []shown
	for i := range e.history.Polls {
		poll := &e.history.Polls[i]
		for k, r := range poll.Records {
			if s, ok := e.standingAt(poll.Partition, r.Offset); ok && s.value == r.Value {
				all = append(all, shown{i, k, s})
			}
		}
	}
	return pick(e.random, all, fits)
}

func garbageInPoll(e *editor) bool {
	s, ok := e.pickShown(nil)
	if ok {
		record := &e.history.Polls[s.poll].Records[s.at]
		record.Value = e.fabricated(record.Value)
	}
	return ok
}

// readAhead lowers what is committed to the last record that a poll shows.
func readAhead(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool { return e.history.Polls[s.poll].Ghost != nil })
	if !ok {
		return false
	}
	poll := &e.history.Polls[s.poll]
	end := poll.Records[len(poll.Records)-1].Offset
	poll.HighWatermark, poll.LastStableOffset = end, end
	poll.Ghost.HighWatermark, poll.Ghost.LastStableOffset = end, end
	return true
}

// readBeforeSend moves a poll to the time before a record that it shows was sent.
func readBeforeSend(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool {
		return e.history.Sends[s.record.send].Invoke > 1
	})
	if !ok {
		return false
	}
	poll := &e.history.Polls[s.poll]
	poll.Return = e.history.Sends[s.record.send].Invoke - 1
	poll.Invoke = min(poll.Invoke, poll.Return)
	return true
}

func pollSkips(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool {
		return s.at > 0 && s.at < len(e.history.Polls[s.poll].Records)-1
	})
	if ok {
		poll := &e.history.Polls[s.poll]
		poll.Records = slices.Delete(poll.Records, s.at, s.at+1)
	}
	return ok
}

// pollSkipsBetween takes the first record out of a poll and moves its position past it.
func pollSkipsBetween(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool {
		poll := &e.history.Polls[s.poll]
		return s.at == 0 && len(poll.Records) > 1 && e.continues(s.poll)
	})
	if ok {
		poll := &e.history.Polls[s.poll]
		poll.Position = poll.Records[0].Offset + 1
		poll.Records = poll.Records[1:]
	}
	return ok
}

// continues says whether the poll follows one of its assignment that showed records, with no loss
// at all in its partition.
func (e *editor) continues(index int) bool {
	poll := &e.history.Polls[index]
	lossy := slices.ContainsFunc(e.history.Excuses, func(x lin.Excuse) bool {
		return x.Partition == poll.Partition
	})
	return !lossy && slices.ContainsFunc(e.history.Polls, func(o lin.Poll) bool {
		return o.Client == poll.Client && o.Partition == poll.Partition &&
			o.Assignment == poll.Assignment && o.Final == poll.Final && o.Return != 0 &&
			o.Invoke < poll.Invoke && len(o.Records) > 0
	})
}

func pollRepeats(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool { return s.at > 0 })
	if ok {
		records := e.history.Polls[s.poll].Records
		records[s.at-1], records[s.at] = records[s.at], records[s.at-1]
	}
	return ok
}

func batchCorrupt(e *editor) bool {
	s, ok := e.pickShown(func(s shown) bool { return e.history.Polls[s.poll].Batches != nil })
	if ok {
		batches := e.history.Polls[s.poll].Batches
		batches[e.random.IntN(len(batches))].Corrupt = true
	}
	return ok
}
