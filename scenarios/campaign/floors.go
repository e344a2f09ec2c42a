package campaign

import (
	"fmt"
	"slices"
	"strings"

	"stet/scenarios"
)

// This is how many runs of a scenario it takes for its floors to mean something. With fewer,
// the figures are reported and fail nothing.
const (
	floorRuns = 50
	rareRuns  = 200 // for what few runs have
)

// Floor is one thing that the runs of a scenario have to reach together.
type Floor struct {
	Scenario string
	Text     string // the figure, and what is asked for
	Missed   bool
}

// Floors lists the floors of all scenarios with their figures.
func (s *Summary) Floors() []Floor {
	var all []Floor
	for _, t := range s.Scenarios {
		if scenario, _ := scenarios.Find(t.Scenario); scenario != nil && t.Runs() > 0 {
			all = append(all, t.floors(&scenario.Floors)...)
		}
	}
	return all
}

// MissedFloors lists those floors that fail a campaign.
func (s *Summary) MissedFloors() []Floor {
	return slices.DeleteFunc(s.Floors(), func(f Floor) bool { return !f.Missed })
}

func (t *ScenarioTotals) floors(f *scenarios.Floors) []Floor {
	share := func(what string, part, least int64) Floor {
		return t.floor(floorRuns, part*100 >= least*t.Runs(), "%s in %s of %d runs, at least %d%%",
			what, percent(part, t.Runs()), t.Runs(), least)
	}
	return []Floor{
		share("a crash", t.Crashed, f.CrashPercent),
		share("a request struck in flight", t.InFlight, f.InFlightPercent),
		t.floor(floorRuns, t.Excused*100 <= f.ExcusedPercent*t.Acked,
			"%s of %d acknowledged records excused, at most %d%%",
			percent(t.Excused, t.Acked), t.Acked, f.ExcusedPercent),
		t.floor(rareRuns, t.Counters[scenarios.Undecided]*100 <= scenarios.UndecidedPercent*t.Runs(),
			"%s of %d runs undecided, at most %d%%",
			percent(t.Counters[scenarios.Undecided], t.Runs()), t.Runs(), scenarios.UndecidedPercent),
		t.antecedents(floorRuns, "antecedents", f.Antecedents),
		t.antecedents(rareRuns, "rare antecedents", f.Rare),
	}
}

// floor is one that so many runs are needed for.
func (t *ScenarioTotals) floor(runs int64, ok bool, format string, args ...any) Floor {
	return Floor{t.Scenario, fmt.Sprintf(format, args...), t.Runs() >= runs && !ok}
}

// antecedents names the counters that are at zero.
func (t *ScenarioTotals) antecedents(runs int64, what string, names []string) Floor {
	var zero []string
	for _, name := range names {
		if t.Counters[name] == 0 {
			zero = append(zero, name)
		}
	}
	text := fmt.Sprintf("%d of %d %s at zero", len(zero), len(names), what)
	if len(zero) > 0 {
		text += ": " + strings.Join(zero, ", ")
	}
	return t.floor(runs, len(zero) == 0, "%s", text)
}

// Line is what a campaign prints of a floor.
func (f Floor) Line() string {
	outcome := "floor"
	if f.Missed {
		outcome = "floor missed:"
	}
	return fmt.Sprintf("%s %s: %s", outcome, f.Scenario, f.Text)
}

// percent prints a ratio in percent with one digit, rounded down.
func percent(part, whole int64) string {
	if whole == 0 {
		return "0%"
	}
	tenths := part * 1000 / whole
	return fmt.Sprintf("%d.%d%%", tenths/10, tenths%10)
}
