package main

import (
	"cmp"
	"maps"
	"slices"
)

// report is what was measured.
type report struct {
	Asked    int    `json:"asked"` // mutants
	Mutants  int    `json:"mutants"`
	Seed     uint64 `json:"seed"`
	Seeds    uint64 `json:"seeds"` // of each scenario
	NoBuild  int    `json:"no_build"`
	Score    int    `json:"score"` // percent of all mutants that the simulator killed
	Packages []row  `json:"packages"`
	All      row    `json:"all"`
	// Killers counts the mutants that each check was the first to kill, by the simulator.
	Killers []count `json:"killers"`
	Runs    []int   `json:"runs_to_kill"` // sorted
	// TestsOnly are those that the simulator missed and the unit tests did not.
	TestsOnly []entry `json:"tests_only"`
	Survivors []entry `json:"survivors"`
	// Wrong are verdicts of equivalence on mutants that were killed.
	Wrong []string `json:"wrong_verdicts,omitempty"`
}

// row are the figures of a package.
type row struct {
	Package    string `json:"package"`
	Lines      int    `json:"lines"`
	Sites      int    `json:"sites"`
	Mutants    int    `json:"mutants"`
	Simulator  int    `json:"simulator"` // killed
	Tests      int    `json:"tests"`     // killed, of those that the simulator missed
	Unreached  int    `json:"unreached"` // survived, not executed by the simulator
	Equivalent int    `json:"equivalent"`
	Blind      int    `json:"blind"`
	Unjudged   int    `json:"unjudged"`
}

type count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// class says why the simulator has missed a mutant.
type class string

const (
	unreachedClass class = "unreached"
	openClass      class = "unjudged"
)

// entry is a mutant that the simulator has missed.
type entry struct {
	*judged
	Class  class  `json:"class"`
	Reason string `json:"reason,omitempty"`
}

// newReport sums up the mutants that were drawn, as far as they were judged.
func newReport(f *flags, packages []*pkg, s *state, reached coverage, verdicts map[string]verdict) *report {
	r := &report{Asked: f.n, Seed: f.seed, Seeds: f.seeds, All: row{Package: "all"}}
	killers := map[string]int{}
	for _, p := range packages {
		line := row{Package: p.Dir, Lines: p.lines, Sites: len(p.sites)}
		for i := range p.sites {
			j := s.get(p.sites[i].id())
			if j == nil || line.Mutants == p.quota {
				break
			}
			if j.Killer == noBuild {
				r.NoBuild++
				continue
			}
			line.Mutants++
			if j.Killer != nobody && verdicts[j.ID].opinion == equivalent {
				r.Wrong = append(r.Wrong, j.ID)
			}
			e := entry{judged: j, Class: unreachedClass}
			if reached.reached(&p.sites[i]) {
				v := verdicts[j.ID]
				e.Class, e.Reason = cmp.Or(class(v.opinion), openClass), v.reason
			}
			switch j.Killer {
			case simulator:
				line.Simulator++
				killers[j.By]++
				r.Runs = append(r.Runs, j.Runs)
			case unitTests:
				line.Tests++
				r.TestsOnly = append(r.TestsOnly, e)
			default:
				line.survived(e.Class)
				r.Survivors = append(r.Survivors, e)
			}
		}
		r.Packages = append(r.Packages, line)
		r.All.add(&line)
	}
	r.Mutants = r.All.Mutants
	r.Score = 100 * r.All.Simulator / max(1, r.Mutants)
	slices.Sort(r.Runs)
	for _, name := range slices.Sorted(maps.Keys(killers)) {
		r.Killers = append(r.Killers, count{name, killers[name]})
	}
	slices.SortStableFunc(r.Killers, func(a, b count) int { return b.N - a.N })
	order := []class{class(blindSpot), openClass, unreachedClass, class(equivalent)}
	for _, list := range [][]entry{r.TestsOnly, r.Survivors} {
		slices.SortStableFunc(list, func(a, b entry) int {
			return slices.Index(order, a.Class) - slices.Index(order, b.Class)
		})
	}
	return r
}

func (r *row) survived(c class) {
	switch c {
	case unreachedClass:
		r.Unreached++
	case class(equivalent):
		r.Equivalent++
	case class(blindSpot):
		r.Blind++
	default:
		r.Unjudged++
	}
}

func (r *row) add(o *row) {
	r.Lines += o.Lines
	r.Sites += o.Sites
	r.Mutants += o.Mutants
	r.Simulator += o.Simulator
	r.Tests += o.Tests
	r.Unreached += o.Unreached
	r.Equivalent += o.Equivalent
	r.Blind += o.Blind
	r.Unjudged += o.Unjudged
}
