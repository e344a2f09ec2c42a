// Canaries puts historical bugs back, one at a time, and prints how many seeds it takes until a
// check of the history or of the state finds each, and which checks do.
//
//	canaries [-campaigns N] [-matrix N] [-jobs J] [-only IDS] [-json FILE] STET
//
// STET is a binary built with the canary tag. A canary counts as found only by a check that is
// expected of it, within its budget of seeds; a panic is no find. Before it, the binary has to pass
// the same seeds without a canary, else nothing that fails says anything.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"stet/scenarios"
)

// row is all that was measured of a canary.
type row struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Source      string            `json:"source"`
	Scenario    string            `json:"scenario"`
	Tier        tier              `json:"tier"`
	Budget      uint64            `json:"budget"`
	Seen        bool              `json:"seen"`
	Expected    []scenarios.Check `json:"expected"`
	Note        string            `json:"note,omitempty"`
	Seeds       []uint64          `json:"seeds_to_kill"` // of each campaign; 0 is not within the budget
	Median      uint64            `json:"median"`        // likewise
	CalmClients []scenarios.Check `json:"calm_clients"`  // what clients see without faults
	CalmState   []scenarios.Check `json:"calm_state"`
	tally
}

// document is what is written as JSON.
type document struct {
	MatrixSeeds uint64 `json:"matrix_seeds"`
	CalmSeeds   uint64 `json:"calm_seeds"`
	Canaries    []row  `json:"canaries"`
	// KillNothing are checks that were made and failed no run of the matrix.
	KillNothing []scenarios.Check `json:"kill_nothing"`
}

// flags are what the command is asked for.
type flags struct {
	campaigns int
	matrix    uint64
	jobs      int
	only      string
	json      string
	stet      string
}

func main() {
	var f flags
	flag.IntVar(&f.campaigns, "campaigns", 5, "campaigns a canary, an odd number; the median counts")
	flag.Uint64Var(&f.matrix, "matrix", 40, "seeds a canary for the matrix of canaries and checks")
	flag.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "worker processes")
	flag.StringVar(&f.only, "only", "", "ids to run, with commas; empty is all")
	flag.StringVar(&f.json, "json", "", "write what was measured to this file too")
	flag.Parse()
	f.stet = flag.Arg(0)
	if flag.NArg() != 1 || f.campaigns < 1 || f.matrix < 1 {
		fmt.Fprintln(os.Stderr, "canaries: usage: canaries [flags] STET")
		os.Exit(scenarios.ExitUsage)
	}
	missed, err := run(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "canaries:", err)
		os.Exit(scenarios.ExitUsage)
	}
	fmt.Printf("canaries: missed=%d\n", missed)
	if missed > 0 {
		os.Exit(scenarios.ExitSafety)
	}
}

// run measures and prints, and returns how many canaries were missed.
func run(f flags) (missed int, err error) {
	chosen, err := choose(f.only)
	if err != nil {
		return 0, err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	l := lab{ctx, f.stet, f.jobs}
	made, err := l.control(chosen, f.matrix)
	if err != nil {
		return 0, err
	}
	doc := document{MatrixSeeds: f.matrix, CalmSeeds: calmSeeds}
	printHead(os.Stdout)
	for i := range chosen {
		r, err := l.measure(&chosen[i], f)
		if err != nil {
			return 0, err
		}
		printRow(os.Stdout, &r)
		if r.Median == 0 {
			missed++
		}
		doc.Canaries = append(doc.Canaries, r)
	}
	doc.KillNothing = idle(made, doc.Canaries)
	printMatrix(os.Stdout, &doc)
	printNotes(os.Stdout, &doc)
	if f.json == "" {
		return missed, nil
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return 0, fmt.Errorf("json: %w", err)
	}
	return missed, os.WriteFile(f.json, append(b, '\n'), 0o644)
}

// choose returns the canaries of a list of ids.
func choose(only string) ([]canary, error) {
	if only == "" {
		return canaries, nil
	}
	var out []canary
	for id := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(canaries, func(c canary) bool { return c.id == id })
		if at < 0 {
			return nil, fmt.Errorf("%q: no such canary", id)
		}
		out = append(out, canaries[at])
	}
	return out, nil
}

// control runs the seeds of the matrix without a canary: none may fail. It returns the checks that
// had something to check.
func (l lab) control(chosen []canary, seeds uint64) ([]scenarios.Check, error) {
	var done []string
	var made []scenarios.Check
	for _, c := range chosen {
		if slices.Contains(done, c.scenario) {
			continue
		}
		done = append(done, c.scenario)
		s, failures, err := l.run("", c.scenario, 1, seeds, false)
		if err != nil {
			return nil, err
		}
		if len(failures) > 0 {
			return nil, fmt.Errorf("without a canary %d of %d seeds fail, the first: %s",
				len(failures), seeds, failures[0].Line())
		}
		for name, n := range s.Counters {
			if check, ok := strings.CutPrefix(name, "checked."); ok && n > 0 {
				made = append(made, scenarios.Check(check))
			}
		}
	}
	return sorted(made), nil
}

// measure measures one canary.
func (l lab) measure(c *canary, f flags) (r row, err error) {
	info := c.info()
	r = row{
		ID: c.id, Name: info.Name, Source: info.Source, Scenario: c.scenario, Tier: c.tier,
		Budget: c.tier.seeds(), Seen: c.seen, Expected: c.expected, Note: c.note,
	}
	if r.CalmClients, r.CalmState, err = l.calm(c); err != nil {
		return r, err
	}
	failures, err := l.failures(c.id, c.scenario, 1, f.matrix, false)
	if err != nil {
		return r, err
	}
	r.tally = newTally(c, failures)
	if r.Seeds, err = l.hunts(c, f.campaigns); err != nil {
		return r, err
	}
	r.Median = median(r.Seeds)
	return r, nil
}
