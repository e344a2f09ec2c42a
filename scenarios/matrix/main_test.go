package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariantsMustAgreeAndPlantsMustNot(t *testing.T) {
	plant := variant{name: "plant", planted: true}
	for _, c := range []struct {
		v      variant
		differ int
		err    error
		good   bool
	}{
		{v: variant{}, good: true},
		{v: variant{}, differ: 1},
		{v: variant{}, err: errors.New("no C compiler")},
		{v: plant},
		{v: plant, differ: 1, good: true},
		{v: plant, differ: 1, err: errors.New("the worker ended")},
	} {
		good, outcome := judge(c.v, c.differ, c.err)
		require.Equal(t, c.good, good, outcome)
		require.Equal(t, !c.good, strings.HasPrefix(outcome, "FAIL"), outcome)
		var sum totals
		sum.count(c.v, good)
		right := totals{variants: 1, same: 1}
		if c.v.planted {
			right = totals{plants: 1, caught: 1}
		}
		require.Equal(t, good, sum == right)
	}
}

func TestAMovedHashAndAnotherVerdictAreDivergent(t *testing.T) {
	base := outcomes{{hash: "a"}, {hash: "b", check: "S1"}, {hash: "c"}}
	require.Equal(t, 2, base.passed())
	require.Zero(t, base.divergent(base))
	require.Equal(t, 2, base.divergent(outcomes{{hash: "x"}, {hash: "b", check: "S2"}, {hash: "c"}}))
}

func TestARunWithoutAHashIsNoOutcome(t *testing.T) {
	run := func(result string) error {
		_, err := runJob(json.NewEncoder(new(bytes.Buffer)),
			json.NewDecoder(strings.NewReader(result)), job{Scenario: "s", Seed: 1})
		return err
	}
	require.NoError(t, run(`{"Hash":"0123"}`))
	require.ErrorContains(t, run(`{"Check":"panic"}`), "no hash: panic")
	require.ErrorContains(t, run(``), "the worker ended")
}

func TestAVariantThatCanNotBeBuiltFails(t *testing.T) {
	m := matrix{dir: t.TempDir(), workers: 1, built: map[string]string{}}
	_, err := m.runs(variant{flags: []string{"-no-such-flag"}}, nil)
	require.ErrorContains(t, err, "go build")
}
