package metadata

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Verdict is what came of a history.
type Verdict struct {
	Violations []string // each names the operation, none if the history is linearizable
	counts     map[string]int64
}

// Count is how often something was there to be judged.
type Count struct {
	Name  string
	Count int64
}

// Counts lists the counts by name: "changes", "observations", "porcupine", and "resolved.ok" and
// "resolved.unknown", the changes of the log that belong to operations of that outcome.
func (v *Verdict) Counts() (out []Count) {
	for _, name := range slices.Sorted(maps.Keys(v.counts)) {
		out = append(out, Count{name, v.counts[name]})
	}
	return out
}

// judge is one judgement under way.
type judge struct{ Verdict }

func (j *judge) fails(format string, args ...any) {
	j.Violations = append(j.Violations, fmt.Sprintf(format, args...))
}

func (j *judge) count(name string, n int64) { j.counts[name] += n }

// porcupineTimeout is for each resource, in real time.
const porcupineTimeout = 10 * time.Second

// Judge judges a history. What the log itself contradicts is not given to Porcupine any more.
func Judge(h *History) *Verdict {
	j := &judge{Verdict{counts: map[string]int64{}}}
	all := j.resolve(h)
	sound := len(j.Violations) == 0
	for _, r := range all {
		j.guided(r)
		if sound {
			j.porcupine(r, porcupineTimeout)
		}
	}
	return &j.Verdict
}
