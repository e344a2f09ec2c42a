package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

// sums is a summary of runs that all reach the floors of single-node-power-loss, but for what change
// does to the i-th.
func sums(runs int, change func(i int, r *scenarios.Result)) *Summary {
	c := &Campaign{Scenarios: []string{"single-node-power-loss"}, Seeds: Seeds{1, uint64(runs)}}
	s := newSummary(c)
	scenario, _ := scenarios.Find("single-node-power-loss")
	for i := range runs {
		r := &scenarios.Result{
			Scenario: scenario.Name, Seed: uint64(i + 1), Acked: 1000, Excused: 50,
			Counters: map[string]int64{"faults.power loss": 1, scenarios.CounterInFlight: 1},
		}
		for _, name := range append(scenario.Floors.Antecedents, scenario.Floors.Rare...) {
			r.Counters[name] = 1
		}
		change(i, r)
		s.add(r)
	}
	s.finish(nil)
	return s
}

func TestFloorsAreEnforced(t *testing.T) {
	for name, c := range map[string]struct {
		runs   int
		change func(i int, r *scenarios.Result)
		missed string // "" for none
	}{
		"all reached": {200, func(int, *scenarios.Result) {}, ""},
		"a crash in 90%": {100, func(i int, r *scenarios.Result) {
			if i < 10 {
				delete(r.Counters, "faults.power loss")
			}
		}, ""},
		"a crash in 89%": {100, func(i int, r *scenarios.Result) {
			if i < 11 {
				delete(r.Counters, "faults.power loss")
			}
		}, "a crash in 89.0% of 100 runs, at least 90%"},
		"a kill is a crash": {100, func(i int, r *scenarios.Result) {
			delete(r.Counters, "faults.power loss")
			r.Counters["faults.process kill"] = 2
		}, ""},
		"in flight in 49%": {100, func(i int, r *scenarios.Result) {
			if i < 51 {
				r.Counters[scenarios.CounterInFlight] = 0
			}
		}, "a request struck in flight in 49.0% of 100 runs, at least 50%"},
		"one excused too many": {100, func(i int, r *scenarios.Result) {
			if i == 3 {
				r.Excused++
			}
		}, "5.0% of 100000 acknowledged records excused, at most 5%"},
		"an antecedent at zero": {50, func(i int, r *scenarios.Result) {
			delete(r.Counters, "checked.S9")
		}, "at zero: checked.S9"},
		"undecided in 1%": {200, func(i int, r *scenarios.Result) {
			if i < 2 {
				r.Counters[scenarios.Undecided] = 1
			}
		}, ""},
		"undecided in more": {200, func(i int, r *scenarios.Result) {
			if i < 3 {
				r.Counters[scenarios.Undecided] = 1
			}
		}, "1.5% of 200 runs undecided, at most 1%"},
		"too few runs for floors": {49, func(i int, r *scenarios.Result) { clear(r.Counters) }, ""},
		"too few runs for rare": {199, func(i int, r *scenarios.Result) {
			delete(r.Counters, "checked.H4")
		}, ""},
		"a rare antecedent at zero": {200, func(i int, r *scenarios.Result) {
			delete(r.Counters, "checked.H4")
		}, "rare antecedents at zero: checked.H4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sums(c.runs, c.change)
			missed := s.MissedFloors()
			require.Len(t, s.Floors(), 6, "all figures are reported")
			if c.missed == "" {
				require.Empty(t, missed)
				require.Zero(t, s.ExitCode(false, true))
				return
			}
			require.Len(t, missed, 1)
			require.Contains(t, missed[0].Line(), "floor missed: single-node-power-loss: ")
			require.Contains(t, missed[0].Text, c.missed)
			require.Equal(t, scenarios.ExitMark, s.ExitCode(false, true))
			require.Zero(t, s.ExitCode(false, false))
		})
	}
}

func TestACounterThatNeverCountsIsPrinted(t *testing.T) {
	s := sums(1, func(_ int, r *scenarios.Result) { delete(r.Counters, "checked.S9") })
	require.Contains(t, s.CounterLines(), "counter checked.S9=0")
	require.Contains(t, s.Scenarios[0].CounterLines(), "counter checked.S9=0")
}

func TestAMarkNeverReachedFailsWhereMarksCount(t *testing.T) {
	s := sums(3, func(_ int, r *scenarios.Result) { r.Marks = map[string]uint64{"a segment is rolled": 4} })
	require.NotContains(t, s.MissedMarks(), "a segment is rolled")
	require.NotEmpty(t, s.MissedMarks())
	require.Equal(t, scenarios.ExitMark, s.ExitCode(true, false))
	table := s.MarkTable()
	require.Equal(t, "marks  single-node-power-loss", table[0])
	require.Contains(t, table, "                            3  a segment is rolled")
	require.Contains(t, table, "                            0  recovery cuts a torn tail")
}
