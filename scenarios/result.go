package scenarios

import (
	"fmt"
	"time"

	"stet/scenarios/schedule"
	"stet/sim"
)

// Check is the id of what a run failed: of checks.md (H1, S6, ...), or one of the outcomes below.
type Check string

// Outcomes that are no check of a history or a state.
const (
	Passed         Check = ""
	Panic          Check = "panic" // a crash or an assertion of the code under test
	OutOfMemory    Check = "oom"
	Timeout        Check = "timeout"
	Nondeterminism Check = "nondeterminism"
	Nothing        Check = "nothing-acknowledged" // such a run tests nothing
	MarkMissed     Check = "mark"                 // of campaigns
)

// Exit codes of a run and of a campaign.
const (
	ExitOK             = 0
	ExitUsage          = 1
	ExitSafety         = 10
	ExitLiveness       = 11
	ExitCrash          = 12
	ExitNondeterminism = 13
	ExitMark           = 14
)

// ExitCode classifies a failed check.
func (c Check) ExitCode() int {
	switch c {
	case Passed:
		return ExitOK
	case Panic, OutOfMemory, Timeout:
		return ExitCrash
	case Nondeterminism:
		return ExitNondeterminism
	case MarkMissed:
		return ExitMark
	case Nothing:
		return ExitLiveness
	}
	if c[0] == 'L' {
		return ExitLiveness
	}
	return ExitSafety
}

// worse orders exit codes as a campaign reports them.
var worse = []int{ExitSafety, ExitCrash, ExitLiveness, ExitNondeterminism, ExitMark, ExitOK}

// Worst returns the exit code that a campaign with these outcomes ends with.
func Worst(codes []int) int {
	for _, w := range worse {
		for _, c := range codes {
			if c == w {
				return w
			}
		}
	}
	return ExitOK
}

// Result is the outcome of one run.
type Result struct {
	Scenario string
	Seed     uint64
	Check    Check    // what failed, or Passed
	Failed   []Check  // everything that failed, Check among it
	Evidence []string // lines that show why

	Events     int64 // of the simulation
	Operations int64 // of clients
	Acked      int64 // records acknowledged
	Faults     int64 // injected
	Excused    int64 // acknowledged records that the fault budget gave up
	Simulated  time.Duration
	Wall       time.Duration
	Hash       string // 32 hex digits

	// Counters are the run's own counts by name: faults that struck a request in flight, torn
	// tails, interrupted recoveries, and how often each check had something to check.
	Counters map[string]int64
	Marks    map[string]uint64 // coverage marks that were hit

	// Schedule is what happened, when Options.Record asks for it.
	Schedule *schedule.Schedule `json:"-"`
	// Missed lists the faults of a schedule whose moment never came.
	Missed []string `json:",omitempty"`
}

// CounterInFlight counts the faults of a run that struck while a producer's request was under way,
// or struck the frame of one.
const CounterInFlight = "faults.in_flight"

// Crashes counts the kills and power losses of the run, those during a recovery among them.
func (r *Result) Crashes() int64 {
	return r.Counters[faultCounter(sim.Killed)] + r.Counters[faultCounter(sim.PowerLost)]
}

// faultCounter is the name under which crashes of a cause are counted.
func faultCounter(c sim.Cause) string { return "faults." + c.String() }

// Line is the last line that a run prints.
func (r *Result) Line() string {
	outcome := "ok"
	if r.Check != Passed {
		outcome = "FAIL " + string(r.Check)
	}
	return fmt.Sprintf("%s scenario=%s seed=%#x events=%d ops=%d acked=%d faults=%d excused=%d "+
		"sim=%.3fs wall=%.3fs hash=%s", outcome, r.Scenario, r.Seed, r.Events, r.Operations,
		r.Acked, r.Faults, r.Excused, r.Simulated.Seconds(), r.Wall.Seconds(), r.Hash)
}
