package campaign

import (
	"fmt"
	"slices"
	"strings"

	"stet/scenarios"
)

// floorRuns is how many runs of a scenario it takes for its floors to mean something. With fewer,
// the figures are reported and fail nothing.
const floorRuns = 50

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
	counts := t.Runs() >= floorRuns
	var all []Floor
	add := func(ok bool, format string, args ...any) {
		all = append(all, Floor{t.Scenario, fmt.Sprintf(format, args...), counts && !ok})
	}
	add(t.Crashed*100 >= f.CrashPercent*t.Runs(), "crash in %s of %d runs, at least %d%%",
		percent(t.Crashed, t.Runs()), t.Runs(), f.CrashPercent)
	add(t.InFlight*100 >= f.InFlightPercent*t.Runs(),
		"a request in flight is struck in %s of %d runs, at least %d%%",
		percent(t.InFlight, t.Runs()), t.Runs(), f.InFlightPercent)
	add(t.Excused*100 <= f.ExcusedPercent*t.Acked, "excused are %s of %d acknowledged records, at most %d%%",
		percent(t.Excused, t.Acked), t.Acked, f.ExcusedPercent)
	var zero []string
	for _, name := range f.Antecedents {
		if t.Counters[name] == 0 {
			zero = append(zero, name)
		}
	}
	add(len(zero) == 0, "antecedents at zero: %d of %d, at most 0%s", len(zero), len(f.Antecedents),
		strings.Join(append([]string{""}, zero...), " "))
	return all
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
