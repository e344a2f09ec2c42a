package linearizability

import (
	"fmt"
	"slices"
	"strings"
)

// ID names a check as checks.md does. Where a check of that page is done by two independent
// checkers, or a part of one has a checker of its own, the id has a suffix.
type ID string

// The checks of this package, in the order in which a verdict names the first failing one.
const (
	LostWrite            ID = "H1"
	InconsistentOffset   ID = "H2"
	StaleAcknowledgement ID = "H2-ack"
	Duplicate            ID = "H3"
	AbortedRead          ID = "H4"
	GarbageRead          ID = "H5"
	AppendOrder          ID = "H6"
	SendOrder            ID = "H7"
	PollOrder            ID = "H8"
	UncommittedRead      ID = "H9"
	FetchForm            ID = "H10"
	OffsetListing        ID = "H11"
	Unseen               ID = "H12"
	OffsetGuided         ID = "A4"
	PorcupineOrder       ID = "A4-porcupine"

	// Malformed is what a verdict says of a history that breaks the conventions: a fault of the
	// recorder, so nothing can be concluded of the system.
	Malformed ID = "history"
)

// Violation is one broken promise, with the observations that show it.
type Violation struct {
	Check     ID
	Partition Partition
	What      string
	Evidence  []string // one observation a line
}

// String gives the violation as indented lines.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", v.Check, v.Partition, v.What)
	for _, line := range v.Evidence {
		b.WriteString("\n    " + line)
	}
	return b.String()
}

// Counter says how often something happened that a check depends on.
type Counter struct {
	Name  string
	Count int64
}

// maxViolations bounds how many violations of one check are kept; all are counted.
const maxViolations = 20

// Report collects what one checker found.
type Report struct {
	Check      ID
	Violations []Violation // the first maxViolations
	Broken     int64       // all of them

	// Checked counts how often the antecedent of the check was true. A run with a zero here has
	// not tested the check at all (X3).
	Checked int64

	// Counters are the parts of Checked, and other facts worth a number, in a fixed order.
	Counters []Counter
}

// checked adds to the antecedents, as a whole and of the named part.
func (r *Report) checked(part string, n int64) {
	r.Checked += n
	r.count(part, n)
}

// count adds to a counter that is not an antecedent.
func (r *Report) count(name string, n int64) {
	i := slices.IndexFunc(r.Counters, func(c Counter) bool { return c.Name == name })
	if i < 0 {
		r.Counters = append(r.Counters, Counter{name, 0})
		i = len(r.Counters) - 1
	}
	r.Counters[i].Count += n
}

// broken records a violation.
func (r *Report) broken(p Partition, what string, evidence ...string) {
	r.Broken++
	if len(r.Violations) < maxViolations {
		r.Violations = append(r.Violations, Violation{r.Check, p, what, evidence})
	}
}
