package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stet/scenarios"
)

// width is what a line of the table may take.
const width = 100

const rowFormat = "%-3s %-31s %-18s %6s %6s  %-12s %s\n"

// printHead prints the head of the first part, one line a canary.
func printHead(w io.Writer) {
	fmt.Fprintf(w, rowFormat, "id", "canary", "scenario", "budget", "median", "campaigns", "calm")
}

// printRow prints what the campaigns of a canary took, and what is seen of it without faults: by
// the clients / by the checks of the node's state and medium.
func printRow(w io.Writer, r *row) {
	figures := make([]string, len(r.Seeds))
	for i, n := range r.Seeds {
		figures[i] = orDash(n)
	}
	fmt.Fprintf(w, rowFormat, r.ID, r.Name, strings.TrimPrefix(r.Scenario, "single-node-"),
		fmt.Sprint(r.Budget), orDash(r.Median), strings.Join(figures, " "),
		verdictOf(r.CalmClients, "ok")+" / "+verdictOf(r.CalmState, "ok"))
}

func orDash(n uint64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func verdictOf(list []scenarios.Check, none string) string {
	if len(list) == 0 {
		return none
	}
	text := make([]string, len(list))
	for i, c := range list {
		text[i] = string(c)
	}
	return strings.Join(text, " ")
}

// Columns of the matrix: the check, one for each canary, and how often the check failed alone.
const (
	checkWidth = 12
	cellWidth  = 6
	aloneWidth = 7
	perBlock   = (width - checkWidth - aloneWidth) / cellWidth
)

// printMatrix prints the second part: how many runs of each canary every check has failed. It is cut
// into blocks of as many canaries as a line takes; the last column is of all.
func printMatrix(w io.Writer, d *document) {
	all := allChecks(d.Canaries)
	fmt.Fprintf(w, "\nfailing runs of %d seeds, by check; in () it was not expected and claims nothing\n",
		d.MatrixSeeds)
	for block := range slices.Chunk(d.Canaries, perBlock) {
		printLine(w, "check", block, "alone", func(r *row) string { return r.ID })
		for _, check := range all {
			alone := 0
			for i := range d.Canaries {
				alone += d.Canaries[i].Alone[check]
			}
			printLine(w, string(check), block, fmt.Sprint(alone), func(r *row) string {
				return cell(check, r)
			})
		}
		printLine(w, "any", block, "", func(r *row) string { return fmt.Sprint(r.Failed) })
		printLine(w, "expected", block, "", func(r *row) string { return fmt.Sprint(r.Claimed) })
	}
}

func cell(check scenarios.Check, r *row) string {
	n := r.By[check]
	switch {
	case n == 0:
		return "."
	case slices.Contains(r.Expected, check):
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("(%d)", n)
}

func printLine(w io.Writer, head string, block []row, alone string, cell func(*row) string) {
	line := fmt.Sprintf("%-*s", checkWidth, head)
	for i := range block {
		line += fmt.Sprintf("%*s", cellWidth, cell(&block[i]))
	}
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s%*s", line, aloneWidth, alone), " "))
}

// printNotes prints what has to be known to read the table.
func printNotes(w io.Writer, d *document) {
	fmt.Fprintln(w, "\nmedian, campaigns: seeds until an expected check failed; - is not within the budget")
	fmt.Fprintf(w, "calm: what %d seeds without faults show: to clients (H P L) / of state and medium (S R)\n",
		calmSeeds)
	fmt.Fprintln(w, "alone: runs that no other check would have failed")
	for _, check := range allChecks(d.Canaries) {
		if ids := onlyKills(check, d.Canaries); ids != "" {
			printWrapped(w, fmt.Sprintf("without %s unseen in the matrix:%s", check, ids))
		}
	}
	printWrapped(w, "kill none of these: "+verdictOf(d.KillNothing, "-"))
	printIDs(w, d, "clients see it without faults, so it is no test of the faults:",
		func(r *row) bool { return len(r.CalmClients) > 0 })
	printIDs(w, d, "seen while the generator was written, so no evidence of what else it finds:",
		func(r *row) bool { return r.Seen })
	for _, r := range d.Canaries {
		if r.Note != "" {
			printWrapped(w, r.ID+": "+r.Note)
		}
	}
}

// printIDs prints a line about those canaries of which it is true, if there are any.
func printIDs(w io.Writer, d *document, text string, is func(*row) bool) {
	found := false
	for i := range d.Canaries {
		if is(&d.Canaries[i]) {
			text += " " + d.Canaries[i].ID
			found = true
		}
	}
	if found {
		printWrapped(w, text)
	}
}

// onlyKills lists the canaries of which no other check has seen anything.
func onlyKills(check scenarios.Check, rows []row) (ids string) {
	for i := range rows {
		if c, ok := rows[i].only(); ok && c == check {
			ids += " " + rows[i].ID
		}
	}
	return ids
}

func printWrapped(w io.Writer, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			fmt.Fprintln(w, line)
			line = "   "
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	fmt.Fprintln(w, line)
}
