package scenarios

import (
	"fmt"
	"slices"
)

// findings collects what checks find in a run.
type findings struct {
	counters counters
	failed   []Check // in the order of finding, each once
	evidence []string
}

// maxEvidence bounds the lines that are kept.
const maxEvidence = 40

// fails records a violation.
func (f *findings) fails(c Check, format string, args ...any) {
	if !slices.Contains(f.failed, c) {
		f.failed = append(f.failed, c)
	}
	if len(f.evidence) < maxEvidence {
		f.evidence = append(f.evidence, string(c)+": "+fmt.Sprintf(format, args...))
	}
}

// checked counts that the antecedent of a check was true.
func (f *findings) checked(c Check) { f.counters["checked."+string(c)]++ }

// worst returns the failed check that a run is reported with: safety before liveness.
func (f *findings) worst() Check {
	if len(f.failed) == 0 {
		return Passed
	}
	codes := make([]int, len(f.failed))
	for i, c := range f.failed {
		codes[i] = c.ExitCode()
	}
	return f.failed[slices.Index(codes, Worst(codes))]
}
