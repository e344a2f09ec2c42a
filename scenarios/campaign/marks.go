package campaign

import (
	"fmt"
	"strings"

	"stet/core/invariant"
)

// MarkTable prints which coverage marks the runs of each scenario have reached, and in how many:
//
//	marks  disk-faults  single-node-kill
//	               50               50  runs
//	               37               50  a segment is rolled
func (s *Summary) MarkTable() []string {
	head, runs := "marks", strings.Repeat(" ", len("marks"))
	for _, t := range s.Scenarios {
		head += "  " + t.Scenario
		runs += fmt.Sprintf("  %*d", len(t.Scenario), t.Runs())
	}
	lines := []string{head, runs + "  runs"}
	for _, mark := range invariant.Marks() {
		line := strings.Repeat(" ", len("marks"))
		for _, t := range s.Scenarios {
			line += fmt.Sprintf("  %*d", len(t.Scenario), t.Marks[mark.Name])
		}
		lines = append(lines, line+"  "+mark.Name)
	}
	return lines
}
