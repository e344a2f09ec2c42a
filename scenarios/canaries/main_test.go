package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
	"stet/scenarios"
	"stet/scenarios/campaign"
)

// TestMain serves as the worker of the tests' campaigns when asked to: this binary then plays the
// one that has the canaries.
func TestMain(m *testing.M) {
	if os.Getenv("STET_FAKE_WORKER") == "" {
		os.Exit(m.Run())
	}
	if err := campaign.Work(os.Stdin, os.Stdout, fakeRun); err != nil {
		panic(err)
	}
}

// fakeRun stands for a seed: which checks fail follows from the seed and the canary.
func fakeRun(j campaign.Job) *scenarios.Result {
	r := &scenarios.Result{Scenario: j.Scenario, Seed: j.Seed, Counters: map[string]int64{
		"checked.S1": 1, "checked.S7": 1, "checked.H4": 0,
	}}
	if os.Getenv("STET_FAKE_WORKER") == "broken" {
		r.Failed = checks("S1")
	}
	switch os.Args[len(os.Args)-1] { // the canary
	case "46": // in the seventh seed of a campaign, before it only something unexpected
		r.Failed = map[uint64][]scenarios.Check{3: {"R5"}, 7: {"L1", "S9"}, 9: {"S1"}}[j.Seed%stride]
	case "50": // without faults too
		r.Failed = []scenarios.Check{"R9", "H1", "panic", "S6"}
	case "51": // a panic is no find
		r.Failed = []scenarios.Check{scenarios.Panic}
	case "53": // the process dies
		os.Exit(2)
	}
	if len(r.Failed) > 0 {
		r.Check = r.Failed[0]
	}
	return r
}

func newLab(t *testing.T, jobs int) lab {
	t.Setenv("STET_FAKE_WORKER", "1")
	return lab{t.Context(), os.Args[0], jobs}
}

func chosen(t *testing.T, id string) *canary {
	list, err := choose(id)
	require.NoError(t, err)
	return &list[0]
}

func TestEveryCanaryIsDefinedOnce(t *testing.T) {
	var names []string
	for _, s := range slices.Concat(scenarios.All(), scenarios.Clusters(), scenarios.Replication()) {
		names = append(names, s.Name)
	}
	var ids, sources []string
	for i := range canaries {
		c := &canaries[i]
		ids = append(ids, c.id)
		require.NotEmpty(t, c.info().Name, c.id)
		require.NotEmpty(t, c.info().Source, c.id)
		require.NotEmpty(t, c.expected, c.id)
		require.NotZero(t, c.tier.seeds(), c.id)
		require.Contains(t, names, c.scenario, c.id)
	}
	for _, info := range invariant.Canaries() {
		sources = append(sources, info.ID)
	}
	require.Equal(t, sources, ids)
}

func TestHuntFindsTheFirstSeedThatAnExpectedCheckFails(t *testing.T) {
	for _, jobs := range []int{1, 3} {
		figures, err := newLab(t, jobs).hunts(chosen(t, "46"), 3)
		require.NoError(t, err)
		require.Equal(t, []uint64{7, 7, 7}, figures, "%d jobs", jobs)
	}
}

func TestNeitherPanicNorDeathIsAFind(t *testing.T) {
	for _, id := range []string{"51", "53"} {
		n, err := newLab(t, 2).hunt(&canary{id: id, tier: "A", expected: checks("S1 H1")}, 1)
		require.NoError(t, err)
		require.Zero(t, n, id)
	}
}

func TestMedianCountsAMissAboveEverything(t *testing.T) {
	require.EqualValues(t, 4, median([]uint64{9, 1, 4}))
	require.EqualValues(t, 9, median([]uint64{0, 9, 4, 0, 1}))
	require.Zero(t, median([]uint64{0, 9, 0}))
}

