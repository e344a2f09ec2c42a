package main

import (
	"fmt"
	"io"
	"strings"
)

// width is what a line of the report may take.
const width = 100

// print prints the report.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%d of %d mutants, drawn with seed %d; %d seeds of each scenario; %d more did not "+
		"compile\n\n", r.Mutants, r.Asked, r.Seed, r.Seeds, r.NoBuild)
	const format = "%-16s %6v %6v %8v %10v %6v | %9v %6v %9v %11v\n"
	fmt.Fprintf(w, format, "package", "lines", "sites", "mutants", "simulator", "tests",
		"unreached", "blind", "unjudged", "equivalent")
	for _, p := range append(r.Packages, r.All) {
		fmt.Fprintf(w, format, p.Package, p.Lines, p.Sites, p.Mutants, p.Simulator, p.Tests,
			p.Unreached, p.Blind, p.Unjudged, p.Equivalent)
	}
	fmt.Fprintln(w, "\nsimulator, tests: killed by the first, or else the second; right: survived both")
	if len(r.Runs) > 0 {
		fmt.Fprintf(w, "runs until the simulator killed: median %d, worst %d\n",
			r.Runs[len(r.Runs)/2], r.Runs[len(r.Runs)-1])
	}
	line := "first to kill:"
	for _, k := range r.Killers {
		line += fmt.Sprintf(" %s %d", k.Name, k.N)
	}
	wrap(w, line)
	list(w, "survived", r.Survivors)
	list(w, "seen by unit tests only", r.TestsOnly)
	if len(r.Wrong) > 0 {
		fmt.Fprintln(w)
		wrap(w, "killed, so not equivalent: "+strings.Join(r.Wrong, " "))
	}
	fmt.Fprintf(w, "\nmutants: n=%d simulator=%d%% tests=%d survived=%d unreached=%d blind=%d unjudged=%d "+
		"equivalent=%d\n", r.Mutants, r.Score, r.All.Tests, len(r.Survivors), r.All.Unreached,
		r.All.Blind, r.All.Unjudged, r.All.Equivalent)
}

// list prints mutants that the simulator missed, by class.
func list(w io.Writer, title string, entries []entry) {
	last := class("")
	for _, e := range entries {
		if e.Class != last {
			fmt.Fprintf(w, "\n%s, %s\n", title, e.Class)
			last = e.Class
		}
		fmt.Fprintf(w, "%s %s:%d %s\n", e.ID, e.File, e.Line, e.Function)
		fmt.Fprintf(w, "    %s\n -> %s\n", orNothing(e.Original), orNothing(e.Mutated))
		if e.Reason != "" {
			wrap(w, "    "+e.Reason)
		}
		if e.By != "" {
			fmt.Fprintf(w, "    by %s\n", e.By)
		}
	}
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return oneLine(text)
}

// wrap prints words in lines that fit, the later ones indented.
func wrap(w io.Writer, text string) {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent {
			fmt.Fprintln(w, line)
			indent = "    "
			line = indent
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
