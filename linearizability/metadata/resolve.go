package metadata

import (
	"slices"

	"stet/core/kafka"
)

// resolved are the operations of one resource of which it is known what became of them.
type resolved struct {
	resource Resource
	// changing are those that took effect, in the order of the log, each with its change.
	changing []*Operation
	changes  []*Change
	// others have seen something and changed nothing.
	others []*Operation
}

// resolve divides a history by resources, gives every change of the log the operation that made it,
// and drops the operations of unknown outcome that the log does not have.
func (j *judge) resolve(h *History) (all []*resolved) {
	of := map[Resource]*resolved{}
	find := func(r Resource) *resolved {
		if of[r] == nil {
			of[r] = &resolved{resource: r}
			all = append(all, of[r])
		}
		return of[r]
	}
	waiting := map[Resource][]*Operation{} // that may have changed something
	for i := range h.Operations {
		o := &h.Operations[i]
		r := find(o.Resource)
		if o.Kind.Changes() {
			waiting[o.Resource] = append(waiting[o.Resource], o)
		}
		if !effective(o) && o.Outcome != Unknown {
			r.others = append(r.others, o)
		}
	}
	for i := range h.Changes {
		c := &h.Changes[i]
		r := find(c.Resource)
		at := j.author(c, waiting[c.Resource])
		if at < 0 {
			j.fails("%s: nobody asked for it, or it was done before", c)
			continue
		}
		o := *waiting[c.Resource][at]
		waiting[c.Resource] = slices.Delete(waiting[c.Resource], at, at+1)
		j.count("resolved."+o.Outcome.String(), 1)
		if !effective(&o) {
			j.fails("%s: it was refused, and %s", &o, c)
			continue
		}
		if o.Kind == Create && o.Outcome == OK && o.ID != c.ID {
			j.fails("%s: the answer has another id than %s", &o, c)
		}
		o.ID = c.ID
		r.changing, r.changes = append(r.changing, &o), append(r.changes, c)
	}
	for _, r := range all {
		for _, o := range waiting[r.resource] {
			if o.Outcome == OK {
				j.fails("%s: it was acknowledged, and the log does not have it", o)
			}
		}
	}
	return all
}

// author finds the operation that made a change, -1 for none. What a change carries tells it apart,
// but for deletions and growth, which several may ask for: then it is one that was acknowledged, or
// else the first that may have been under way.
func (j *judge) author(c *Change, waiting []*Operation) int {
	best := -1
	for i, o := range waiting {
		if !o.mayHaveMade(c) {
			continue
		}
		if best < 0 || preference(o) < preference(waiting[best]) {
			best = i
		}
	}
	return best
}

// preference orders the operations that may have made a change.
func preference(o *Operation) int {
	switch o.Outcome {
	case OK:
		return 0
	case Unknown:
		return 1
	}
	return 2
}

func (o *Operation) mayHaveMade(c *Change) bool {
	if o.Kind != c.Kind {
		return false
	}
	switch o.Kind {
	case Create, Set:
		return o.Key == c.Key && o.Value == c.Value
	case Delete:
		if (o.ID != kafka.TopicID{}) && o.ID != c.ID {
			return false
		}
	case Grow:
		if o.Partitions != c.Partitions {
			return false
		}
	}
	// Many may have asked for it, so the time must fit, and refusals are no answer to this one.
	inTime := c.Step == 0 || o.Call <= c.Step && (o.Outcome != OK || c.Step <= o.Return)
	return inTime && (o.Outcome == OK || o.Outcome == Unknown)
}
