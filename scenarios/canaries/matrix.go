package main

import (
	"cmp"
	"slices"
	"strings"

	"stet/scenarios"
)

// tally counts, over a fixed number of seeds with one canary put back, the runs that failed.
type tally struct {
	Failed  int                     `json:"failed"`  // runs
	Claimed int                     `json:"claimed"` // runs in which an expected check failed
	By      map[scenarios.Check]int `json:"by"`      // runs in which the check failed
	Alone   map[scenarios.Check]int `json:"alone"`   // runs in which no other check failed
}

func newTally(c *canary, failures []*scenarios.Result) tally {
	t := tally{By: map[scenarios.Check]int{}, Alone: map[scenarios.Check]int{}}
	for _, r := range failures {
		t.Failed++
		if claims(c, r) {
			t.Claimed++
		}
		all := failed(r)
		for _, check := range all {
			t.By[check]++
		}
		if len(all) == 1 {
			t.Alone[all[0]]++
		}
	}
	return t
}

// only returns the check without which the canary would not have been seen at all: the only one
// that failed in any of the runs.
func (t *tally) only() (scenarios.Check, bool) {
	for check, n := range t.Alone {
		if n == t.Failed {
			return check, true
		}
	}
	return "", false
}

// allChecks returns every check that has failed anywhere, sorted.
func allChecks(rows []row) []scenarios.Check {
	var all []scenarios.Check
	for i := range rows {
		for check := range rows[i].By {
			all = append(all, check)
		}
	}
	return sorted(all)
}

// idle returns those of the checks made that have failed no run of any canary.
func idle(made []scenarios.Check, rows []row) []scenarios.Check {
	all := allChecks(rows)
	return slices.DeleteFunc(slices.Clone(made), func(c scenarios.Check) bool {
		return slices.Contains(all, c)
	})
}

// compareChecks orders by family, then number, then the rest: H2, H2-ack, H10. What is no check of
// a history or a state comes last.
func compareChecks(a, b scenarios.Check) int {
	familyA, numberA := parts(a)
	familyB, numberB := parts(b)
	return cmp.Or(cmp.Compare(len(familyA), len(familyB)), cmp.Compare(familyA, familyB),
		cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

// parts splits a check into its letters and its number.
func parts(c scenarios.Check) (family string, number int) {
	text := string(c)
	at := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if at < 0 {
		return text, 0
	}
	for _, r := range text[at:] {
		if r < '0' || r > '9' {
			break
		}
		number = number*10 + int(r-'0')
	}
	return text[:at], number
}
