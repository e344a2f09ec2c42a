package scenarios

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios/schedule"
	"stet/sim"
)

// reread takes a schedule through its text.
func reread(t *testing.T, s *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	text := s.String()
	back, err := schedule.Parse(strings.NewReader(text))
	require.NoError(t, err)
	require.True(t, text == back.String(), "the text of a schedule comes back")
	return back
}

// TestAScheduleReplaysItsSeed records seeds and runs what was recorded: it happens again, event by
// event.
func TestAScheduleReplaysItsSeed(t *testing.T) {
	for _, s := range All() {
		for seed := uint64(1); seed <= 4; seed++ {
			first := Run(s, seed, Options{Record: true})
			second := Run(s, seed, Options{Schedule: reread(t, first.Schedule), Record: true})
			name := first.Line() + "\n" + second.Line()
			require.Empty(t, second.Missed, name)
			require.Equal(t, first.Schedule.Faults, second.Schedule.Faults, name)
			require.True(t, slices.EqualFunc(first.Schedule.Tapes, second.Schedule.Tapes,
				func(a, b sim.Tape) bool { return a.Stream == b.Stream && slices.Equal(a.Values, b.Values) }), name)
			require.Equal(t, first.Acked, second.Acked, name)
			require.Equal(t, first.Operations, second.Operations, name)
			require.Equal(t, first.Excused, second.Excused, name)
			require.Equal(t, first.Check, second.Check, name)
			require.Equal(t, first.Hash, second.Hash, name)
		}
	}
}

// TestAScheduleDoesNotNeedItsSeed replays with the streams of another seed: what any change of the
// code that moves every random draw comes to.
func TestAScheduleDoesNotNeedItsSeed(t *testing.T) {
	for _, s := range All() {
		first := Run(s, 5, Options{Record: true})
		moved := Run(s, 5, Options{Schedule: first.Schedule, Salt: 1})
		name := first.Line() + "\n" + moved.Line()
		require.Empty(t, moved.Missed, name)
		require.Equal(t, first.Acked, moved.Acked, name)
		require.Equal(t, first.Operations, moved.Operations, name)
		require.Equal(t, first.Check, moved.Check, name)
	}
}
