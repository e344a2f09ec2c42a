package crashpoints

import (
	"slices"

	"stet/core/invariant"
	"stet/sim"
)

// submitted is a call of the disk in the window.
type submitted struct {
	sim.DiskOp
	others int // calls with an effect that were in flight when it was submitted
}

// window counts the disk operations of a part of a run and strikes one of them. It is the
// sim.DiskFaults of its machine from the beginning.
type window struct {
	scheduler *sim.Scheduler
	disk      *sim.Disk
	open      bool
	ops       []submitted

	target int // the operation to strike, or -1
	moment moment
	strike func() // the process dies

	calls  int // submitted since the world began
	flight []flying
	struck bool
	ahead  int    // calls with an effect in flight at the strike, submitted before the target
	missed string // why the strike did not hit its moment
}

// flying is a call in flight.
type flying struct {
	call  int // the how-manieth of the world
	units int64
	done  sim.Time
}

// Decide implements sim.DiskFaults.
func (w *window) Decide(op sim.DiskOp) sim.DiskFault {
	w.land()
	w.calls++
	s := submitted{op, w.withEffect(w.calls)}
	took := takes(op.Kind)
	hit := w.open && len(w.ops) == w.target
	if w.open {
		w.ops = append(w.ops, s)
	}
	fault := sim.DiskFault{}
	if hit && w.moment.when == held {
		fault = sim.DiskFault{Kind: sim.DiskSlow, Delay: holdBack}
		took += holdBack
	}
	w.flight = append(w.flight, flying{w.calls, units(op), w.scheduler.Now() + took})
	if hit {
		w.aim(took)
	}
	return fault
}

// land forgets the calls that have completed. Of those that complete at this very time, the first
// have, and the disk knows how many.
func (w *window) land() {
	now := w.scheduler.Now()
	w.flight = slices.DeleteFunc(w.flight, func(f flying) bool { return f.done < now })
	excess := len(w.flight) - w.disk.InFlight()
	w.flight = slices.DeleteFunc(w.flight, func(f flying) bool {
		gone := excess > 0 && f.done == now
		if gone {
			excess--
		}
		return gone
	})
	invariant.Always(excess == 0, "a call takes the time that it is said to take")
}

// withEffect counts the calls in flight that have an effect and were submitted before a call.
func (w *window) withEffect(before int) (n int) {
	for _, f := range w.flight {
		if f.units > 0 && f.call < before {
			n++
		}
	}
	return n
}

// aim schedules the death for its moment. The event of a strike at the last instant was pushed
// before the call's own, so it comes before it at the same time.
func (w *window) aim(took sim.Time) {
	call := w.calls
	switch w.moment.when {
	case early:
		w.at(0, func() { w.die(call) })
	case held:
		w.at(holdBack, func() { w.die(call) })
	case late:
		w.at(took, func() { w.die(call) })
	case after:
		var before int
		w.at(took, func() { before = w.completed() })
		w.at(took+1, func() {
			if w.completed() <= before {
				w.missed = "the call had not completed"
			}
			w.die(0)
		})
	}
}

// die strikes while a call is in flight, or with 0 once the target has completed.
func (w *window) die(during int) {
	w.land()
	if during > 0 {
		w.ahead = w.withEffect(during)
		if !slices.ContainsFunc(w.flight, func(f flying) bool { return f.call == during }) {
			w.missed = "the call was not in flight"
		}
	}
	w.struck = true
	w.strike()
}

func (w *window) at(delay sim.Time, f func()) {
	w.scheduler.After(delay, 0, sim.KindCrash, f)
}

// completed counts the calls that have had their effect.
func (w *window) completed() int { return w.calls - w.disk.InFlight() }

// remnants is the tape that says what a death leaves of the calls in flight, in the order of their
// submission: of so many before the target, of the target, and nothing of any later one.
func remnants(op *submitted, m moment, ahead int) []int64 {
	var values []int64
	for i := range ahead {
		done := none
		if m.others>>i&1 == 1 {
			done = whole
		}
		values = append(values, done.of(manyBytes))
	}
	values = append(values, m.own.of(units(op.DiskOp)))
	return append(values, make([]int64, manyCalls-ahead)...)
}

// manyBytes is more than a write has; the tape is clamped to what is possible. manyCalls is more than
// are ever in flight.
const (
	manyBytes = 1 << 40
	manyCalls = 100
)
