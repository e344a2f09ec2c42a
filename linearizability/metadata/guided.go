package metadata

import (
	"cmp"
	"slices"

	"stet/linearizability"
)

// guided judges a resource along the order of the log, which is the only one in which its changes
// can have taken place. Complete, and O(n log n) but for the search of a fitting state.
//
// Changes: none may have returned before one with a lower place was called. The others: each has to
// find a place between changes at which the state is what it saw, not before a change or another
// operation that had returned when it was called, and before every change that was called after it
// had returned. In the order of their returns each takes the first place that fits, which leaves the
// most to those that come after.
func (j *judge) guided(r *resolved) {
	states := []state{initial(r.resource)}
	latest := Step(0) // call of the changes so far
	for i, o := range r.changing {
		s := states[i]
		if !s.allows(o) {
			j.fails("%s: can not take place at %s, in the state %+v", o, r.changes[i], s)
		}
		if end(o) < latest {
			j.fails("%s: had returned before one was called that the log has below %s", o, r.changes[i])
		}
		latest = max(latest, o.Call)
		states = append(states, s.after(o))
	}
	j.count("changes", int64(len(r.changing)))
	j.count("observations", int64(len(r.others)))
	slices.SortStableFunc(r.others, func(a, b *Operation) int { return cmp.Compare(end(a), end(b)) })
	places := make([]int, 0, len(r.others))
	for i, o := range r.others {
		low, high := 0, len(r.changing)
		for at, c := range r.changing {
			if end(c) < o.Call {
				low = at + 1
			}
			if c.Call > end(o) {
				high = min(high, at)
			}
		}
		for k, before := range r.others[:i] {
			if end(before) < o.Call {
				low = max(low, places[k])
			}
		}
		at := low
		for at <= high && !states[at].allows(o) {
			at++
		}
		if at > high {
			j.fails("%s: the log has no such state between place %d and place %d of %d", o, low, high,
				len(r.changing))
			at = low
		}
		places = append(places, at)
	}
}

// end is when an operation had to have taken place. If it is resolved, one of unknown outcome had when
// the log was known to have it: nobody who asks later may be told what was before.
func end(o *Operation) Step {
	if o.Return == 0 {
		return linearizability.Never
	}
	return o.Return
}
