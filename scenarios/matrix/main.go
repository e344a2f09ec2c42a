// Command matrix proves that a run depends on its seed alone. It builds the simulator in variants,
// runs the same seeds through each, and compares the hashes with those of the plain build. Builds
// with nondeterminism planted on purpose must be told apart from themselves, or the comparison
// proves nothing.
//
//	go run ./scenarios/matrix -seeds 50
//
// It prints a line for each variant, the first divergent event of each that differs, and exits with
// 1 if a variant differs, could not be built or run, or if a plant is not caught.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"stet/scenarios"
)

func main() {
	seeds := flag.Uint64("seeds", 50, "seeds of each scenario, from 1")
	only := flag.String("only", "", "variants whose names contain this")
	workers := flag.Int("jobs", runtime.NumCPU(), "worker processes")
	flag.Parse()
	ok, err := run(*seeds, *workers, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run compares all variants with the plain build and says whether each was as it must be.
func run(seeds uint64, workers int, only string) (ok bool, err error) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "stet-matrix-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	m := matrix{dir: dir, workers: workers, built: map[string]string{}}
	m.jobs, m.few = jobs(seeds), jobs((seeds+9)/10)
	fmt.Printf("%-22s %5s %9s %7s  outcome\n", "variant", "runs", "divergent", "wall")
	if m.base, err = m.runs(variant{name: "plain"}, m.jobs); err != nil {
		return false, fmt.Errorf("plain build: %w", err)
	}
	row("plain", len(m.jobs), 0, start, fmt.Sprintf("ok, %d of the runs pass their checks", m.base.passed()))
	var t totals
	for _, v := range variants() {
		if strings.Contains(v.name, only) {
			m.compare(v, &t)
		}
	}
	fmt.Printf("matrix scenarios=%d seeds=%d variants=%d same=%d plants=%d caught=%d wall=%.0fs\n",
		len(scenarios.All()), seeds, t.variants, t.same, t.plants, t.caught, time.Since(start).Seconds())
	return t.same == t.variants && t.caught == t.plants, nil
}

// job is one run, as a worker reads it.
type job struct {
	Scenario string
	Seed     uint64
}

// jobs lists the runs of one variant.
func jobs(seeds uint64) []job {
	var out []job
	for _, s := range scenarios.All() {
		for seed := range seeds {
			out = append(out, job{s.Name, seed + 1})
		}
	}
	return out
}

// matrix is the state of the comparison.
type matrix struct {
	dir     string
	workers int
	jobs    []job
	few     []job // for plants
	base    outcomes
	built   map[string]string // binaries by what they were built with
}

// totals counts variants that must agree, and plants that must not.
type totals struct{ variants, same, plants, caught int }

// compare runs a variant and prints whether it is as it must be: the same as the plain build, or,
// for a plant, different from itself.
func (m *matrix) compare(v variant, t *totals) {
	start := time.Now()
	jobs, base, against := m.jobs, m.base, variant{name: "plain"}
	if v.planted {
		jobs = m.few
	}
	got, err := m.runs(v, jobs)
	if err == nil && v.planted {
		against = v
		base, err = m.runs(v, jobs)
	}
	differ := 0
	if err == nil {
		differ = base.divergent(got)
	}
	good, outcome := judge(v, differ, err)
	t.count(v, good)
	row(v.name, len(jobs), differ, start, outcome)
	if differ > 0 {
		fmt.Println(m.firstDivergence(jobs, against, v, base, got))
	}
}

// judge says whether a variant is as it must be, and the outcome in words.
func judge(v variant, differ int, err error) (good bool, outcome string) {
	switch {
	case err != nil:
		return false, "FAIL " + err.Error()
	case v.planted && differ == 0:
		return false, "FAIL: the plant was not caught"
	case v.planted:
		return true, "ok, caught"
	case differ > 0:
		return false, "FAIL: the hash moved"
	}
	return true, "ok"
}

func (t *totals) count(v variant, good bool) {
	all, right := &t.variants, &t.same
	if v.planted {
		all, right = &t.plants, &t.caught
	}
	*all++
	if good {
		*right++
	}
}

func row(name string, runs, differ int, start time.Time, outcome string) {
	fmt.Printf("%-22s %5d %9d %6.1fs  %s\n", name, runs, differ, time.Since(start).Seconds(), outcome)
}

// attempts is how many divergent runs are run again until one diverges: what a plant draws may be the
// same twice by chance.
const attempts = 10

// firstDivergence runs divergent jobs again in both variants, in processes of their own, and describes
// the first event that differs.
func (m *matrix) firstDivergence(jobs []job, a, b variant, base, got outcomes) string {
	tried := 0
	for i, j := range jobs {
		if base[i] == got[i] {
			continue
		}
		if tried++; tried > attempts {
			break
		}
		divergent, err := m.locate(a, b, j)
		if err != nil {
			return fmt.Sprintf("  %s/%#x: not located: %v", j.Scenario, j.Seed, err)
		}
		if divergent != "" {
			return fmt.Sprintf("  %s/%#x %s", j.Scenario, j.Seed,
				strings.ReplaceAll(divergent, "\n", "\n  "))
		}
	}
	return "  equal in processes of their own: a run depends on those before it in its process"
}
