package shrink

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"stet/scenarios"
	"stet/scenarios/campaign"
	"stet/scenarios/schedule"
)

// Shrink is one schedule that fails, on its way to a small one.
type Shrink struct {
	// Runners run candidates, each one at a time. There is at least one.
	Runners []Runner
	// Budget bounds the wall time; 0 is no bound.
	Budget time.Duration
	// Progress, if set, is told what was achieved.
	Progress func(string)

	start  time.Time
	ctx    context.Context
	prober *prober
	best   *schedule.Schedule
	result *scenarios.Result // of best
}

// Report is what came of it.
type Report struct {
	Before, After *schedule.Schedule // before and after; the header of After is that of Before
	// Check is what both fail, scenarios.Passed if Before does not fail.
	Check scenarios.Check
	Runs  int // of candidates
	Wall  time.Duration
	// Minimal says that nothing any pass can do is left, and not that the time was up.
	Minimal bool
	// Result is that of the last run of After, once it is sealed.
	Result *scenarios.Result
}

// Seal runs After as it is, to its end, and writes into its header what came of it.
func (r *Report) Seal(ctx context.Context, runner Runner) error {
	result, err := runner.Run(ctx, Trial{Schedule: r.After})
	if err != nil {
		return err
	}
	if result.Check != r.Check {
		return fmt.Errorf("the small schedule failed %s, and then %q: runs differ", r.Check, result.Check)
	}
	sealed := r.After.Clone()
	here := scenarios.Provenance()
	sealed.Commit, sealed.Toolchain = here.Commit, here.Toolchain
	sealed.Hash, sealed.Fails = result.Hash, string(result.Check)
	r.After, r.Result = sealed, result
	return nil
}

// Run makes s small. Its error is that of an environment, or of ctx; without a budget left it
// returns what it has.
func (k *Shrink) Run(ctx context.Context, s *schedule.Schedule) (*Report, error) {
	k.start = time.Now()
	first, err := k.Runners[0].Run(ctx, Trial{Schedule: s, Until: scenarios.Check(s.Fails)})
	if err != nil {
		return nil, err
	}
	report := &Report{Before: s, After: s, Check: first.Check}
	if first.Check == scenarios.Passed {
		return report, nil
	}
	k.prober = &prober{
		runners: k.Runners, limits: k.limits(first), fails: sameFailure(first), known: map[[sha256.Size]byte]*scenarios.Result{},
	}
	k.best, k.result = s, first
	var cancel context.CancelFunc
	k.ctx, cancel = context.WithCancel(ctx)
	if k.Budget > 0 {
		k.ctx, cancel = context.WithDeadline(ctx, k.start.Add(k.Budget))
	}
	defer cancel()
	report.Minimal, err = k.passes()
	if err == nil {
		err = ctx.Err()
	}
	report.After, report.Runs, report.Wall = k.best, k.prober.runs, time.Since(k.start)
	return report, err
}

// sameFailure says whether a result fails as first does: the same check is the one it is reported
// with; a panic has to come from the same place as well.
func sameFailure(first *scenarios.Result) func(*scenarios.Result) bool {
	if first.Check != scenarios.Panic {
		return func(r *scenarios.Result) bool { return r.Check == first.Check }
	}
	signature := campaign.Signature(first)
	return func(r *scenarios.Result) bool {
		return r.Check == first.Check && campaign.Signature(r) == signature
	}
}

// passes makes all passes until a whole round changes nothing, and says whether it came to that.
func (k *Shrink) passes() (bool, error) {
	for round := 0; ; round++ {
		before := k.best
		for _, p := range passes() {
			if err := k.pass(p, round == 0); err != nil {
				return false, err
			}
		}
		if k.ctx.Err() != nil {
			return false, nil
		}
		if k.best == before && round > 0 {
			return true, nil
		}
	}
}

// Bounds of the events of a candidate, by those of the schedule that is to be shrunk.
const (
	eventFactor = 3
	eventFloor  = 50_000
)

// limits says when a candidate has gone on for long enough. What can not be told from a run that is
// cut short is not cut short: liveness.
func (k *Shrink) limits(first *scenarios.Result) Trial {
	if first.Check.ExitCode() != scenarios.ExitSafety {
		return Trial{}
	}
	return Trial{Until: first.Check, MaxEvents: eventFactor*uint64(first.Events) + eventFloor}
}

// coarse is into how many chunks at most a pass divides its edits in the first round, in which
// everything that is large is to go.
const coarse = 16

// pass makes one pass, and then leaves out the faults that never came.
func (k *Shrink) pass(p pass, first bool) error {
	before, start := k.best, time.Now()
	var err error
	if p.edits != nil {
		edits := p.edits(k.best)
		smallest := 1
		if first {
			smallest = max(1, len(edits)/coarse)
		}
		err = k.some(edits, smallest)
	} else {
		for changed := true; changed && err == nil; {
			changed, err = k.one(p.choices(k.best))
		}
	}
	if err == nil && len(k.result.Missed) > 0 {
		_, err = k.one([]edit{withoutMissed(k.result.Missed)})
	}
	if k.best != before {
		k.say(p.name, start)
	}
	return err
}

// some makes as many of the edits as can be made.
func (k *Shrink) some(edits []edit, smallest int) error {
	base, result := k.best, k.result
	var failure error
	applied := minimise(len(edits), smallest, func(n int, candidate func(int) []int) int {
		i, r, err := k.prober.first(k.ctx, n, func(i int) *schedule.Schedule {
			return edited(base, edits, candidate(i))
		})
		if failure = err; err != nil {
			return n
		}
		if i < n {
			result = r
		}
		return i
	})
	if len(applied) > 0 {
		k.best, k.result = edited(base, edits, applied), result
	}
	return failure
}

// one makes the first of the edits that can be made alone, and says whether there was one.
func (k *Shrink) one(edits []edit) (bool, error) {
	base := k.best
	i, r, err := k.prober.first(k.ctx, len(edits), func(i int) *schedule.Schedule {
		return edited(base, edits, []int{i})
	})
	if err != nil || i == len(edits) {
		return false, err
	}
	k.best, k.result = edited(base, edits, []int{i}), r
	return true, nil
}

// withoutMissed leaves out faults that have had no effect, by their lines of text.
func withoutMissed(missed []string) edit {
	return func(s *schedule.Schedule) {
		for _, line := range missed {
			i := slices.IndexFunc(s.Faults, func(f schedule.Fault) bool { return f.String() == line })
			if i >= 0 {
				s.Faults = slices.Delete(s.Faults, i, i+1)
			}
		}
	}
}

func (k *Shrink) say(pass string, start time.Time) {
	if k.Progress != nil {
		k.Progress(fmt.Sprintf("%5.1fs %-20s faults=%d ops=%d partitions=%d tapes=%d runs=%d last=%.1fs",
			time.Since(k.start).Seconds(), pass, len(k.best.Faults), k.best.OperationCount(),
			k.best.Topic.Partitions, len(k.best.Tapes), k.prober.runs, time.Since(start).Seconds()))
	}
}
