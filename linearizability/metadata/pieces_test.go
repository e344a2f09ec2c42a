package metadata

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var node = Resource{"broker", "1"}

func sets(call, ret Step, value string, o Outcome) Operation {
	return Operation{Call: call, Return: ret, Kind: Set, Resource: node, Key: "k", Value: value, Outcome: o}
}

func reads(call, ret Step, value string) Operation {
	return Operation{Call: call, Return: ret, Kind: Read, Resource: node, Key: "k", Value: value, Outcome: OK}
}

// piled is a history in which n writers are not answered while nothing commits, and readers see nothing of
// them. All is committed at once, in no order that the clients could know.
func piled(n int) *History {
	h := &History{}
	for i := range n {
		value := fmt.Sprint((i * 7) % n)
		h.Operations = append(h.Operations, sets(Step(1+i), 0, fmt.Sprint(i), Unknown), reads(Step(1+i), Step(50+i), ""))
		h.Changes = append(h.Changes, Change{Index: int64(i), Step: 100, Kind: Set, Resource: node, Key: "k", Value: value})
	}
	return h
}

func TestManyUnknownChangesAtOnceAreDecided(t *testing.T) {
	h := piled(30)
	v := Judge(h)
	require.Empty(t, v.Violations)
	require.Zero(t, v.counts["undecided"])
	h.Operations = append(h.Operations, reads(150, 160, "0")) // that was overwritten with the others
	require.NotEmpty(t, Judge(h).Violations)
}

func TestWhatIsUndecidedIsCountedAndIsNoViolation(t *testing.T) {
	j := &judge{Verdict{counts: map[string]int64{}}}
	all := j.resolve(piled(30))
	require.Len(t, all, 1)
	j.porcupine(all[0], 20)
	require.Empty(t, j.Violations)
	require.EqualValues(t, 1, j.counts["undecided"])
}

// The number of steps is what a verdict hangs on, so it is the same each time.
func TestASearchTakesTheSameStepsEachTime(t *testing.T) {
	steps := func() (n int) {
		j := &judge{Verdict{counts: map[string]int64{}}}
		for _, r := range j.resolve(piled(8)) {
			for _, p := range r.pieces() {
				legal, taken := p.search(porcupineSteps)
				require.True(t, legal)
				n += taken
			}
		}
		return n
	}
	require.Equal(t, steps(), steps())
	require.Positive(t, steps())
}

func TestAHistoryIsCutWhereNothingIsUnderWay(t *testing.T) {
	h := &History{
		Operations: []Operation{
			sets(1, 4, "a", OK), sets(2, 5, "b", OK), // one piece
			reads(6, 7, "b"), // another
			sets(8, 0, "c", Unknown), reads(9, 20, "c"), reads(21, 22, "c"),
		},
		Changes: []Change{
			{Step: 3, Kind: Set, Resource: node, Key: "k", Value: "a"},
			{Step: 4, Kind: Set, Resource: node, Key: "k", Value: "b"},
			{Step: 10, Kind: Set, Resource: node, Key: "k", Value: "c"},
		},
	}
	j := &judge{Verdict{counts: map[string]int64{}}}
	pieces := j.resolve(h)[0].pieces()
	var sizes []int
	for _, p := range pieces {
		sizes = append(sizes, len(p.operations))
	}
	require.Equal(t, []int{2, 1, 2, 1}, sizes, "the unknown one ends when the log is known to have it")
	require.Equal(t, "k=b;", pieces[1].before.settings)
	require.Empty(t, Judge(h).Violations)
}

func TestARefusalAndWhatAnotherHasSeenMeanwhileAreLeftOut(t *testing.T) {
	refused := reads(1, 9, "")
	refused.Outcome = Refused
	h := &History{Operations: []Operation{
		refused, reads(1, 9, ""), reads(3, 4, ""), reads(3, 4, ""), reads(2, 5, "x"),
	}}
	j := &judge{Verdict{counts: map[string]int64{}}}
	told := j.resolve(h)[0].telling()
	require.Len(t, told, 2)
	require.Equal(t, Step(3), told[0].Call)
	require.Equal(t, "x", told[1].Value)
}

// An unknown change that is known to be committed is seen by all who ask later.
func TestACommittedChangeIsNotMissedByWhoAsksLater(t *testing.T) {
	h := &History{
		Operations: []Operation{sets(1, 0, "a", Unknown), reads(11, 12, "")},
		Changes:    []Change{{Step: 10, Kind: Set, Resource: node, Key: "k", Value: "a"}},
	}
	require.NotEmpty(t, Judge(h).Violations)
	h.Operations[1].Call = 10 // it may have asked before
	require.Empty(t, Judge(h).Violations)
}
