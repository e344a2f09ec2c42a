package campaign

import (
	"context"
	"errors"
	"sync"
	"time"

	"stet/scenarios"
)

// Campaign runs seeds of scenarios in worker processes.
type Campaign struct {
	Name      string // of several scenarios together; "" is "all"
	Scenarios []string
	Seeds     Seeds
	Shard     Shard // the zero Shard is all
	Jobs      int   // worker processes, at least one
	Calm      bool  // without faults
	// Worker is the command that serves Work on its stdin and stdout.
	Worker []string
	// Timeout bounds the wall time of a run; 0 is two minutes.
	Timeout time.Duration
	// Budget bounds the wall time of the campaign: when it is over, runs that have begun end, and no
	// others begin. 0 is no bound.
	Budget time.Duration
	// State, if set, has the runs that are done, and is told of each that ends.
	State *State

	// Ended, if set, is told of each run that ends, also of those that State has, and of the sums so
	// far. All calls to what is set here are serial.
	Ended func(*Summary, *scenarios.Result)
	// Failed, if set, is told of each failed run, after Ended. First says that its class is new.
	Failed func(r *scenarios.Result, first bool)
	// OnClass, if set, is told at the end of each class of failures, by its smallest seed. It may
	// take its time, and fill in Class.Notes.
	OnClass func(*Class)
}

// Run runs the campaign to its end, until its budget is spent, or until ctx ends. A run that the
// end of ctx cuts short is not counted. The error is that of an environment: workers that do not
// start, a state that cannot be written.
func (c *Campaign) Run(ctx context.Context) (*Summary, error) {
	r := &running{Campaign: c, summary: newSummary(c)}
	start := time.Now()
	if err := r.takeOver(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan Job)
	go r.feed(ctx, jobs)
	var wait sync.WaitGroup
	for range max(1, c.Jobs) {
		wait.Go(func() {
			if err := r.work(ctx, jobs); err != nil {
				cancel(err) // the other workers would only run into the same
			}
		})
	}
	wait.Wait()
	r.summary.Wall = time.Since(start)
	r.summary.finish(c.OnClass)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return r.summary, err
	}
	return r.summary, nil
}

// running is a campaign under way.
type running struct {
	*Campaign
	mu      sync.Mutex
	summary *Summary
}

// takeOver counts the runs that the state has.
func (r *running) takeOver() error {
	if r.State == nil {
		return nil
	}
	return r.State.each(func(result *scenarios.Result) {
		if r.wants(result.Scenario, result.Seed) {
			r.count(result)
			r.summary.Resumed++
		}
	})
}

// wants says whether a run is one of the campaign's.
func (r *running) wants(scenario string, seed uint64) bool {
	for _, name := range r.Scenarios {
		if name == scenario {
			return r.Seeds.has(seed) && r.Shard.has(seed)
		}
	}
	return false
}

// feed hands out the jobs, seed by seed, so that a campaign that is stopped has been fair to all
// scenarios.
func (r *running) feed(ctx context.Context, jobs chan<- Job) {
	defer close(jobs)
	var over <-chan time.Time
	if r.Budget > 0 {
		timer := time.NewTimer(r.Budget)
		defer timer.Stop()
		over = timer.C
	}
	for seed := range r.Shard.seeds(r.Seeds) {
		for _, name := range r.Scenarios {
			if r.State != nil && r.State.has(name, seed) {
				continue
			}
			select { // the end goes before the next job
			case <-over:
				return
			default:
			}
			select {
			case jobs <- Job{Scenario: name, Seed: seed, Calm: r.Calm}:
			case <-over:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// work serves jobs with one worker process after another: one that dies takes its run along.
func (r *running) work(ctx context.Context, jobs <-chan Job) error {
	runner := Runner{Command: r.Worker, Timeout: r.Timeout}
	defer runner.Close()
	for job := range jobs {
		result, err := runner.Run(ctx, job)
		if err == nil {
			err = r.ended(result)
		}
		if err != nil && ctx.Err() != nil {
			return nil // cut short
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ended counts a run, once the state has it.
func (r *running) ended(result *scenarios.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.State != nil {
		if err := r.State.add(result); err != nil {
			return err
		}
	}
	r.count(result)
	return nil
}

func (r *running) count(result *scenarios.Result) {
	first := r.summary.add(result)
	if r.Ended != nil {
		r.Ended(r.summary, result)
	}
	if result.Check != scenarios.Passed && r.Failed != nil {
		r.Failed(result, first)
	}
}
