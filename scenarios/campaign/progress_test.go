package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

func halfway(t *testing.T) *Summary {
	t.Helper()
	s := newSummary(&Campaign{Scenarios: []string{"disk-faults", "single-node-kill"}, Seeds: Seeds{1, 20}})
	for seed := range uint64(20) {
		r := &scenarios.Result{Scenario: "disk-faults", Seed: seed, Marks: map[string]uint64{"a segment is rolled": 1}}
		if seed%2 == 1 {
			r.Check, r.Evidence = "S1", []string{"S1: gone"}
		}
		s.add(r)
	}
	return s
}

func TestProgressSaysWhatIsDoneAndWhatIsMissing(t *testing.T) {
	p := NewProgress(nil, false, 0)
	line := p.line(halfway(t), 10*time.Second)
	require.Contains(t, line, "campaign 20/40 seeds_per_s=2.0 failed=10 classes=1 marks=1/")
	require.Contains(t, line, "eta=10s missing: ")
	require.Contains(t, line, "recovery cuts a torn tail")
	require.NotContains(t, line, "a segment is rolled")
}

func TestRunsOfTheStateAreNoneOfTheRate(t *testing.T) {
	s := halfway(t)
	s.Resumed = 10
	require.Contains(t, NewProgress(nil, false, 0).line(s, 10*time.Second), "seeds_per_s=1.0 failed=10 classes=1")
	require.Contains(t, NewProgress(nil, false, 0).line(s, 10*time.Second), "eta=20s")
	s.Resumed = 20
	require.Contains(t, NewProgress(nil, false, 0).line(s, 10*time.Second), "eta=?")
}

func TestTheBudgetBoundsWhatIsStillToCome(t *testing.T) {
	require.Contains(t, NewProgress(nil, false, 13*time.Second).line(halfway(t), 10*time.Second), "eta=3s")
}

func TestATerminalShowsOneShortLine(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, true, 0)
	p.Show(halfway(t))
	p.Show(halfway(t)) // too soon
	const clear = "\r\x1b[K"
	require.Equal(t, 1, strings.Count(out.String(), clear))
	require.LessOrEqual(t, len([]rune(strings.TrimPrefix(out.String(), clear))), lineWidth)
	require.NotContains(t, out.String(), "\n")
	p.Clear()
	require.True(t, strings.HasSuffix(out.String(), clear))
	out.Reset()
	p.Clear()
	require.Empty(t, out.String(), "nothing to clear")
}

func TestALogGetsWholeLines(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, false, 0)
	p.Show(halfway(t))
	p.Show(halfway(t))
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.NotContains(t, out.String(), "\x1b")
}
