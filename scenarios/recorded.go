package scenarios

import (
	"runtime"

	"stet/scenarios/schedule"
)

// Provenance is what this binary writes into the header of a schedule about itself.
func Provenance() schedule.Header {
	return schedule.Header{Commit: commit(), Toolchain: runtime.Version() + " " + runtime.GOARCH}
}

// recorded is the schedule of what happened in a run: that of its plan, with the faults that came
// and the decisions of the world. Run again, it happens again.
func (r *stage) recorded(plan *schedule.Schedule, out *Result) *schedule.Schedule {
	s := plan.Clone()
	s.Header = Provenance()
	s.Scenario, s.Seed, s.Hash, s.Fails = r.scenario.Name, r.seed, out.Hash, string(out.Check)
	s.Faults = append([]schedule.Fault(nil), r.saboteur.done...)
	s.Tapes = r.world.Entropy.Tapes()
	return s
}
