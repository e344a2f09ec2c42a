package main

import (
	"fmt"
	"os"
	"strings"
)

// opinion is what somebody who read the code says of a survivor.
type opinion string

const (
	equivalent opinion = "equivalent" // no run can tell the mutant from the original
	blindSpot  opinion = "blind"      // one could, and no check looks, or no generator goes there
	unjudged   opinion = ""
)

// verdict is a line of the file of verdicts.
type verdict struct {
	opinion opinion
	reason  string
}

// verdictsFile is where they are kept, in the module.
const verdictsFile = "scenarios/mutants/verdicts.txt"

// readVerdicts reads lines of an id, an opinion and a reason; blank ones and # are skipped. A
// verdict belongs to a function's text: when that changes, so does the id.
func readVerdicts(path string) (map[string]verdict, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("verdicts: %w", err)
	}
	out := map[string]verdict{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		word, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		v := verdict{opinion(word), strings.TrimSpace(reason)}
		if v.opinion != equivalent && v.opinion != blindSpot || v.reason == "" {
			return nil, fmt.Errorf("verdicts: line %d: give an id, %s or %s, and a reason", n,
				equivalent, blindSpot)
		}
		if _, ok := out[id]; ok {
			return nil, fmt.Errorf("verdicts: line %d: %s has one", n, id)
		}
		out[id] = v
	}
	return out, nil
}
