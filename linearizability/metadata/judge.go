package metadata

import (
	"fmt"
	"maps"
	"slices"
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

// Counts lists the counts by name: "changes", "observations", "porcupine" (operations that it was given) in
// so many "pieces", and "resolved.ok" and "resolved.unknown", the changes of the log that belong to
// operations of that outcome. "undecided" are the resources of which Porcupine's search did not end.
func (v *Verdict) Counts() (out []Count) {
	for _, name := range slices.Sorted(maps.Keys(v.counts)) {
		out = append(out, Count{name, v.counts[name]})
	}
	return out
}

// Undecided says whether Porcupine's search did not end for some resource: neither a violation nor
// Porcupine's consent.
func (v *Verdict) Undecided() bool { return v.counts["undecided"] > 0 }

// judge is one judgement under way.
type judge struct{ Verdict }

func (j *judge) fails(format string, args ...any) {
	j.Violations = append(j.Violations, fmt.Sprintf(format, args...))
}

func (j *judge) count(name string, n int64) { j.counts[name] += n }

// Judge judges a history. What the log itself contradicts is not given to Porcupine any more.
func Judge(h *History) *Verdict {
	j := &judge{Verdict{counts: map[string]int64{}}}
	all := j.resolve(h)
	sound := len(j.Violations) == 0
	for _, r := range all {
		j.guided(r)
		if sound {
			j.porcupine(r, porcupineSteps)
		}
	}
	return &j.Verdict
}
