package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stet/scenarios"
	"stet/scenarios/campaign"
)

// lab runs seeds with one canary put back.
type lab struct {
	ctx  context.Context
	stet string
	jobs int
}

// failures runs the seeds [from, to] of a scenario and returns the runs that failed, in the order of
// their seeds. An empty id is the binary as it is.
func (l lab) failures(id, scenario string, from, to uint64, calm bool) ([]*scenarios.Result, error) {
	_, failures, err := l.run(id, scenario, from, to, calm)
	return failures, err
}

func (l lab) run(id, scenario string, from, to uint64, calm bool) (
	s *campaign.Summary, failures []*scenarios.Result, err error,
) {
	c := campaign.Campaign{
		Scenarios: []string{scenario}, Seeds: campaign.Seeds{From: from, To: to},
		Jobs: l.jobs, Calm: calm, Worker: []string{l.stet, "sim", "worker"},
		Failed: func(r *scenarios.Result, _ bool) { failures = append(failures, r) },
	}
	if id != "" {
		c.Worker = append(c.Worker, "--canary", id)
	}
	s, err = c.Run(l.ctx)
	if err == nil {
		err = l.ctx.Err() // runs cut short tell nothing
	}
	if err != nil {
		return nil, nil, fmt.Errorf("canary %q: %s: %w", id, scenario, err)
	}
	slices.SortFunc(failures, func(a, b *scenarios.Result) int { return cmp.Compare(a.Seed, b.Seed) })
	return s, failures, nil
}

// stride keeps the seeds of different campaigns apart.
const stride = 1_000_000

// hunts runs campaigns, and returns for each how many seeds it took until an expected check failed,
// or 0 for more than the budget.
func (l lab) hunts(c *canary, campaigns int) ([]uint64, error) {
	var out []uint64
	for i := range campaigns {
		n, err := l.hunt(c, uint64(i)*stride+1)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// hunt goes through the seeds in pieces that grow, each run whole: what is found does not depend on
// which of the workers is faster.
func (l lab) hunt(c *canary, from uint64) (uint64, error) {
	budget := c.tier.seeds()
	for done, piece := uint64(0), uint64(2); done < budget; piece = min(2*piece, 32) {
		piece = min(piece, budget-done)
		failures, err := l.failures(c.id, c.scenario, from+done, from+done+piece-1, false)
		if err != nil {
			return 0, err
		}
		for _, r := range failures {
			if claims(c, r) {
				return r.Seed - from + 1, nil
			}
		}
		done += piece
	}
	return 0, nil
}

// claims says whether an expected check has failed.
func claims(c *canary, r *scenarios.Result) bool {
	return slices.ContainsFunc(c.expected, func(e scenarios.Check) bool {
		return slices.Contains(failed(r), e)
	})
}

// failed returns every check that failed in a run. A worker that died names only its outcome.
func failed(r *scenarios.Result) []scenarios.Check {
	if len(r.Failed) == 0 {
		return []scenarios.Check{r.Check}
	}
	return r.Failed
}

// median returns the middle of the figures of an odd number of campaigns, 0 if most missed.
func median(figures []uint64) uint64 {
	sorted := slices.Clone(figures)
	slices.SortFunc(sorted, func(a, b uint64) int {
		switch { // 0 is a miss, above everything
		case a == b:
			return 0
		case a == 0:
			return 1
		case b == 0 || a < b:
			return -1
		}
		return 1
	})
	return sorted[len(sorted)/2]
}

// calmSeeds is how many a canary has to pass without faults.
const calmSeeds = 5

// calm says which checks fail without any fault: those that judge what clients see, and those that
// look at the node and its medium after every turn and acknowledgement. A bug of which the clients
// see something without faults says nothing of the faults.
func (l lab) calm(c *canary) (clients, state []scenarios.Check, err error) {
	failures, err := l.failures(c.id, c.scenario, 1, calmSeeds, true)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range failures {
		for _, check := range failed(r) {
			if check[0] == 'S' || check[0] == 'R' {
				state = append(state, check)
			} else {
				clients = append(clients, check)
			}
		}
	}
	return sorted(clients), sorted(state), nil
}

// sorted sorts checks by family and number, and drops repetitions.
func sorted(list []scenarios.Check) []scenarios.Check {
	slices.SortFunc(list, compareChecks)
	return slices.Compact(list)
}