func TestCalmTellsClientsFromState(t *testing.T) {
	clients, state, err := newLab(t, 1).calm(chosen(t, "50"))
	require.NoError(t, err)
	require.Equal(t, []scenarios.Check{"H1", "panic"}, clients)
	require.Equal(t, []scenarios.Check{"R9", "S6"}, state)
}

func TestMatrixCountsRunsByCheck(t *testing.T) {
	c := chosen(t, "46")
	failures, err := newLab(t, 1).failures("46", c.scenario, 1, 20, false)
	require.NoError(t, err)
	got := newTally(c, failures)
	require.Equal(t, tally{
		Failed: 3, Claimed: 2,
		By:    map[scenarios.Check]int{"R5": 1, "L1": 1, "S9": 1, "S1": 1},
		Alone: map[scenarios.Check]int{"R5": 1, "S1": 1},
	}, got)
	_, ok := got.only()
	require.False(t, ok)
	only, ok := (&tally{Failed: 2, Alone: map[scenarios.Check]int{"P2": 2}}).only()
	require.True(t, ok)
	require.EqualValues(t, "P2", only)
}

func TestControlRefusesABinaryThatFailsByItself(t *testing.T) {
	l := newLab(t, 2)
	made, err := l.control(canaries, 4)
	require.NoError(t, err)
	require.Equal(t, checks("S1 S7"), made)
	require.Equal(t, checks("S7"), idle(made, []row{{tally: tally{By: map[scenarios.Check]int{"S1": 1}}}}))
	l.stet = "/nonexistent"
	_, err = l.control(canaries, 4)
	require.Error(t, err)
	l = newLab(t, 1)
	t.Setenv("STET_FAKE_WORKER", "broken")
	_, err = l.control(canaries[:1], 2)
	require.ErrorContains(t, err, "without a canary 2 of 2 seeds fail")
}

func TestChecksAreSortedByNumber(t *testing.T) {
	got := sorted(checks("panic S10 H11 H2-ack R9 H2 S9 A4 A4-porcupine L8 H2"))
	require.Equal(t, checks("A4 A4-porcupine H2 H2-ack H11 L8 R9 S9 S10 panic"), got)
}

func TestTableFitsInAHundredColumns(t *testing.T) {
	d := document{MatrixSeeds: 40, CalmSeeds: calmSeeds, KillNothing: checks(strings.Repeat("H3 ", 60))}
	var unseen []string // without the check that canary 67 was put there for
	for i := range 30 {
		c := canaries[len(canaries)-30+i]
		if c.expected[0] == "P2" {
			unseen = append(unseen, fmt.Sprint(100+i))
		}
		r := row{
			ID: fmt.Sprint(100 + i), Name: c.info().Name, Scenario: c.scenario, Budget: 500, Seen: true,
			Expected: c.expected, Note: strings.Repeat("words ", 40),
			Seeds: []uint64{500, 0, 77, 5, 5}, Median: 77,
			CalmClients: checks("H1 L1"), CalmState: checks("S9"),
		}
		r.tally = tally{
			Failed: 40, Claimed: 40, By: map[scenarios.Check]int{"A4-porcupine": 40, c.expected[0]: 40},
			Alone: map[scenarios.Check]int{c.expected[0]: 40},
		}
		d.Canaries = append(d.Canaries, r)
	}
	var out bytes.Buffer
	printHead(&out)
	for i := range d.Canaries {
		printRow(&out, &d.Canaries[i])
	}
	matrix := out.Len()
	printMatrix(&out, &d)
	require.Equal(t, 3, strings.Count(out.String()[matrix:], "\ncheck "), "blocks")
	printNotes(&out, &d)
	lines := strings.Split(out.String(), "\n")
	for _, line := range lines {
		require.LessOrEqual(t, len(line), width, "%s", line)
	}
	require.Contains(t, lines, "without P2 unseen in the matrix: "+strings.Join(unseen, " "))
	require.True(t, slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "A4-porcupine  (40)")
	}), "a check that is not expected stands in ()")
}
