package crashpoints

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// short is the form that `go test` runs: every operation, at the moments that matter most, and of
// the power losses that which keeps nothing and that which keeps all.
var short = Options{Bound: 2, Brief: true}

// Worlds come and go by the thousand: garbage is collected less often.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

func TestEveryOperationOfAScriptIsACrashPoint(t *testing.T) {
	invariant.ResetMarks()
	var results []*Result
	for _, s := range All() {
		results = append(results, Enumerate(s, DefaultMode, short))
	}
	for _, r := range results {
		require.Empty(t, r.Violations, r.Script)
		require.Equal(t, r.Ops, r.Points, r.Script)
		require.Positive(t, r.Ops, r.Script)
		require.Greater(t, r.Crashes, r.Points, "each is struck at several moments")
	}
	// The windows hold what they are for.
	marks := invariant.Marks()
	for _, mark := range []invariant.Mark{
		invariant.MarkSegmentRoll, invariant.MarkTornTailCut, invariant.MarkRecoveryInterrupted,
		invariant.MarkRecoveryFromSnapshot, invariant.MarkCleanStart, invariant.MarkTopicDeleted,
	} {
		require.Positive(t, marks[mark].Hits, marks[mark].Name)
	}
}

// The long form strikes more moments and interrupts recoveries; here it does so at a few operations.
func TestTheLongFormStrikesEveryMomentAndRecoveries(t *testing.T) {
	r := Enumerate(&roll, FlushMode, Options{Bound: 6, Recoveries: 20, Shard: 3, Shards: 12})
	require.Empty(t, r.Violations)
	require.Equal(t, r.Ops, r.Points)
	require.Positive(t, r.Recoveries)
	brief := Enumerate(&roll, FlushMode, Options{Bound: 6, Brief: true, Shard: 3, Shards: 12})
	require.Greater(t, r.Crashes, brief.Crashes)
	require.Positive(t, r.Cut, "what the bound leaves out is counted")
}

func TestPartsTogetherAreTheWhole(t *testing.T) {
	whole := Enumerate(&roll, FlushMode, short)
	var parts []*Result
	for _, j := range Jobs([]*Script{&roll}) {
		again, ok := ParseJob(j.String())
		require.True(t, ok)
		require.Equal(t, j, again)
		if j.Mode == FlushMode {
			parts = append(parts, j.Run(short))
		}
	}
	rows, total := Sum(parts)
	require.Len(t, rows, 1)
	require.Equal(t, whole.Ops, total.Ops)
	require.Equal(t, whole.Points, total.Points)
	require.Equal(t, whole.Outcomes, total.Outcomes)
	require.True(t, total.OK())
	require.Contains(t, total.Line(), "ok ops=")
	only := Enumerate(&roll, FlushMode, Options{Bound: 3, Operation: 2})
	require.Equal(t, 1, only.Points)
}

func TestAResultThatLeftAPointOutIsNotOK(t *testing.T) {
	require.True(t, (&Result{Ops: 2, Points: 2}).OK())
	require.False(t, (&Result{Ops: 2, Points: 1}).OK())
	require.False(t, (&Result{Ops: 0, Points: 0}).OK())
	require.False(t, (&Result{Ops: 2, Points: 2, Violations: []string{"S1"}}).OK())
}

func TestScriptsAreFoundByName(t *testing.T) {
	require.Equal(t, All(), Find("all"))
	require.Equal(t, []*Script{&truncate, &tornTail}, Find("truncate"))
	require.Equal(t, []*Script{&metadata}, Find("metadata"))
	require.Empty(t, Find("nothing"))
}
