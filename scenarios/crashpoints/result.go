package crashpoints

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Result is what an enumeration did and found.
type Result struct {
	Script, Mode string
	Ops          int // disk operations in the window
	Points       int // of those, how many were struck at every one of their moments
	Crashes      int // runs that ended in a crash: operations times moments
	Outcomes     int // of power losses that followed a crash
	Cut          int64
	Distinct     int // different disks that were tried
	Recoveries   int // recoveries that were interrupted, at one of their operations
	Violations   []string
}

// add adds what another part of the same enumeration did.
func (r *Result) add(other *Result) {
	r.Ops += other.Ops
	r.Points += other.Points
	r.Crashes += other.Crashes
	r.Outcomes += other.Outcomes
	r.Cut = addCut(r.Cut, other.Cut)
	r.Distinct += other.Distinct
	r.Recoveries += other.Recoveries
	r.Violations = append(r.Violations, other.Violations...)
}

// Sum adds up results, those of the same script and mode into one, in the order of their first.
func Sum(results []*Result) (rows []*Result, total *Result) {
	total = &Result{}
	for _, r := range results {
		if n := len(rows); n == 0 || rows[n-1].Script != r.Script || rows[n-1].Mode != r.Mode {
			rows = append(rows, &Result{Script: r.Script, Mode: r.Mode})
		}
		rows[len(rows)-1].add(r)
		total.add(r)
	}
	return rows, total
}

// OK says whether all was enumerated, and nothing found.
func (r *Result) OK() bool { return len(r.Violations) == 0 && r.Points == r.Ops && r.Ops > 0 }

// Table prints rows.
func Table(rows []*Result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "script\tmode\tdisk ops\tcrash points\tcrashes\tpower losses\tcut\tdisks judged\t"+
		"recoveries crashed\tviolations\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t\n", r.Script, r.Mode, r.Ops, r.Points,
			r.Crashes, r.Outcomes, r.cut(), r.Distinct, r.Recoveries, len(r.Violations))
	}
	w.Flush()
	return b.String()
}

// Line is the one line for everything.
func (r *Result) Line() string {
	verdict := "ok"
	if !r.OK() {
		verdict = "FAIL"
	}
	return fmt.Sprintf("%s ops=%d points=%d crashes=%d outcomes=%d cut=%s disks=%d recoveries=%d violations=%d",
		verdict, r.Ops, r.Points, r.Crashes, r.Outcomes, r.cut(), r.Distinct, r.Recoveries, len(r.Violations))
}

func (r *Result) cut() string {
	if r.Cut >= manyOutcomes {
		return ">10^12"
	}
	return fmt.Sprint(r.Cut)
}
