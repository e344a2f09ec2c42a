package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// topics is what a node holds.
func topics(held ...heldTopic) []heldTopic { return held }

func created(t *testing.T, name string, id byte) (*ledger, heldTopic) {
	t.Helper()
	l := newLedger()
	require.NoError(t, l.creation(name, 2, true, topicID{id}))
	return l, heldTopic{name, topicID{id}, 2}
}

func TestLedgerMissesAnAcknowledgedCreation(t *testing.T) {
	l, held := created(t, "a", 1)
	require.NoError(t, judge([]*ledger{l}, topics(held)))
	require.ErrorContains(t, judge([]*ledger{l}, topics()), "a: its creation was acknowledged")
}

func TestLedgerSeesADeletedTopicAgain(t *testing.T) {
	l, held := created(t, "a", 1)
	l.deletion("a", true)
	require.NoError(t, judge([]*ledger{l}, topics()))
	require.ErrorContains(t, judge([]*ledger{l}, topics(held)), "its deletion was acknowledged")
	require.ErrorContains(t, l.creation("a", 2, true, topicID{1}), "a life that was deleted")
	held.id = topicID{2}
	require.NoError(t, l.creation("a", 2, true, held.id))
	require.NoError(t, judge([]*ledger{l}, topics(held)))
	held.id = topicID{1}
	l.deletion("a", false)
	require.ErrorContains(t, judge([]*ledger{l}, topics(held)), "of a life that was deleted")
}

func TestLedgerSeesAnotherIDThanTheAcknowledgedOne(t *testing.T) {
	l, held := created(t, "a", 1)
	held.id = topicID{2}
	require.ErrorContains(t, judge([]*ledger{l}, topics(held)), "acknowledged as 01")
}

func TestLedgerSeesPartitionsThatNobodyAskedFor(t *testing.T) {
	l, held := created(t, "a", 1)
	held.partitions = 3
	require.ErrorContains(t, judge([]*ledger{l}, topics(held)), "3 partitions instead of 2")
}

func TestLedgerSeesWhatIsThereTwiceOrByNobody(t *testing.T) {
	l, a := created(t, "a", 1)
	require.ErrorContains(t, judge([]*ledger{l}, topics(a, a)), "a is there twice")
	b := heldTopic{"b", topicID{1}, 2}
	require.ErrorContains(t, judge([]*ledger{l}, topics(a, b)), "have the same id")
	b.id = topicID{2}
	require.ErrorContains(t, judge([]*ledger{l}, topics(a, b)), "nobody created it")
}

func TestLedgerSeesNodesThatDiffer(t *testing.T) {
	_, a := created(t, "a", 1)
	other := a
	other.id = topicID{2}
	require.NoError(t, agree([][]heldTopic{{a}, {a}, {a}}))
	for _, third := range [][]heldTopic{nil, {other}} {
		require.ErrorContains(t, agree([][]heldTopic{{a}, {a}, third}), "a: node 1 has")
	}
	require.ErrorContains(t, agree([][]heldTopic{nil, {a}}), "a: node 1 has")
	require.ErrorContains(t, agree([][]heldTopic{{a}, {a, a}}), "node 2: a is there twice")
}

func TestLedgerWaitsForTheEffectOfWhatWasNotAnswered(t *testing.T) {
	l, held := created(t, "a", 1)
	l.deletion("a", false)
	require.NoError(t, judge([]*ledger{l}, topics(held)), "not yet")
	require.NoError(t, judge([]*ledger{l}, topics()))
	require.ErrorContains(t, judge([]*ledger{l}, topics(held)), "and it is there", "it was gone")

	l = newLedger()
	require.NoError(t, l.creation("b", 1, false, topicID{}))
	require.NoError(t, judge([]*ledger{l}, topics()), "not yet")
	held = heldTopic{"b", topicID{3}, 1}
	require.NoError(t, judge([]*ledger{l}, topics(held)))
	require.ErrorContains(t, judge([]*ledger{l}, topics()), "is gone", "it was seen")
	require.Equal(t, 1, l.unanswered)
}
