package sim

import (
	"fmt"
	"strings"
)

// Fault is a fault that was injected, told by its meaning: it can be found again in another run,
// or in another version of the code, without the random numbers that led to it.
type Fault struct {
	At      Time
	Place   Place
	What    string // the kind of fault
	Target  string // a file, a connection, a clock
	Op      string // the operation that it struck
	Ordinal int    // the how-manieth Op on Target it was, from 1
	Detail  string
}

// String gives "eio n1: sync 2 of orders-0/00000000000000000000.log (detail)".
func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:", f.What, f.Place)
	if f.Op != "" {
		fmt.Fprintf(&b, " %s %d of", f.Op, f.Ordinal)
	}
	fmt.Fprintf(&b, " %s", f.Target)
	if f.Detail != "" {
		fmt.Fprintf(&b, " (%s)", f.Detail)
	}
	return b.String()
}

// FaultLog collects every fault of a run in the order of injection.
type FaultLog struct {
	trace  *Trace
	faults []Fault
}

// NewFaultLog returns an empty log that also records into trace.
func NewFaultLog(trace *Trace) *FaultLog { return &FaultLog{trace: trace} }

// Add records a fault.
func (l *FaultLog) Add(f Fault) {
	l.faults = append(l.faults, f)
	l.trace.Record(Record{Place: f.Place, Kind: KindFault, What: f.What, Detail: f.String()})
}

// Faults returns all faults so far. The slice is the log's.
func (l *FaultLog) Faults() []Fault { return l.faults }

// Count returns how many faults of a kind were injected.
func (l *FaultLog) Count(what string) (n int) {
	for i := range l.faults {
		if l.faults[i].What == what {
			n++
		}
	}
	return n
}
