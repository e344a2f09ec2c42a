// Package tamper damages histories on purpose, each kind of damage at a random place, and says
// which checks must see it. It is how the checkers are tested, and it works on any legal history:
// of the model (package legal), of a simulated run, of a live cluster.
package tamper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	lin "stet/linearizability"
)

// Kind is a kind of tampering.
type Kind struct {
	Name string
	What string
	// Scope are the checks that must reject every history with this damage. Others may.
	Scope []lin.ID

	apply func(*editor) bool
}

// Apply gives a damaged copy of a history, or false when the history has no place for the damage.
func (k Kind) Apply(h *lin.History, random *rand.Rand) (*lin.History, bool) {
	e := newEditor(h, random)
	if !k.apply(e) {
		return nil, false
	}
	return e.history, true
}

// Kinds lists the kinds of tampering and the checks in whose scope each is.
func Kinds() []Kind {
	return []Kind{
		{
			"lost", "an acknowledged record is gone from the log and from what it serves",
			ids("H1 H12"), lost,
		},
		{
			"lost-tail", "the log ends before an acknowledged record",
			ids("H1 H12"), lostTail,
		},
		{
			"unseen", "the log has a record and does not serve it",
			ids("H12"), unseen,
		},
		{
			"excuse-withdrawn", "a loss has no excuse",
			ids("H1"), excuseWithdrawn,
		},
		{
			"deletion-withdrawn", "the log start moved, and nobody moved it",
			ids("H1 H12"), deletionWithdrawn,
		},

		{
			"duplicated", "a record stands a second time at the end of the log",
			ids("H3"), duplicated,
		},
		{
			"swapped", "two appends stand in the wrong order, consistently for everybody",
			ids("H6 A4 A4-porcupine"), swapped,
		},
		{
			"swapped-in-session", "two appends of one session stand in the wrong order for everybody",
			ids("H7"), swappedInSession,
		},
		{
			"swapped-in-log", "two records of one batch stand in the wrong order in the log",
			ids("H1 H2 H2-ack H7"), swappedInLog,
		},
		{
			"moved", "a record stands at another offset than was acknowledged",
			ids("H1 H2-ack"), moved,
		},
		{
			"moved-after-read", "a record that was read stands at another offset at the end",
			ids("H1 H3"), movedAfterRead,
		},
		{
			"moved-across", "a record stands in another partition",
			ids("H1 H5 H12"), movedAcross,
		},

		{
			"garbage", "the log holds a value that nobody sent",
			ids("H1 H2 H2-ack H5 H12"), garbage,
		},
		{
			"garbage-in-poll", "one poll shows a value that nobody sent",
			ids("H2 H2-ack H5"), garbageInPoll,
		},
		{
			"stale-acknowledgement", "an acknowledgement names the offset of another record",
			ids("H1 H2 H2-ack"), staleAcknowledgement,
		},
		{
			"failed-visible", "a record that was refused is in the log",
			ids("H4"), failedVisible,
		},

		{
			"read-ahead", "a poll shows more than is committed",
			ids("H9 H10"), readAhead,
		},
		{
			"read-before-send", "a poll returned before a record that it shows was sent",
			ids("H5 A4 A4-porcupine"), readBeforeSend,
		},
		{
			"poll-skips", "a poll leaves a record out",
			ids("H8"), pollSkips,
		},
		{
			"poll-skips-between", "a consumer passes over a record between two polls",
			ids("H8"), pollSkipsBetween,
		},
		{
			"poll-repeats", "a poll shows two records in the wrong order",
			ids("H8 H10"), pollRepeats,
		},
		{
			"batch-corrupt", "a fetch delivers a corrupt batch",
			ids("H10"), batchCorrupt,
		},

		{
			"latest-too-low", "latest is below an acknowledged offset",
			ids("H11 A4"), latestTooLow,
		},
		{
			"latest-too-high", "latest is above the true end",
			ids("H11"), latestTooHigh,
		},
		{
			"earliest-too-high", "earliest is above the true log start",
			ids("H11"), earliestTooHigh,
		},
		{
			"time-too-late", "a query by time passes over the first record",
			ids("H11"), timeTooLate,
		},
		{
			"time-none", "a query by time finds nothing, though there is a record",
			ids("H11"), timeNone,
		},
	}
}

func ids(names string) []lin.ID {
	var out []lin.ID
	for _, name := range strings.Fields(names) {
		out = append(out, lin.ID(name))
	}
	return out
}

// Matrix prints how many histories each check rejected, by kind of tampering. A count in brackets
// is in the scope of the check, and must be all of them.
type Matrix struct {
	rows []matrixRow
}

type matrixRow struct {
	kind     Kind
	applied  int
	rejected map[lin.ID]int
}

// Add counts a verdict on a damaged history.
func (m *Matrix) Add(kind Kind, verdict lin.Verdict) {
	at := slices.IndexFunc(m.rows, func(r matrixRow) bool { return r.kind.Name == kind.Name })
	if at < 0 {
		at = len(m.rows)
		m.rows = append(m.rows, matrixRow{kind: kind, rejected: map[lin.ID]int{}})
	}
	m.rows[at].applied++
	for _, id := range verdict.Failed {
		m.rows[at].rejected[id]++
	}
}

// Misses lists the cells in scope that are not full, one line each.
func (m *Matrix) Misses() []string {
	var out []string
	for _, row := range m.rows {
		for _, id := range row.kind.Scope {
			if row.rejected[id] != row.applied {
				out = append(out, fmt.Sprintf("%s: %s rejected %d of %d", row.kind.Name, id,
					row.rejected[id], row.applied))
			}
		}
	}
	return out
}

// String gives the table.
func (m *Matrix) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %9s", "tampering", "histories")
	for _, c := range lin.Checkers() {
		fmt.Fprintf(&b, " %*s", cellWidth(c.ID), c.ID)
	}
	for _, row := range m.rows {
		fmt.Fprintf(&b, "\n%-22s %9d", row.kind.Name, row.applied)
		for _, c := range lin.Checkers() {
			fmt.Fprintf(&b, " %*s", cellWidth(c.ID), row.cell(c.ID))
		}
	}
	return b.String() + "\n"
}

func cellWidth(id lin.ID) int { return max(6, len(id)) }

func (r matrixRow) cell(id lin.ID) string {
	switch n := r.rejected[id]; {
	case slices.Contains(r.kind.Scope, id):
		return fmt.Sprintf("[%d]", n)
	case n > 0:
		return fmt.Sprint(n)
	}
	return "."
}
