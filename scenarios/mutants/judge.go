package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"stet/scenarios"
	"stet/scenarios/campaign"
)

// killer says which stage has seen a mutant.
type killer string

const (
	noBuild   killer = "no build" // no mutant, another is drawn
	simulator killer = "simulator"
	unitTests killer = "tests"
	nobody    killer = ""
)

// judged is a mutant and what came of it.
type judged struct {
	ID      string `json:"id"`
	Package string `json:"package"`
	site
	Killer killer `json:"killer"`
	// By is the check that failed first, panic, assertion or timeout; or the test.
	By string `json:"by,omitempty"`
	// Failed is every check that failed in the run that killed it, Evidence its first line.
	Failed   []scenarios.Check `json:"failed,omitempty"`
	Evidence string            `json:"evidence,omitempty"`
	Runs     int               `json:"runs"`  // of the simulator, the one that killed it among them
	Seeds    uint64            `json:"seeds"` // of each scenario that were asked for
	Seconds  float64           `json:"seconds"`
}

// assertion is what a panic of package invariant is counted as.
const assertion = "assertion"

// open says whether more seeds may still find a mutant.
func (j *judged) open() bool { return j.Killer == nobody || j.Killer == unitTests }

// judge runs a mutant through the stages until something kills it. One that was judged with fewer
// seeds, was if there is one, is run with the others only. Seeds that do not reach the slip take the
// very steps that they take without it, so they are not run.
func (b *bench) judge(
	ctx context.Context, s *site, dir string, reached bool, was *judged,
) (j *judged, err error) {
	start := time.Now()
	j = &judged{ID: s.id(), Package: dir, site: *s}
	if was != nil {
		*j = *was
		start = start.Add(-time.Duration(was.Seconds * float64(time.Second)))
	}
	defer func() { j.Seconds = time.Since(start).Round(time.Millisecond).Seconds() }()
	w, err := b.set(s)
	if err != nil {
		return j, err
	}
	defer w.clear()
	err = w.gotool(ctx, "build", "-overlay", w.overlay, "./"+dir)
	if errors.Is(err, errNoBuild) {
		j.Killer = noBuild
		return j, nil
	}
	if err == nil && reached {
		err = w.simulate(ctx, j)
	}
	if err != nil || j.Killer == simulator {
		return j, err
	}
	j.Seeds = b.seeds
	if was != nil {
		return j, nil
	}
	if j.By, err = w.test(ctx, dir); j.By != "" {
		j.Killer = unitTests
	}
	return j, err
}

// perSeed is added to the budget for each seed of all scenarios, which takes a second as a rule:
// slow is not hung.
const perSeed = 4 * time.Second

// simulate runs the seeds of all scenarios that were not run yet, one after another, until one
// fails.
func (w *workshop) simulate(ctx context.Context, j *judged) error {
	binary, err := w.build(ctx)
	if err != nil {
		return err
	}
	all, cancel := context.WithCancel(ctx)
	defer cancel()
	var first *scenarios.Result
	c := campaign.Campaign{
		Scenarios: names(), Seeds: campaign.Seeds{From: j.Seeds + 1, To: w.seeds}, Jobs: 1,
		Worker:  limited(w.budget+time.Duration(w.seeds)*perSeed, binary, "sim", "worker"),
		Timeout: wallLimit,
		Ended:   func(*campaign.Summary, *scenarios.Result) { j.Runs++ },
		Failed: func(r *scenarios.Result, _ bool) {
			if first == nil {
				first = r
			}
			cancel()
		},
	}
	_, err = c.Run(all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the binary ends at once
		first = &scenarios.Result{Check: scenarios.Panic, Evidence: []string{err.Error()}}
	}
	if first != nil {
		j.Seeds = w.seeds
		j.killedBy(first)
	}
	return nil
}

// killedBy notes the run that killed a mutant.
func (j *judged) killedBy(r *scenarios.Result) {
	j.Killer, j.By, j.Failed = simulator, string(r.Check), r.Failed
	text := strings.Join(r.Evidence, "\n")
	switch {
	case r.Check == scenarios.Panic && strings.Contains(text, "assertion failed"):
		j.By = assertion
	case r.Check == scenarios.OutOfMemory && !strings.Contains(text, "out of memory"):
		j.By = string(scenarios.Timeout) // killed for its CPU time
	}
	j.Evidence, _, _ = strings.Cut(text, "\n")
	if runes := []rune(j.Evidence); len(runes) > 200 {
		j.Evidence = string(runes[:200])
	}
}

// names lists the scenarios.
func names() (out []string) {
	for _, s := range scenarios.All() {
		out = append(out, s.Name)
	}
	return out
}
