package shrink

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"stet/scenarios"
	"stet/scenarios/schedule"
)

// Runner runs schedules, one at a time. Its error is that of ctx, or says that nothing can be run.
type Runner interface {
	Run(ctx context.Context, t Trial) (*scenarios.Result, error)
}

// Trial is a run of a schedule that is wanted only to know whether it fails a check.
type Trial struct {
	Schedule *schedule.Schedule
	// Until and MaxEvents cut the run short: see scenarios.Options.
	Until     scenarios.Check
	MaxEvents uint64
}

// prober tries candidates, several at a time, one with each runner.
type prober struct {
	runners []Runner
	limits  Trial // without a schedule
	// fails says whether a result is the failure that is looked for.
	fails func(*scenarios.Result) bool
	// known are the outcomes of candidates by their text.
	known map[[sha256.Size]byte]*scenarios.Result
	runs  int
}

// search is one search for the first of n candidates that fails.
type search struct {
	*prober
	mu        sync.Mutex
	candidate func(int) *schedule.Schedule
	next      int
	best      int // the first known to fail, at first n
	result    *scenarios.Result
	cancel    map[int]context.CancelFunc
	err       error
}

// first returns the first of n candidates that fails and its result, or n. A candidate that is nil
// is none. When ctx ends, candidates under way count as passed.
func (p *prober) first(ctx context.Context, n int, candidate func(int) *schedule.Schedule) (
	int, *scenarios.Result, error,
) {
	s := &search{prober: p, candidate: candidate, best: n, cancel: map[int]context.CancelFunc{}}
	var wait sync.WaitGroup
	for _, r := range p.runners {
		wait.Go(func() {
			for s.step(ctx, r) {
			}
		})
	}
	wait.Wait()
	return s.best, s.result, s.err
}

// step runs the next candidate, and says whether there may be another one.
func (s *search) step(ctx context.Context, r Runner) bool {
	s.mu.Lock()
	if s.next >= s.best || s.err != nil || ctx.Err() != nil {
		s.mu.Unlock()
		return false
	}
	i := s.next
	s.next++
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.cancel[i] = cancel
	s.mu.Unlock()

	c := s.candidate(i)
	if c == nil {
		return true
	}
	result, err := s.run(ctx, r, c)

	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cancel, i)
	switch {
	case err != nil && ctx.Err() == nil:
		s.err = errors.Join(s.err, err)
	case err == nil && i < s.best && s.fails(result):
		s.best, s.result = i, result
		for j, cancel := range s.cancel {
			if j > i { // whatever comes of it
				cancel()
			}
		}
	}
	return true
}

// run runs a candidate, unless its outcome is known.
func (s *search) run(ctx context.Context, r Runner, c *schedule.Schedule) (*scenarios.Result, error) {
	key := identity(c)
	s.mu.Lock()
	known := s.known[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	trial := s.limits
	trial.Schedule = c
	result, err := r.Run(ctx, trial)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	s.known[key] = result
	return result, nil
}

// identity tells candidates apart. Of a tape, the length is enough: nothing else of it changes.
func identity(s *schedule.Schedule) [sha256.Size]byte {
	plain := *s
	plain.Tapes = nil
	text := plain.String()
	for _, t := range s.Tapes {
		text += fmt.Sprintln(t.Stream, len(t.Values))
	}
	return sha256.Sum256([]byte(text))
}
