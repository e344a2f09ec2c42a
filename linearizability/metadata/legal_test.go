package metadata

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"stet/core/kafka"
)

// legal makes a history of a few clients that work on the same topics at the same time, which is
// linearizable: each operation takes place at a moment between its call and its return. Some answers
// are lost, and of those some operations take place long after the client has given up.
type legal struct {
	random *rand.Rand
	states map[Resource]state
	step   Step
	marks  int
	h      *History
}

// pending is an operation whose moment is to come.
type pending struct {
	op   int // its place in the history
	at   Step
	lost bool
}

func legalHistory(random *rand.Rand, operations int) *History {
	l := &legal{random: random, states: map[Resource]state{}, h: &History{}}
	var waiting []pending
	busy := map[int]Step{} // until when, by client
	for len(l.h.Operations) < operations || len(waiting) > 0 {
		l.step++
		for i := 0; i < len(waiting); i++ {
			if p := waiting[i]; p.at <= l.step {
				waiting = slices.Delete(waiting, i, i+1)
				i--
				l.takePlace(&l.h.Operations[p.op], p.lost)
			}
		}
		client := random.IntN(5)
		if busy[client] > l.step || len(l.h.Operations) >= operations {
			continue
		}
		moment := l.step + 1 + Step(random.IntN(6))
		end := moment + 1 + Step(random.IntN(6))
		busy[client] = end + 1
		o := l.draw(client)
		o.Call, o.Return = l.step, end
		p := pending{op: len(l.h.Operations), at: moment}
		if random.IntN(6) == 0 {
			o.Outcome, o.Return, p.lost = Unknown, 0, true
			p.at += Step(random.IntN(60))
			if random.IntN(3) == 0 {
				p.at = 1 << 40
			}
		}
		l.h.Operations = append(l.h.Operations, *o)
		if p.at < 1<<40 {
			waiting = append(waiting, p)
		}
	}
	return l.h
}

func (l *legal) draw(client int) *Operation {
	l.marks++
	o := &Operation{Client: client, Resource: Resource{Topic, fmt.Sprintf("t%d", l.random.IntN(3))}}
	if l.random.IntN(6) == 0 {
		o.Resource = Resource{"broker", "1"}
		o.Kind, o.Key = []Kind{Set, Read}[l.random.IntN(2)], "k"
	} else {
		o.Kind = Kind(1 + l.random.IntN(int(Read)))
	}
	switch o.Kind {
	case Create:
		o.Partitions, o.Key, o.Value = int32(1+l.random.IntN(4)), "mark", fmt.Sprint(l.marks)
	case Delete:
		if s := l.state(o.Resource); s.exists && l.random.IntN(2) == 0 {
			o.ID = s.id
		}
	case Grow:
		o.Partitions = int32(2 + l.random.IntN(6))
	case Set:
		o.Key, o.Value = "k", fmt.Sprint(l.marks)
	case Read:
		o.Key = "k"
	}
	return o
}

func (l *legal) state(r Resource) state {
	if _, ok := l.states[r]; !ok {
		l.states[r] = initial(r)
	}
	return l.states[r]
}

// takePlace decides the answer of an operation, and its effect.
func (l *legal) takePlace(o *Operation, lost bool) {
	s := l.state(o.Resource)
	as := *o
	as.Outcome = OK
	switch {
	case as.Kind == Create:
		as.ID = kafka.TopicID{0: byte(l.marks), 1: byte(l.marks >> 8), 2: byte(len(l.h.Changes)), 15: 1}
	case as.Kind == Read:
		as.Value = s.setting(as.Key)
	}
	if s.allows(&as) {
		if as.Kind.Changes() {
			id := as.ID
			if as.Kind == Delete {
				id = s.id
			}
			l.states[o.Resource] = s.after(&as)
			l.h.Changes = append(l.h.Changes, Change{
				Index: int64(len(l.h.Changes)), Step: l.step, Kind: as.Kind, Resource: as.Resource, ID: id,
				Partitions: as.Partitions, Key: as.Key, Value: as.Value,
			})
		}
	} else {
		as = *o
		switch {
		case !s.exists, o.Kind == Delete:
			as.Outcome = Missing
		case o.Kind == Grow:
			as.Outcome = Small
		default:
			as.Outcome = Exists
		}
	}
	if !lost {
		*o = as
	}
}
