package metadata

import (
	"github.com/anishathalye/porcupine"
)

// porcupineSteps is for each resource: how often Porcupine may ask the model. What it comes to must not
// hang on how fast a machine is, so time is no bound.
const porcupineSteps = 500_000

// porcupine asks Porcupine whether a resource's operations have an order that respects real time and
// what was answered. It is told what became of the unknown ones and in which order they took place, and
// within a piece nothing else of the log. A search that does not end within so many steps is counted as "undecided"; guided has judged the
// resource all the same, and is complete.
func (j *judge) porcupine(r *resolved, steps int) {
	for _, p := range r.pieces() {
		j.count("porcupine", int64(len(p.operations)))
		j.count("pieces", 1)
		legal, taken := p.search(steps)
		steps -= taken
		switch {
		case legal:
		case steps > 0:
			j.fails("%s: Porcupine says %s of the %d operations from step %d to step %d", r.resource,
				porcupine.Illegal, len(p.operations), p.operations[0].begins, p.last)
		default:
			j.count("undecided", 1)
			return
		}
	}
}

// search says whether a piece is linearizable, and how many steps it took to find out: all of them, if it
// is not known.
func (p *piece) search(steps int) (legal bool, taken int) {
	model := porcupine.Model{
		Init: func() any { return p.before },
		Step: func(in, input, _ any) (bool, any) {
			if taken == steps {
				return false, in // from here on the search does nothing but to go back
			}
			taken++
			now := in.(moment)
			o, ok := input.(bounded)
			if !ok {
				return now == input.(moment), now
			}
			if !now.allows(o.Operation) || o.unknown > 0 && o.unknown != now.unknown+1 {
				return false, now
			}
			return true, moment{now.after(o.Operation), max(now.unknown, o.unknown)}
		},
		Equal: func(a, b any) bool { return a == b },
	}
	var ops []porcupine.Operation
	add := func(input any, call, ret Step) {
		ops = append(ops, porcupine.Operation{
			ClientId: len(ops), Input: input, Call: int64(call), Return: int64(ret),
		})
	}
	for _, o := range p.operations {
		add(o, o.begins, o.ends)
	}
	add(p.after, p.last+1, p.last+1)
	return porcupine.CheckOperations(model, ops), taken
}
