package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Checker is one check of a history.
type Checker struct {
	ID    ID
	Name  string
	check func(*view, *Report, Options)
}

// Checkers lists the checks in the order in which Judge runs them.
func Checkers() []Checker {
	return []Checker{
		{LostWrite, "lost write", checkLostWrite},
		{InconsistentOffset, "inconsistent offset", checkInconsistentOffset},
		{StaleAcknowledgement, "stale acknowledgement", checkStaleAcknowledgement},
		{Duplicate, "duplicate", checkDuplicate},
		{AbortedRead, "aborted read", checkAbortedRead},
		{GarbageRead, "garbage read", checkGarbageRead},
		{AppendOrder, "append real-time order", checkAppendOrder},
		{SendOrder, "send order", checkSendOrder},
		{PollOrder, "poll order", checkPollOrder},
		{UncommittedRead, "uncommitted read", checkUncommittedRead},
		{FetchForm, "fetch well-formed", checkFetchForm},
		{OffsetListing, "list offsets", checkOffsetListing},
		{Unseen, "unseen", checkUnseen},
		{OffsetGuided, "offset-guided order", checkOffsetGuided},
		{PorcupineOrder, "Porcupine", checkPorcupine},
	}
}

// Options choose what Judge does.
type Options struct {
	// Without leaves checks out, to learn which bug has only one that sees it.
	Without []ID

	// PorcupineTimeout bounds each call of Porcupine in wall-clock time; 0 means ten seconds.
	// Running out of it is a violation, never a pass.
	PorcupineTimeout time.Duration
}

// Verdict is the judgement of one history.
type Verdict struct {
	// First is the id of the first failing check, in the order of Checkers; "" when all hold.
	First ID
	// Failed are the ids of all failing checks, in that order.
	Failed []ID
	// Reports has one entry for each check that ran, in that order.
	Reports []Report

	// Acknowledged counts the records under promise: of sends with acks=all that were answered ok.
	Acknowledged int64
	// ExcusedCount counts those among them that are gone and whose loss an Excuse covers, and
	// Excused splits the count by reason, sorted.
	ExcusedCount int64
	Excused      []Counter
}

// OK says whether every check held.
func (v *Verdict) OK() bool { return v.First == "" }

// Violations lists the violations that the reports kept.
func (v *Verdict) Violations() []Violation {
	var out []Violation
	for _, r := range v.Reports {
		out = append(out, r.Violations...)
	}
	return out
}

// Evidence gives the violations as lines of text, as a failed run prints them.
func (v *Verdict) Evidence() []string {
	var out []string
	for _, violation := range v.Violations() {
		out = append(out, strings.Split(violation.String(), "\n")...)
	}
	return out
}

// Vacuous lists the checks whose antecedent was never true in this history. A campaign must not
// have one that is vacuous in all its runs.
func (v *Verdict) Vacuous() []ID {
	var out []ID
	for _, r := range v.Reports {
		if r.Checked == 0 {
			out = append(out, r.Check)
		}
	}
	return out
}

// Counters lists all counters of the checks as ID.name, to be summed over a campaign.
func (v *Verdict) Counters() []Counter {
	var out []Counter
	for _, r := range v.Reports {
		for _, c := range r.Counters {
			out = append(out, Counter{fmt.Sprintf("%s.%s", r.Check, c.Name), c.Count})
		}
	}
	return out
}

// Judge runs every check over the history. It does not change the history.
func Judge(h *History, options Options) Verdict {
	if options.PorcupineTimeout == 0 {
		options.PorcupineTimeout = 10 * time.Second
	}
	if err := h.Validate(); err != nil {
		return malformed(err)
	}
	v, verdict := newView(h), Verdict{}
	for _, c := range Checkers() {
		if slices.Contains(options.Without, c.ID) {
			continue
		}
		report := Report{Check: c.ID}
		c.check(v, &report, options)
		if report.Broken > 0 {
			verdict.Failed = append(verdict.Failed, c.ID)
		}
		verdict.Reports = append(verdict.Reports, report)
	}
	if len(verdict.Failed) > 0 {
		verdict.First = verdict.Failed[0]
	}
	verdict.Acknowledged, verdict.Excused = v.acknowledged, v.excusedByReason()
	for _, c := range verdict.Excused {
		verdict.ExcusedCount += c.Count
	}
	return verdict
}

func malformed(err error) Verdict {
	report := Report{Check: Malformed, Checked: 1}
	report.broken(Partition{}, err.Error())
	return Verdict{First: Malformed, Failed: []ID{Malformed}, Reports: []Report{report}}
}
