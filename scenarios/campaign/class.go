package campaign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"stet/scenarios"
)

// Class is a set of failed runs that have, as far as their evidence shows, one cause.
type Class struct {
	ID        string // 8 hex digits of a hash of Check and Signature: the same from campaign to campaign
	Check     scenarios.Check
	Signature string
	Count     int64
	Scenarios map[string]int64 // how often in which
	// First is the run with the smallest seed, and of those the one of the first scenario.
	First *scenarios.Result
	// Notes are lines that OnClass adds, such as where the shrunk schedule is.
	Notes []string
}

func newClass(r *scenarios.Result) *Class {
	c := &Class{Check: r.Check, Signature: Signature(r), Scenarios: map[string]int64{}}
	sum := sha256.Sum256([]byte(string(c.Check) + "\n" + c.Signature))
	c.ID = hex.EncodeToString(sum[:4])
	return c
}

func (c *Class) add(r *scenarios.Result) {
	c.Count++
	c.Scenarios[r.Scenario]++
	if f := c.First; f == nil || r.Seed < f.Seed || r.Seed == f.Seed && r.Scenario < f.Scenario {
		c.First = r
	}
}

// Line is what a campaign prints of a class.
func (c *Class) Line() string {
	return fmt.Sprintf("class %s %s count=%d scenario=%s seed=%#x: %s",
		c.ID, c.Check, c.Count, c.First.Scenario, c.First.Seed, c.Signature)
}

// worseClass orders classes as their exit codes are, then the more frequent first.
func worseClass(a, b *Class) int {
	if x, y := a.Check.ExitCode(), b.Check.ExitCode(); x != y {
		if scenarios.Worst([]int{x, y}) == x {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ID, b.ID))
}

// ReplayCommand is the command line that runs the class's smallest seed again.
func (c *Class) ReplayCommand(canary string) string {
	line := fmt.Sprintf("stet sim run --scenario %s --seed %#x", c.First.Scenario, c.First.Seed)
	if canary != "" {
		line += " --canary " + canary
	}
	return line
}

// classesOf lists the classes that have failures of a scenario.
func (s *Summary) classesOf(scenario string) []*Class {
	return slices.DeleteFunc(slices.Clone(s.Classes), func(c *Class) bool {
		return c.Scenarios[scenario] == 0
	})
}
