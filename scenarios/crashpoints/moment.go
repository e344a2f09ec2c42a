package crashpoints

import (
	"fmt"

	"stet/sim"
)

// moment is when, in the life of one disk call, the process dies, and what that leaves of the calls
// in flight. The zero values of what is left mean: no effect.
type moment struct {
	name   string
	when   timing
	own    share // what is left of the call itself
	others mask  // which calls in flight, of those submitted before it, have their effect
}

// mask chooses among the calls in flight, bit 0 the first that was submitted.
type mask uint64

// all chooses every call in flight.
const all mask = 1<<64 - 1

// timing is the part of a call's life in which the process dies.
type timing uint8

const (
	early timing = iota // as soon as the call is submitted
	held                // the call is held back, and everything that does not wait for it goes on
	late                // at the last instant before the caller hears
	after               // once the caller has heard, and before anything else
)

// share is how much of a call's effect a death leaves.
type share uint8

const (
	none share = iota
	half       // of a write's bytes
	most       // of a write's bytes all but one
	whole
)

// of turns a share into a number of units: bytes of a write, 1 for what is all or nothing.
func (s share) of(units int64) int64 {
	switch s {
	case half:
		return units / 2
	case most:
		return units - 1
	case whole:
		return units
	}
	return 0
}

// holdBack is how long a call is held back: longer than any other call of the disk, and an answer
// on the network, takes.
const holdBack = 20 * sim.Millisecond

// momentsOf lists the moments at which a call is struck. The calls in flight beside it have had no
// effect, or all of them, or one of them alone.
func momentsOf(op *submitted) []moment {
	m := []moment{{name: "on submission"}}
	if op.others > 0 {
		m = append(m, moment{name: "on submission, all others done", others: all})
	}
	for i := 0; i < op.others && op.others > 1; i++ {
		m = append(m, moment{name: fmt.Sprintf("on submission, only other %d done", i), others: 1 << i})
	}
	if op.Kind == sim.DiskWrite && op.Len > 1 {
		m = append(m, moment{"half done, all others done", early, half, all})
		m = append(m, moment{"all but a byte done", late, most, 0})
	}
	if units(op.DiskOp) > 0 {
		m = append(m, moment{"done, unheard", late, whole, 0})
		if op.others > 0 {
			m = append(m, moment{"done, all others done, unheard", early, whole, all})
		}
	}
	return append(m, briefMoments...)
}

// briefMoments are those that matter most, with and without the call's effect.
var briefMoments = []moment{{name: "held back", when: held}, {name: "just after", when: after}}

// units is how many units of effect a call has; 0 for one that only looks.
func units(op sim.DiskOp) int64 {
	switch op.Kind {
	case sim.DiskOpen, sim.DiskRead, sim.DiskList:
		return 0
	case sim.DiskWrite:
		return op.Len
	}
	return 1
}

// takes is how long a call takes that no fault delays, in a world whose delays are steady.
func takes(kind sim.DiskOpKind) sim.Time {
	p := sim.DefaultDiskProfile()
	of := p.Meta
	switch kind {
	case sim.DiskRead:
		of = p.Read
	case sim.DiskWrite:
		of = p.Write
	case sim.DiskSync, sim.DiskSyncDir:
		of = p.Sync
	}
	return of.Low + (of.High-of.Low)/2
}

// String names the call as faults do.
func (s *submitted) String() string {
	return fmt.Sprintf("%s %d of %s", s.Kind, s.Ordinal, s.Path.Name)
}
