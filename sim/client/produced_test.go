package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

func TestWithoutIdempotenceAttemptsAreBounded(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		if _, ok := a.Request.(*kmsg.ProduceRequest); ok {
			return a.hangUp
		}
		return nil
	}
	c := plain()
	c.InFlight = 1
	all := someSends(0, 2)
	require.True(t, f.run(c, all))
	require.Equal(t, 3, all[0].Attempts)
	require.Equal(t, 3, all[1].Attempts)
	require.Len(t, f.seen.attempts, 6)
	require.Len(t, f.seen.returned, 2)
	require.Empty(t, of[*kmsg.InitProducerIDRequest](f))
	require.Empty(t, f.seen.troubles)
	require.EqualValues(t, 1, all[0].Session, "the batch was made on the first connection")
	require.EqualValues(t, 2, all[1].Session, "and this one while the first waited")
}

func TestASequenceRefusedAtTheHeadOfTheLineIsTrouble(t *testing.T) {
	for first, want := range map[kafka.Sequence]string{0: TroubleSequence, 1<<31 - 1: TroubleWrap} {
		f := newFake(t, 1)
		f.script = func(a *asked) action {
			r, ok := a.Request.(*kmsg.ProduceRequest)
			if !ok || len(f.log[0]) != 1 {
				return nil
			}
			return func() {
				a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.OutOfOrderSequenceNumber}))
				f.log[0] = append(f.log[0], f.log[0][0])
			}
		}
		c := idempotent()
		c.FirstSequence, c.InFlight = first, 1
		require.True(t, f.run(c, someSends(0, 2)))
		require.Len(t, f.seen.troubles, 1)
		require.Contains(t, f.seen.troubles[0], want+": partition 0 producer 0 epoch 0 sequence")
	}
}

func TestADuplicateIsAnAnswer(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok {
			return nil
		}
		return func() {
			a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.DuplicateSequenceNumber}))
		}
	}
	require.True(t, f.run(idempotent(), someSends(0, 1)))
	require.Len(t, f.seen.returned, 1)
	require.Empty(t, f.seen.troubles)
}

func TestABatchThatIsTooLargeIsGivenUpWithoutTrouble(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok {
			return nil
		}
		return func() {
			a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.MessageTooLarge}))
		}
	}
	require.True(t, f.run(plain(), someSends(0, 1)))
	require.Equal(t, 1, f.seen.returned[0].Attempts)
	require.Empty(t, f.seen.troubles)
}

func TestAnAnswerWithoutThePartitionIsTrouble(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok {
			return nil
		}
		return func() { a.answer(r.ResponseKind()) }
	}
	c := plain()
	c.Attempts = 1
	require.True(t, f.run(c, someSends(0, 1)))
	require.Equal(t, []string{"produce response without a partition that was asked for"},
		f.seen.troubles)
	require.Equal(t, Lost, f.seen.attempts[0].Ending)
}
