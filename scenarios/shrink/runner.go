package shrink

import (
	"context"
	"fmt"

	"stet/scenarios"
	"stet/scenarios/campaign"
)

// InProcess runs schedules in this process, which can run only one at a time.
type InProcess struct{}

// Run implements Runner.
func (InProcess) Run(ctx context.Context, t Trial) (*scenarios.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scenario, _ := scenarios.Find(t.Schedule.Scenario)
	if scenario == nil {
		return nil, fmt.Errorf("scenario: %q: no such scenario", t.Schedule.Scenario)
	}
	return scenarios.Run(scenario, t.Schedule.Seed, scenarios.Options{
		Schedule: t.Schedule, Until: t.Until, MaxEvents: t.MaxEvents,
	}), nil
}

// Worker runs schedules in a process of its own.
type Worker struct{ campaign.Runner }

// Run implements Runner.
func (w *Worker) Run(ctx context.Context, t Trial) (*scenarios.Result, error) {
	return w.Runner.Run(ctx, campaign.Job{
		Scenario: t.Schedule.Scenario, Seed: t.Schedule.Seed, Schedule: t.Schedule.String(),
		Until: t.Until, MaxEvents: t.MaxEvents,
	})
}
