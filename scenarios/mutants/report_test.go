package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStateGoesOnWhereItWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "state")
	of := subject{Source: "abc"}
	s, err := openState(path, of)
	require.NoError(t, err)
	a := &judged{ID: "a", site: site{File: "f.go", Original: "x", Mutated: "!(x)"}, Killer: simulator}
	require.NoError(t, s.add(a))
	require.NoError(t, s.add(&judged{ID: "b"}))
	s.file.Close()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-3], 0o644))

	s, err = openState(path, of)
	require.NoError(t, err)
	require.Equal(t, map[string]*judged{"a": a}, s.done)
	require.NoError(t, s.add(&judged{ID: "c"}))
	s.file.Close()
	s, err = openState(path, of)
	require.NoError(t, err)
	require.Len(t, s.done, 2)
	require.NotNil(t, s.get("c"))
	s.file.Close()
	_, err = openState(path, subject{Source: "abd"})
	require.ErrorContains(t, err, "other sources")
}

func TestVerdictsNeedAReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts")
	read := func(text string) (map[string]verdict, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return readVerdicts(path)
	}
	got, err := read("# why\n\naa equivalent  the same\nbb blind no check\n")
	require.NoError(t, err)
	require.Equal(t, map[string]verdict{"aa": {equivalent, "the same"}, "bb": {blindSpot, "no check"}}, got)
	for text, want := range map[string]string{
		"aa equivalent\n":             "line 1: give an id",
		"\naa fine it is\n":           "line 2: give an id",
		"aa blind x\naa equivalent y": "line 2: aa has one",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
	}
	_, err = readVerdicts(filepath.Join(root, verdictsFile))
	require.NoError(t, err)
}

// TestTheReportSortsMutants has a package of eight mutants, one for each fate, one that was never
// judged, and one beyond what the package has to give.
func TestTheReportSortsMutants(t *testing.T) {
	p := &pkg{Dir: "core/a", lines: 100, quota: 6}
	s := &state{done: map[string]*judged{}}
	verdicts := map[string]verdict{}
	c := coverage{"f.go": {{1, 1, 10, 1, true}, {10, 1, 20, 1, false}}}
	for i, fate := range []struct {
		killer  killer
		by      string
		line    int
		opinion opinion
	}{
		{simulator, "S1", 1, equivalent},
		{noBuild, "", 2, unjudged},
		{unitTests, "TestX", 3, unjudged},
		{nobody, "", 4, equivalent},
		{nobody, "", 5, blindSpot},
		{nobody, "", 6, unjudged},
		{nobody, "", 15, unjudged},
		{simulator, "S2", 7, unjudged},
	} {
		at := site{
			File: "f.go", Function: "f", Original: strings.Repeat("word ", 50), Nth: i,
			atLine: fate.line, atColumn: 1,
		}
		j := &judged{ID: at.id(), Package: p.Dir, site: at, Killer: fate.killer, By: fate.by, Runs: 3}
		p.sites = append(p.sites, at)
		s.done[j.ID] = j
		if fate.opinion != unjudged {
			verdicts[j.ID] = verdict{fate.opinion, strings.Repeat("reason ", 40)}
		}
	}
	r := newReport(&flags{seed: 1, seeds: 15}, []*pkg{p}, s, c, verdicts)
	want := row{
		Package: "core/a", Lines: 100, Sites: 8, Mutants: 6, Simulator: 1, Tests: 1,
		Unreached: 1, Equivalent: 1, Blind: 1, Unjudged: 1,
	}
	require.Equal(t, []row{want}, r.Packages)
	require.Equal(t, []string{p.sites[0].id()}, r.Wrong)
	require.Equal(t, 1, r.NoBuild)
	require.Equal(t, 16, r.Score)
	require.Equal(t, []count{{"S1", 1}}, r.Killers)
	require.Len(t, r.TestsOnly, 1)
	var classes []class
	for _, e := range r.Survivors {
		classes = append(classes, e.Class)
	}
	require.Equal(t, []class{"blind", "unjudged", "unreached", "equivalent"}, classes)

	var out bytes.Buffer
	r.print(&out)
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line), width+1, line)
	}
	require.Contains(t, out.String(), "\nmutants: n=6 simulator=16% tests=1 survived=4 unreached=1 "+
		"blind=1 unjudged=1 equivalent=1\n")
}
