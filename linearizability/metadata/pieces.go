package metadata

import (
	"cmp"
	"slices"

	"stet/core/kafka"
	"stet/linearizability"
)

// piece is a part of the history of a resource, between two moments at which nothing is under way. What
// the state is at such a moment the log says.
type piece struct {
	operations    []bounded // in the order in which they begin
	before, after moment
	last          Step // when the last of them had taken place
}

// moment is the state between two operations, and how many of unknown outcome have taken place by then.
type moment struct {
	state
	unknown int
}

// bounded is an operation that took place not before one step and not after another.
type bounded struct {
	*Operation
	begins, ends Step
	unknown      int // its place in the log among those of unknown outcome, from 1; 0 if it is none of them
}

// pieces cuts what Porcupine is asked about. Its search is exponential in what is under way at the same
// time, so all is left out that can not make a difference, and every interval is as short as is known.
func (r *resolved) pieces() (all []*piece) {
	ops := slices.Concat(r.bounded(), r.telling())
	slices.SortStableFunc(ops, func(a, b bounded) int { return cmp.Compare(a.begins, b.begins) })
	now := moment{state: initial(r.resource)}
	changed := 0
	for len(ops) > 0 {
		n, last := 1, ops[0].ends
		for n < len(ops) && ops[n].begins <= last {
			last = max(last, ops[n].ends)
			n++
		}
		p := &piece{operations: ops[:n], before: now, last: last}
		for _, o := range p.operations {
			if effective(o.Operation) {
				now.state = now.state.after(r.changing[changed])
				now.unknown = max(now.unknown, o.unknown)
				changed++
			}
		}
		p.after = now
		all, ops = append(all, p), ops[n:]
	}
	return all
}

// bounded gives the changes their bounds. One of unknown outcome that the log has took place after
// whatever the log has below it and before whatever it has above. So it may as well have been called with
// the last of those, and have returned with the first of these: otherwise it would be concurrent with all
// that comes between (etcd's uniqueOperationReturnTime).
func (r *resolved) bounded() []bounded {
	out := make([]bounded, len(r.changing))
	latest, earliest, unknown := Step(0), r.over(), 0
	for i, o := range r.changing {
		latest = max(latest, o.Call)
		out[i] = bounded{o, o.Call, o.Return, 0}
		if o.Outcome == Unknown {
			unknown++
			out[i].begins, out[i].unknown = latest, unknown
		}
	}
	for i, o := range slices.Backward(r.changing) {
		earliest = min(earliest, end(o))
		if o.Outcome == Unknown {
			out[i].ends = max(out[i].begins, earliest)
		}
	}
	return out
}

// over is when everything had been called and answered.
func (r *resolved) over() (last Step) {
	for _, o := range slices.Concat(r.changing, r.others) {
		last = max(last, o.Call)
		if end(o) != linearizability.Never {
			last = max(last, end(o))
		}
	}
	return last
}

// telling are those that changed nothing, but for a refusal, which says nothing of the state, and for
// one that lasted while another saw the same: where that has its place, it has its own.
func (r *resolved) telling() (out []bounded) {
	for i, o := range r.others {
		if o.Outcome != Refused && !r.implied(i) {
			out = append(out, bounded{o, o.Call, end(o), 0})
		}
	}
	return out
}

// implied says whether another has seen the same while one lasted. Of two that are alike it is the later.
func (r *resolved) implied(i int) bool {
	o := r.others[i]
	for k, by := range r.others {
		within := o.Call <= by.Call && end(by) <= end(o)
		alike := o.Call == by.Call && end(by) == end(o)
		if within && (!alike || k < i) && by.saw() == o.saw() {
			return true
		}
	}
	return false
}

// sight is what an operation that changed nothing says of the state: two with the same are allowed by
// the same states.
type sight struct {
	outcome    Outcome // OK: that a setting has a value
	id         kafka.TopicID
	partitions int32
	key, value string
}

func (o *Operation) saw() sight {
	switch {
	case o.Outcome == Missing && o.Kind == Delete:
		return sight{outcome: Missing, id: o.ID}
	case o.Outcome == Small:
		return sight{outcome: Small, partitions: o.Partitions}
	case o.Kind == Read && o.Outcome == OK:
		return sight{outcome: OK, key: o.Key, value: o.Value}
	case o.Outcome == OK: // a creation would have done
		return sight{outcome: Missing}
	}
	return sight{outcome: o.Outcome}
}
