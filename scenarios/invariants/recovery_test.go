package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/quorum"
)

// A tail is replaced from its first entry on, so that a crash may leave as little as that.
func TestAReplacedTailMayBeThereInPart(t *testing.T) {
	logOf := func(start uint64, terms ...uint64) *logState {
		return &logState{start: quorum.Position{Index: start, Term: 1}, terms: terms}
	}
	old := logOf(50, 2, 2, 3, 3, 3) // 51 to 55
	require.EqualValues(t, 54, old.replacedBy(logOf(50, 2, 2, 3, 5, 5, 5)))
	require.EqualValues(t, 51, old.replacedBy(logOf(50, 4)))
	require.EqualValues(t, 54, old.replacedBy(logOf(52, 3, 5)), "a snapshot came too")
	require.EqualValues(t, 55, old.replacedBy(logOf(50, 2, 2, 3, 3, 3, 5)), "nothing is replaced")
	require.EqualValues(t, 55, old.replacedBy(logOf(60)), "a snapshot covers it all")
}
