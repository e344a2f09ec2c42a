package story

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stet/scenarios"
	"stet/scenarios/schedule"
	"stet/sim"
)

// Bounds of the page, in lines.
const (
	maxLines    = 34
	maxEvidence = 8
	maxSettings = 10
	maxWidth    = 150
)

// head says what the schedule is.
func head(w io.Writer, s *schedule.Schedule, r *scenarios.Result) {
	description := ""
	if scenario, _ := scenarios.Find(s.Scenario); scenario != nil {
		description = ": " + scenario.Description
	}
	fmt.Fprintf(w, "%s fails in scenario %s%s.\n", r.Check, s.Scenario, description)
	if s.Canaries != "" {
		fmt.Fprintf(w, "Put back on purpose: %s.\n", s.Canaries)
	}
	fmt.Fprintf(w, "%s, %s, %s, %s, %s.\n", count(int(s.Topic.Partitions), "partition"),
		count(len(s.Producers), "producer"), count(s.SendCount(), "send"),
		count(len(s.Consumers)+len(s.Listers), "reader"), count(len(s.Faults), "fault"))
	if len(s.Tapes) == 0 {
		fmt.Fprintln(w, "Everything takes as long as it usually does.")
	} else {
		var streams []string
		for _, t := range s.Tapes {
			streams = append(streams, t.Stream)
		}
		fmt.Fprintf(w, "The timing matters of: %s.\n", clip(strings.Join(streams, ", ")))
	}
	settings(w, s)
	for i := range s.Producers {
		p := &s.Producers[i]
		fmt.Fprintf(w, "p%d: acks=%d, idempotent %v, %d in flight.\n", p.ID, p.Acks, p.Idempotent, p.InFlight)
	}
}

// settings lists those of the node and the world that are not as always.
func settings(w io.Writer, s *schedule.Schedule) {
	only := schedule.Schedule{Node: s.Node, World: s.World}
	var list []string
	for text := range strings.Lines(only.String()) {
		if kind, setting, _ := strings.Cut(strings.TrimSpace(text), " "); kind == "node" || kind == "world" {
			list = append(list, setting)
		}
	}
	if len(list) > maxSettings {
		list = append(list[:maxSettings], fmt.Sprintf("and %d more", len(list)-maxSettings))
	}
	for _, setting := range list {
		fmt.Fprintln(w, "It takes", setting)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func clip(text string) string {
	if runes := []rune(text); len(runes) > maxWidth {
		return string(runes[:maxWidth-1]) + "…"
	}
	return text
}

// printLines prints the story, on at most maxLines lines: those that weigh most, and of the same
// weight the last, since they are nearest to the failure.
func printLines(w io.Writer, lines []line) {
	weigh(lines)
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if lines[a].weight != lines[b].weight {
			return lines[b].weight - lines[a].weight
		}
		return b - a
	})
	n := min(len(order), maxLines)
	kept := chosen(order, n)
	for ; n > 1 && n+gaps(kept, len(lines)) > maxLines; n-- {
		kept = chosen(order, n-1)
	}
	next := 0
	gap := func(to int) {
		switch {
		case to == next+1: // the line itself takes no more room
			fmt.Fprintf(w, "%12s  %s\n", moment(lines[next].at), clip(lines[next].text))
		case to > next:
			fmt.Fprintf(w, "%12s  (%s left out)\n", "…", count(to-next, "line"))
		}
	}
	for _, i := range kept {
		gap(i)
		fmt.Fprintf(w, "%12s  %s\n", moment(lines[i].at), clip(lines[i].text))
		next = i + 1
	}
	gap(len(lines))
}

// chosen gives the first n of order, ascending.
func chosen(order []int, n int) []int {
	kept := slices.Clone(order[:n])
	slices.Sort(kept)
	return kept
}

// gaps counts where lines are left out.
func gaps(kept []int, total int) (n int) {
	next := 0
	for _, i := range append(slices.Clone(kept), total) {
		if i > next {
			n++
		}
		next = i + 1
	}
	return n
}

// weigh has lines count for more beside a fault and at the end, and for less the third time.
func weigh(lines []line) {
	const near, bonus = 4, 5
	seen := map[string]int{}
	for i := range lines {
		l := &lines[i]
		if seen[l.text]++; seen[l.text] > 2 && l.weight < always {
			l.weight = aside
		}
	}
	before := make([]int, len(lines))
	for i := range lines {
		before[i] = lines[i].weight
	}
	for i := range lines {
		close := i >= len(lines)-2*near
		for j := max(0, i-near); j < min(len(lines), i+near+1); j++ {
			close = close || before[j] == always && before[i] > aside
		}
		if close && before[i] < always {
			lines[i].weight += bonus
		}
	}
}

// moment gives milliseconds.
func moment(t sim.Time) string {
	return fmt.Sprintf("%d.%03d ms", t/sim.Millisecond, t%sim.Millisecond/sim.Microsecond)
}

// verdict says what the check says.
func verdict(w io.Writer, r *scenarios.Result, now sim.Time) {
	fmt.Fprintf(w, "At %s the run ends. %s says:\n", moment(now), r.Check)
	var evidence []string
	own := string(r.Check) + ": "
	for _, first := range []bool{true, false} { // its own evidence before that of other checks
		for _, e := range r.Evidence {
			if strings.HasPrefix(e, own) == first {
				evidence = append(evidence, strings.Split(strings.TrimRight(e, "\n"), "\n")...)
			}
		}
	}
	for i, e := range evidence {
		if i == maxEvidence {
			fmt.Fprintf(w, "  (%s left out)\n", count(len(evidence)-i, "line"))
			break
		}
		fmt.Fprintf(w, "  %s\n", clip(e))
	}
}
