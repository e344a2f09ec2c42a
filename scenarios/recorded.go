package scenarios

import (
	"runtime"

	"stet/scenarios/schedule"
)

// recorded is the schedule of what happened in a run: that of its plan, with the faults that came
// and the decisions of the world. Run again, it happens again.
func (r *run) recorded(out *Result) *schedule.Schedule {
	s := r.plan.Schedule.Clone()
	s.Header = schedule.Header{
		Scenario: r.scenario.Name, Seed: r.seed, Commit: commit(),
		Toolchain: runtime.Version() + " " + runtime.GOARCH, Hash: out.Hash, Fails: string(out.Check),
	}
	s.Faults = append([]schedule.Fault(nil), r.saboteur.done...)
	s.Tapes = r.world.Entropy.Tapes()
	return s
}
