package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"stet/scenarios"
)

// Summary is the outcome of a campaign.
type Summary struct {
	Name    string // of the scenario, or of several together
	Seeds   Seeds
	Shard   Shard
	Total   int64 // runs that were asked for
	Resumed int64 // runs that the state had
	Totals        // of all scenarios
	// Scenarios has the totals of each, in the order in which they were asked for.
	Scenarios []*ScenarioTotals
	Classes   []*Class // of failures, the worst first
	Wall      time.Duration

	classes map[string]*Class
	marks   []string // to be reached
}

// ScenarioTotals are the sums over the runs of one scenario.
type ScenarioTotals struct {
	Scenario string
	Totals
}

// Totals are sums over runs.
type Totals struct {
	OK, Failed int64 // runs
	Events     int64
	Operations int64
	Acked      int64 // records
	Excused    int64 // records
	Faults     int64
	Crashed    int64 // runs with a crash
	InFlight   int64 // runs in which a fault struck a request in flight
	Simulated  time.Duration
	Busy       time.Duration   // sum of the runs' wall times
	Walls      []time.Duration `json:"-"` // of each run; sorted at the end
	Counters   map[string]int64
	Marks      map[string]int64 // runs that reached a mark
}

func newSummary(c *Campaign) *Summary {
	s := &Summary{
		Name: cmp.Or(c.Name, "all"), Seeds: c.Seeds, Shard: c.Shard, Totals: newTotals(),
		Total:   int64(c.Shard.count(c.Seeds)) * int64(len(c.Scenarios)),
		classes: map[string]*Class{}, marks: scenarios.Marks(c.Scenarios),
	}
	if len(c.Scenarios) == 1 {
		s.Name = c.Scenarios[0]
	}
	for _, name := range c.Scenarios {
		t := &ScenarioTotals{name, newTotals()}
		s.Scenarios = append(s.Scenarios, t)
		if scenario, _ := scenarios.Find(name); scenario != nil {
			t.expect(scenario.Floors.Antecedents)
			t.expect(scenario.Floors.Rare)
			s.expect(scenario.Floors.Antecedents)
			s.expect(scenario.Floors.Rare)
		}
	}
	return s
}

// expect has counters show also if nothing ever counts.
func (t *Totals) expect(names []string) {
	for _, name := range names {
		t.Counters[name] += 0
	}
}

func newTotals() Totals {
	return Totals{Counters: map[string]int64{}, Marks: map[string]int64{}}
}

// add counts a run and says whether it is the first failure of its class.
func (s *Summary) add(r *scenarios.Result) (first bool) {
	s.Totals.add(r)
	for _, t := range s.Scenarios {
		if t.Scenario == r.Scenario {
			t.add(r)
		}
	}
	if r.Check == scenarios.Passed {
		return false
	}
	class := newClass(r)
	if known := s.classes[class.ID]; known != nil {
		known.add(r)
		return false
	}
	class.add(r)
	s.classes[class.ID] = class
	return true
}

func (t *Totals) add(r *scenarios.Result) {
	if r.Check == scenarios.Passed {
		t.OK++
	} else {
		t.Failed++
	}
	t.Events += r.Events
	t.Operations += r.Operations
	t.Acked += r.Acked
	t.Excused += r.Excused
	t.Faults += r.Faults
	t.Simulated += r.Simulated
	t.Busy += r.Wall
	t.Walls = append(t.Walls, r.Wall)
	if r.Crashes() > 0 {
		t.Crashed++
	}
	if r.Counters[scenarios.CounterInFlight] > 0 {
		t.InFlight++
	}
	for name, n := range r.Counters {
		t.Counters[name] += n
	}
	for name, n := range r.Marks {
		if n > 0 {
			t.Marks[name]++
		}
	}
}

// finish sorts what the order of arrival has left to chance.
func (s *Summary) finish(onClass func(*Class)) {
	slices.Sort(s.Walls)
	for _, t := range s.Scenarios {
		slices.Sort(t.Walls)
	}
	s.Classes = slices.SortedFunc(maps.Values(s.classes), worseClass)
	if onClass != nil {
		for _, class := range s.Classes {
			onClass(class)
		}
	}
}

// Runs counts the runs that have ended.
func (t *Totals) Runs() int64 { return t.OK + t.Failed }

// Percentile is the wall time that p percent of the runs have stayed within.
func (t *Totals) Percentile(p int) time.Duration {
	if len(t.Walls) == 0 {
		return 0
	}
	return t.Walls[(len(t.Walls)-1)*p/100]
}

// MissedMarks lists the coverage marks that no run has reached, of those that the scenarios are there
// to reach.
func (s *Summary) MissedMarks() []string {
	var missed []string
	for _, name := range s.marks {
		if s.Marks[name] == 0 {
			missed = append(missed, name)
		}
	}
	return missed
}

// ExitCode is the worst of all runs. What all runs have to reach together, marks and floors, counts
// only where a campaign is judged by it.
func (s *Summary) ExitCode(marks, floors bool) int {
	var codes []int
	for _, class := range s.Classes {
		codes = append(codes, class.Check.ExitCode())
	}
	if marks && len(s.MissedMarks()) > 0 || floors && len(s.MissedFloors()) > 0 {
		codes = append(codes, scenarios.ExitMark)
	}
	return scenarios.Worst(codes)
}

// Line is the last line that a campaign prints.
func (s *Summary) Line() string {
	all := len(s.marks)
	seconds := max(s.Wall.Seconds(), 1e-9)
	fresh := float64(s.Runs()-s.Resumed) / max(1, float64(s.Runs())) // the wall time is theirs
	return fmt.Sprintf("campaign scenario=%s seeds=%s ok=%d failed=%d excused=%d marks=%d/%d "+
		"events_per_s=%.0f seeds_per_s=%.1f sim_wall=%.1f p50_ms=%d p95_ms=%d",
		s.Name, s.Seeds, s.OK, s.Failed, s.Excused, all-len(s.MissedMarks()), all,
		fresh*float64(s.Events)/seconds, fresh*float64(s.Runs())/seconds,
		s.Simulated.Seconds()/max(s.Busy.Seconds(), 1e-9),
		s.Percentile(50).Milliseconds(), s.Percentile(95).Milliseconds())
}

// CounterLines prints the counters, sorted by name.
func (t *Totals) CounterLines() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(t.Counters)) {
		lines = append(lines, fmt.Sprintf("counter %s=%d", name, t.Counters[name]))
	}
	return lines
}
