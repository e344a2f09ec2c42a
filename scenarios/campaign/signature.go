package campaign

import (
	"regexp"
	"strings"

	"stet/scenarios"
)

// Signature says what a failed run looks like without what differs from seed to seed: the first
// line of evidence of its check, with numbers, offsets, hashes and partitions taken out, and for a
// panic the function of ours that it came from.
func Signature(r *scenarios.Result) string {
	evidence := firstEvidence(r)
	text, rest, _ := strings.Cut(evidence, "\n")
	signature := normalise(text)
	if where := origin(rest); where != "" {
		signature += " in " + where
	}
	return signature
}

// firstEvidence is the first evidence of the check that the run is reported with; else the first
// of any.
func firstEvidence(r *scenarios.Result) string {
	for _, e := range r.Evidence {
		if text, ok := strings.CutPrefix(e, string(r.Check)+": "); ok {
			return text
		}
	}
	if len(r.Evidence) > 0 {
		return r.Evidence[0]
	}
	return ""
}

// What is taken out, in this order.
var variable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`"[^"]*"`), `"…"`},                               // names and values
	{regexp.MustCompile(`([a-z])-\d+\b`), "$1-#"},                        // partitions
	{regexp.MustCompile(`\b(0x)?[0-9a-f]{8,}\b`), "#"},                   // hashes; no word has 8 such letters
	{regexp.MustCompile(`\b0x[0-9a-fA-F]+\b`), "#"},                      // seeds, addresses
	{regexp.MustCompile(`-?\b(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+\b`), "#"}, // durations
	{regexp.MustCompile(`-?\d+(\.\d+)?`), "#"},                           // counts, offsets
	{regexp.MustCompile(`#([#.:,/ -]*#)+`), "#"},                         // lists and ranges, however long
}

func normalise(text string) string {
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return strings.Join(strings.Fields(text), " ")
}

// origin finds the first function in a stack that is of the code under test, and not one of those
// that every failure passes through.
func origin(stack string) string {
	for line := range strings.Lines(stack) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "(0x")
		if !ok {
			name, _, ok = strings.Cut(strings.TrimSpace(line), "(...")
		}
		if !ok || !strings.HasPrefix(name, "stet/") || strings.HasPrefix(name, "stet/core/invariant.") ||
			strings.HasPrefix(name, "stet/scenarios") {
			continue
		}
		return strings.TrimRight(name, "(")
	}
	return ""
}
