package metadata

import (
	"time"

	"github.com/anishathalye/porcupine"

	"stet/linearizability"
)

// porcupine asks Porcupine whether a resource's operations have an order that respects real time and
// what was answered. It is told what became of the unknown ones, and not the order of the log.
//
// An operation of unknown outcome that the log has took place before whatever the log has above it, so
// it may as well have returned when the first of those did: otherwise it would be concurrent with all
// that comes after (etcd's uniqueOperationReturnTime). Running out of time is a violation.
func (j *judge) porcupine(r *resolved, timeout time.Duration) {
	model := porcupine.Model{
		Init: func() any { return initial(r.resource) },
		Step: func(in, input, _ any) (bool, any) {
			s, o := in.(state), input.(*Operation)
			return s.allows(o), s.after(o)
		},
		Equal: func(a, b any) bool { return a == b },
	}
	var ops []porcupine.Operation
	add := func(o *Operation, ret Step) {
		ops = append(ops, porcupine.Operation{
			ClientId: len(ops), Input: o, Call: int64(o.Call), Return: int64(max(ret, o.Call)),
		})
	}
	earliest := linearizability.Never
	for i := len(r.changing) - 1; i >= 0; i-- {
		o := r.changing[i]
		earliest = min(earliest, end(o))
		if o.Outcome == Unknown {
			add(o, earliest)
		} else {
			add(o, o.Return)
		}
	}
	for _, o := range r.others {
		add(o, end(o))
	}
	j.count("porcupine", int64(len(ops)))
	if result := porcupine.CheckOperationsTimeout(model, ops, timeout); result != porcupine.Ok {
		j.fails("%s: Porcupine says %s of %d operations", r.resource, result, len(ops))
	}
}
