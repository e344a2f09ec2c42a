package scenarios

import "slices"

// Floors are what many seeds of a scenario have to reach together. One run cannot be held to them:
// each draws its own mix of faults. A campaign that misses one has tested too little, whatever its
// runs have found. What one run must reach is minOperations and minEvents.
type Floors struct {
	CrashPercent    int64 // of the runs, at least, have a crash; 0 if crashes are not the point
	InFlightPercent int64 // of the runs, at least, have a fault that strikes a request in flight
	ExcusedPercent  int64 // of the acknowledged records, at most, are excused
	// Antecedents are counters that may not be zero: how often a check had something to check, or how
	// often that had happened which it is there for.
	Antecedents []string
	// Rare are antecedents that fewer than one run in five has, so that it takes more runs to miss
	// them.
	Rare []string
}

// What crash scenarios have to reach, and how much faults may take that may take anything.
const (
	crashPercent    = 90
	inFlightPercent = 50
	excusedPercent  = 5
)

// Undecided counts the runs of which a check could not say whether they are right: Q9, if Porcupine's
// search did not end. Of all runs of a scenario there may be UndecidedPercent.
const (
	Undecided        = "runs.undecided"
	UndecidedPercent = 1
)

// antecedents are those of the checks that every scenario has something for, and more.
func antecedents(more ...string) []string {
	return slices.Concat([]string{
		"checked.A4", "checked.A4-porcupine", "checked.H1", "checked.H2", "checked.H2-ack",
		"checked.H3", "checked.H5", "checked.H6", "checked.H7", "checked.H8", "checked.H9",
		"checked.H10", "checked.H11", "checked.H12", "checked.L1", "checked.L8", "checked.L9", "checked.M2", "checked.Q9",
		"checked.P1", "checked.P2", "checked.P3", "checked.P4", "checked.R5", "checked.R9", "checked.R10",
		"checked.R11", "checked.R12", "checked.S1", "checked.S2", "checked.S3", "checked.S4",
		"checked.S5", "checked.S7", "checked.S8",
		"client.attempts.lost", "client.polls.with_records", "history.H11.by-time",
		"history.H11.max-timestamp", "history.H7.between-sends", "history.H8.between-polls",
	}, more)
}
