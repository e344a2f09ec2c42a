package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim"
)

var pipelined = &ProducerConfig{Idempotent: true, InFlight: 5, PipelinedRetries: true}

// begin does what choose does when a send goes out.
func begin(l *lane, s *Send) {
	if s.Attempts == 0 {
		s.ordinal = l.sent
		l.sent++
	}
	s.state = inFlight
	s.Attempts++
}

func TestTheFirstBatchGoesAlone(t *testing.T) {
	l := &lane{queue: someSends(0, 3)}
	begin(l, l.ready(0, pipelined))
	require.Nil(t, l.ready(0, pipelined), "whatever arrives first counts as the beginning")
	l.confirmed = true
	require.Same(t, l.queue[1], l.ready(0, pipelined))
	l.confirmed = false
	require.Same(t, l.queue[1], l.ready(0, &ProducerConfig{}), "without idempotence all may go")
}

func TestNobodyOvertakesABatchThatWaitsForItsRetry(t *testing.T) {
	l := &lane{queue: someSends(0, 3), confirmed: true}
	begin(l, l.queue[0])
	begin(l, l.queue[1])
	l.queue[0].state, l.queue[0].retryAt = waiting, 10
	require.Nil(t, l.ready(9, pipelined))
	require.Same(t, l.queue[0], l.ready(10, pipelined))
	require.Same(t, l.queue[2], l.ready(9, &ProducerConfig{}), "without idempotence everybody does")
	require.EqualValues(t, 10, l.wake(true))
	require.EqualValues(t, 0, l.wake(false))
}

func TestRetriesWaitForEachOtherUnlessTheyArePipelined(t *testing.T) {
	l := &lane{queue: someSends(0, 2), confirmed: true}
	begin(l, l.queue[0])
	begin(l, l.queue[1])
	l.queue[1].state = waiting
	require.Nil(t, l.ready(0, &ProducerConfig{Idempotent: true, InFlight: 5}))
	require.Same(t, l.queue[1], l.ready(0, pipelined))
}

func TestNoMoreThanFourBatchesStandBehindOneThatIsUnresolved(t *testing.T) {
	l := &lane{queue: someSends(0, 9), confirmed: true}
	oldest := l.queue[0]
	for range window {
		begin(l, l.ready(0, pipelined))
	}
	require.Nil(t, l.ready(0, pipelined))
	for len(l.queue) > 5 { // later ones are answered; that does not help
		l.remove(l.queue[1])
	}
	require.Nil(t, l.ready(0, pipelined))
	l.remove(oldest)
	require.NotNil(t, l.ready(0, pipelined))
}

func TestRestartKeepsWhatWasNeverTriedAndDoomsWhatIsInFlight(t *testing.T) {
	l := &lane{queue: someSends(0, 4), confirmed: true, next: 77}
	flying, waits, fresh, doomedBefore := l.queue[0], l.queue[1], l.queue[2], l.queue[3]
	begin(l, flying)
	begin(l, waits)
	waits.state = waiting
	doomedBefore.state, doomedBefore.Attempts = doomed, 1
	require.Equal(t, []*Send{waits}, l.restart())
	require.Equal(t, []*Send{flying, fresh, doomedBefore}, l.queue)
	require.Equal(t, doomed, flying.state)
	require.Zero(t, l.next)
	require.False(t, l.confirmed)
}

func TestAnEmptyLaneSleeps(t *testing.T) {
	l := &lane{}
	require.Equal(t, sim.Never, l.wake(true))
	require.Nil(t, l.ready(0, pipelined))
	l.remove(&Send{})
}
