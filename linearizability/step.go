package linearizability

import "math"

// Step is virtual time: the number of an event in the total order of a run, from 1. It is never a
// wall clock. A recorder that gives each invocation and each return a step of its own makes the
// checks sharpest, because operations that share a step count as concurrent.
type Step int64

// Never is later than every step. It stands for the return of an operation that did not return.
const Never Step = math.MaxInt64

// orNever gives the end of an operation's interval: an operation without a return step is open
// for ever.
func orNever(s Step) Step {
	if s == 0 {
		return Never
	}
	return s
}
