package metadata

import "stet/core/kafka"

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
	changes, waiting := map[Resource][]*Change{}, map[Resource][]*Operation{}
	find := func(r Resource) *resolved {
		if of[r] == nil {
			of[r] = &resolved{resource: r}
			all = append(all, of[r])
		}
		return of[r]
	}
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
		find(c.Resource)
		changes[c.Resource] = append(changes[c.Resource], c)
	}
	for _, r := range all {
		j.attribute(r, changes[r.resource], waiting[r.resource])
	}
	return all
}

// attribute gives the changes of a resource their authors.
func (j *judge) attribute(r *resolved, changes []*Change, asked []*Operation) {
	m := newMatching(changes, asked)
	for i, c := range changes {
		if m.author[i] < 0 {
			j.fails("%s: nobody asked for it, or it was done before", c)
			continue
		}
		o := *asked[m.author[i]]
		j.count("resolved."+o.Outcome.String(), 1)
		if !effective(&o) {
			j.fails("%s: it was refused, and %s", &o, c)
			continue
		}
		if o.Kind == Create && o.Outcome == OK && o.ID != c.ID {
			j.fails("%s: the answer has another id than %s", &o, c)
		}
		if o.Outcome == Unknown {
			o.Return = c.Step
		}
		o.ID = c.ID
		r.changing, r.changes = append(r.changing, &o), append(r.changes, c)
	}
	for i, o := range asked {
		if o.Outcome == OK && m.change[i] < 0 {
			j.fails("%s: it was acknowledged, and the log does not have it", o)
		}
	}
}

// mayHaveMade says whether a change may be an operation's. What a change carries tells it apart, but for
// deletions and growth, which several may ask for.
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
