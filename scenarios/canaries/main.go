// Canaries puts historical bugs back, one at a time, and prints how many seeds it takes until a
// check of the history or of the state finds each.
//
//	canaries [-campaigns N] [-jobs J] STET
//
// STET is a binary built with the canary tag. A canary counts as found only by a check that is
// expected of it, within its budget of seeds; a panic is no find. The last column says whether a few
// seeds without faults pass: a bug that shows without any says nothing of the faults. Checks that
// look at the medium at every acknowledgement see some bugs before anything goes wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/scenarios"
)

// canary says what is expected of a historical bug.
type canary struct {
	id       string
	scenario string
	tier     string // A, B or C: 50, 500 or 5,000 seeds
	expected []scenarios.Check
}

// canaries lists the spine's. Checks are primary first; those behind it are acceptable.
var canaries = []canary{
	{"46", "single-node-power-loss", "A", []scenarios.Check{"S9", "S1", "H1"}},
	{"48", "single-node-power-loss", "B", []scenarios.Check{"S1", "S4", "H1", "L9"}},
	{"50", "disk-faults", "A", []scenarios.Check{"S6", "S1", "H1"}},
	{"51", "disk-faults", "A", []scenarios.Check{"S3", "S1", "H1", "H10"}},
	{"53", "disk-faults", "B", []scenarios.Check{"R9", "H2", "H2-ack", "H1"}},
	{"57", "single-node-power-loss", "A", []scenarios.Check{"S1", "H1", "R10"}},
	{"61", "disk-faults", "A", []scenarios.Check{"R12", "P2", "P1", "P4"}},
	{"65", "disk-faults", "B", []scenarios.Check{"R10", "H1", "H2-ack"}},
	{"67", "idempotent-retries", "A", []scenarios.Check{"P2", "P4"}},
	{"W1", "disk-faults", "B", []scenarios.Check{"S1", "S2", "H1", "H2", "H2-ack", "R12", "S8"}},
}

var budgets = map[string]uint64{"A": 50, "B": 500, "C": 5000}

// calmSeeds is how many seeds a canary has to pass without faults.
const calmSeeds = 5

// stride keeps the seeds of different campaigns apart.
const stride = 1_000_000

func main() {
	campaigns := flag.Int("campaigns", 1, "campaigns a canary; the median is reported")
	jobs := flag.Int("jobs", runtime.NumCPU(), "worker processes")
	only := flag.String("only", "", "ids to run, with commas; empty is all")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "canaries: usage: canaries [flags] STET")
		os.Exit(scenarios.ExitUsage)
	}
	missed := 0
	fmt.Println("id  scenario                tier  seeds-to-kill  found-by  calm")
	for _, c := range canaries {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), c.id) {
			continue
		}
		r := hunt{canary: c, stet: flag.Arg(0), jobs: *jobs}.run(*campaigns)
		fmt.Printf("%-3s %-23s %-5s %-14s %-9s %s\n", c.id, c.scenario, c.tier, r.seeds, r.check, r.calm)
		if r.missed {
			missed++
		}
	}
	fmt.Printf("canaries: missed=%d\n", missed)
	if missed > 0 {
		os.Exit(scenarios.ExitSafety)
	}
}

// hunt looks for one canary.
type hunt struct {
	canary
	stet string
	jobs int
}

// outcome is a line of the table.
type outcome struct {
	seeds, check, calm string
	missed             bool
}

func (h hunt) run(campaigns int) outcome {
	out := outcome{calm: h.calm()}
	var kills []uint64
	for i := range campaigns {
		seeds, check, ok := h.campaign(uint64(i)*stride + 1)
		if ok {
			kills = append(kills, seeds)
			out.check = string(check)
		}
	}
	out.missed = len(kills)*2 <= campaigns
	if len(kills) == 0 {
		out.seeds, out.check = fmt.Sprintf(">%d", budgets[h.tier]), "-"
		return out
	}
	slices.Sort(kills)
	out.seeds = fmt.Sprint(kills[len(kills)/2])
	if campaigns > 1 {
		out.seeds += fmt.Sprintf(" (%d/%d)", len(kills), campaigns)
	}
	return out
}

// worker is the command of a worker with the bug put back.
func (h hunt) worker() []string { return []string{h.stet, "sim", "worker", "--canary", h.id} }

// calm runs a few seeds without faults.
func (h hunt) calm() string {
	c := scenarios.Campaign{
		Scenarios: []string{h.scenario}, From: 1, To: calmSeeds, Jobs: h.jobs, Calm: true,
		Worker: h.worker(),
	}
	s, err := c.Run(context.Background())
	if err != nil {
		return err.Error()
	}
	if len(s.Failures) > 0 {
		return "FAIL " + string(s.Failures[0].Check)
	}
	return "ok"
}

// campaign runs seeds until an expected check fails, and says how many it took.
func (h hunt) campaign(from uint64) (seeds uint64, check scenarios.Check, ok bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	c := scenarios.Campaign{
		Scenarios: []string{h.scenario}, From: from, To: from + budgets[h.tier] - 1, Jobs: h.jobs,
		Worker: h.worker(),
	}
	c.Failed = func(r *scenarios.Result) {
		mu.Lock()
		defer mu.Unlock()
		found := slices.IndexFunc(h.expected, func(c scenarios.Check) bool {
			return slices.Contains(r.Failed, c)
		})
		if found < 0 {
			return
		}
		if n := r.Seed - from + 1; !ok || n < seeds {
			seeds, check, ok = n, h.expected[found], true
		}
		cancel()
	}
	if _, err := c.Run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "canaries: %s: %v\n", h.id, err)
	}
	return seeds, check, ok
}
