package main

import (
	"strings"

	"stet/core/invariant"
	"stet/scenarios"
)

// canary says what is expected of a historical bug, which package invariant names by id and whose
// guarded line stands where the bug was.
type canary struct {
	id       string
	scenario string
	tier     tier
	// expected are the checks that may claim it, the one that it was put there for first. What
	// other checks see is counted and does not claim it.
	expected []scenarios.Check
	// seen says that the canary was there while the generator and the checks were written. Its
	// figure tells of regressions; it is no evidence that a bug unheard of would be found.
	seen bool
	// note is what has to be known to read the figure.
	note string
}

// tier is the budget class of a canary. Tiers were set before anything was measured.
type tier string

// seeds is how many a campaign may take to find a canary of this tier.
func (t tier) seeds() uint64 { return map[tier]uint64{"A": 50, "B": 500, "C": 5000}[t] }

// apart is what canary 36 is here.
const apart = "the state and its index are one file here: what is applied is taken from the hard state, which is another"

// rigged canaries were not found by their scenario yet.
const (
	rigged  = "not found by 171 seeds of the scenario; a rig in core/quorum catches it"
	copied  = "not found by 25 seeds of the scenario; the model test of core/partition catches it"
	judged  = "not found by 25 seeds of the scenario; the machine of core/metadata catches it"
	session = "not hunted in a scenario yet; the tests of core/broker catch it"
	alone   = "not found by 25 seeds of the scenario; a test of core/partition catches it"
	placed  = "no scenario moves replicas between brokers yet; a test of core/partition catches it"
	started = "no scenario moves the start of a log yet; a test of core/partition catches it"
	changed = "no scenario changes bytes between brokers yet; the model test of core/partition catches it"
	durable = "no scenario damages what is durable yet; the tests of core/commitlog catch it"
)

// canaries lists all, in the order of the constants of package invariant.
var canaries = []canary{
	{id: "1", scenario: "failover", tier: "A", seen: true, expected: checks("R3 R2 H1")},
	{id: "2", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R1 H2 L2")},
	{id: "3", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R11 R1 R2")},
	{id: "4", scenario: "isr-churn", tier: "B", seen: true, expected: checks("R4 R3 H1")},
	{id: "5", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R3 H1")},
	{id: "6", scenario: "pauses", tier: "B", seen: true, expected: checks("R1 R3"), note: copied},
	{id: "7", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R1 R3"), note: session},
	{id: "8", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R5 R3 H1")},
	{id: "9", scenario: "fast-elections", tier: "B", seen: true, expected: checks("H9 H2 R5"), note: copied},
	{id: "10", scenario: "power-loss-one-at-a-time", tier: "C", seen: true, expected: checks("R6 R3 H1"), note: judged},
	{id: "11", scenario: "power-loss-one-at-a-time", tier: "C", seen: true, expected: checks("R6"), note: alone},
	{id: "12", scenario: "power-loss-one-at-a-time", tier: "B", seen: true, expected: checks("R2 H1 R6")},
	{id: "13", scenario: "power-loss-one-at-a-time", tier: "B", seen: true, expected: checks("R6 R3")},
	{id: "14", scenario: "isr-churn", tier: "B", seen: true, expected: checks("R10 R3")},
	{id: "15", scenario: "isr-churn", tier: "A", seen: true, expected: checks("R7 L1")},
	{id: "16", scenario: "fast-elections", tier: "C", seen: true, expected: checks("R3 H1"), note: placed},
	{id: "17", scenario: "fast-elections", tier: "C", seen: true, expected: checks("R10 H1 H2")},
	{id: "18", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R1"), note: copied},
	{id: "19", scenario: "fast-elections", tier: "B", seen: true, expected: checks("L2 R11 L8")},
	{id: "20", scenario: "isr-churn", tier: "A", seen: true, expected: checks("R4 L3 L8 L2")},
	{id: "21", scenario: "failover", tier: "A", seen: true, expected: checks("R11 R1")},
	{id: "22", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R1"), note: copied},
	{id: "23", scenario: "fast-elections", tier: "B", seen: true, expected: checks("R9"), note: started},
	{id: "24", scenario: "kitchen-sink", tier: "B", seen: true, expected: checks("S3 R1"), note: changed},
	{id: "31", scenario: "controller-disk-loss", tier: "C", seen: true, expected: checks("Q8 Q2 Q3"), note: rigged},
	{id: "32", scenario: "controller-disk-loss", tier: "A", seen: true, expected: checks("Q4 Q8")},
	{id: "33", scenario: "controller-failover", tier: "B", seen: true, expected: checks("Q5 Q1")},
	{id: "34", scenario: "controller-failover", tier: "C", seen: true, expected: checks("Q3 Q6 Q9 Q10")},
	{id: "35", scenario: "controller-failover", tier: "A", seen: true, expected: checks("Q4 Q8 H1")},
	{id: "36", scenario: "controller-failover", tier: "B", seen: true, expected: checks("Q6 R12"), note: apart},
	{id: "37", scenario: "quorum-partition", tier: "C", seen: true, expected: checks("Q9")},
	{id: "38", scenario: "quorum-partition", tier: "B", seen: true, expected: checks("R7 R3")},
	{id: "39", scenario: "controller-failover", tier: "A", seen: true, expected: checks("R12 Q6 Q10 L6")},
	{id: "40", scenario: "controller-failover", tier: "A", seen: true, expected: checks("Q7")},
	{id: "41", scenario: "controller-failover", tier: "B", seen: true, expected: checks("Q10 R7")},
	{id: "42", scenario: "quorum-partition", tier: "B", seen: true, expected: checks("L6")},
	{id: "43", scenario: "delete-recreate", tier: "B", seen: true, expected: checks("M2 H1 L1")},
	{id: "44", scenario: "delete-recreate", tier: "B", seen: true, expected: checks("M1 M2 L2")},
	{id: "46", scenario: "single-node-power-loss", tier: "A", seen: true, expected: checks("S9 S1 H1")},
	{id: "48", scenario: "single-node-power-loss", tier: "B", seen: true, expected: checks("S1 S4 H1 L9")},
	{id: "49", scenario: "disk-faults", tier: "A", seen: true, expected: checks("S7 R3 H1"), note: durable},
	{id: "50", scenario: "disk-faults", tier: "A", seen: true, expected: checks("S6 S1 H1")},
	{id: "51", scenario: "disk-faults", tier: "A", seen: true, expected: checks("S3 S1 H1 H10")},
	{id: "53", scenario: "disk-faults", tier: "B", seen: true, expected: checks("R9 H2 H2-ack H1")},
	{id: "57", scenario: "single-node-power-loss", tier: "A", seen: true, expected: checks("S1 H1 R10")},
	{id: "61", scenario: "disk-faults", tier: "A", seen: true, expected: checks("R12 P2 P1 P4")},
	{id: "65", scenario: "disk-faults", tier: "B", seen: true, expected: checks("R10 H1 H2-ack")},
	{
		id: "67", scenario: "idempotent-retries", tier: "A", seen: true, expected: checks("P2 P4"),
		note: "shows only because a third of the idempotent producers begin within 60 of sequence " +
			"2^31: no run of this length would get there from 0",
	},
	{
		id: "W1", scenario: "disk-faults", tier: "B", seen: true,
		expected: checks("S1 S2 H1 H2 H2-ack R12 S8"),
	},
}

func checks(list string) (out []scenarios.Check) {
	for c := range strings.FieldsSeq(list) {
		out = append(out, scenarios.Check(c))
	}
	return out
}

// info returns the name and the source of a canary.
func (c *canary) info() invariant.CanaryInfo {
	for _, info := range invariant.Canaries() {
		if info.ID == c.id {
			return info
		}
	}
	return invariant.CanaryInfo{}
}
