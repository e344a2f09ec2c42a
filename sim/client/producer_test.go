package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

func idempotent() ProducerConfig {
	return ProducerConfig{
		Partitions: 1, Acks: -1, Idempotent: true, InFlight: 5, GiveUp: 30 * sim.Second,
		PipelinedRetries: true, AckTimeoutMs: 1000,
	}
}

func plain() ProducerConfig {
	return ProducerConfig{Partitions: 1, Acks: -1, InFlight: 5, Attempts: 3, AckTimeoutMs: 1000}
}

// run has a producer send everything and says whether it came to an end.
func (f *fake) run(c ProducerConfig, all []*Send) bool {
	return f.do(NewProducer(f.host, c, &sends{left: all}).Run)
}

// sequences lists the base sequences of batches.
func sequences(batches []record.View) (all []kafka.Sequence) {
	for _, b := range batches {
		all = append(all, b.BaseSequence())
	}
	return all
}

// flight watches how many produce requests wait for their answer at the broker, which it lets wait
// until nothing else happens for a while.
type flight struct{ most []int }

func (w *flight) script(f *fake) func(*asked) action {
	var open []*asked
	return func(a *asked) action {
		if _, ok := a.Request.(*kmsg.ProduceRequest); !ok {
			return nil
		}
		open = append(open, a)
		if len(open) == 1 {
			f.scheduler.After(100*sim.Millisecond, f.owner, sim.KindNote, func() {
				w.most = append(w.most, len(open))
				for _, a := range open {
					a.answer(f.handle(a.Request))
				}
				open = nil
			})
		}
		return ignore
	}
}

func TestAProducerFillsItsPipe(t *testing.T) {
	for _, c := range []struct {
		name   string
		config func(*ProducerConfig)
		want   []int
	}{
		{"five in flight", func(*ProducerConfig) {}, []int{5, 5, 2}},
		{"two in flight", func(c *ProducerConfig) { c.InFlight = 2 }, []int{2, 2, 2, 2, 2, 2}},
		{"the first one alone", func(c *ProducerConfig) { *c = idempotent() }, []int{1, 5, 5, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := newFake(t, 1), &flight{}
			f.script = w.script(f)
			config := plain()
			c.config(&config)
			all := someSends(0, 12)
			require.True(t, f.run(config, all))
			require.Equal(t, c.want, w.most)
			require.Equal(t, all, f.seen.returned, "in order")
			require.Len(t, f.seen.attempts, 12)
			for i, a := range f.seen.attempts {
				require.Equal(t, Attempt{Answered, kafka.None, kafka.Offset(i)}, a)
			}
			require.Empty(t, f.seen.troubles)
			require.Equal(t, 1, f.conns)
		})
	}
}

func TestSequencesAreContiguousAndWrap(t *testing.T) {
	f := newFake(t, 1)
	c := idempotent()
	c.FirstSequence = 1<<31 - 3
	all := someSends(0, 4)
	all[0].Records = append(all[0].Records, all[0].Records[0])
	require.True(t, f.run(c, all))
	require.Equal(t, []kafka.Sequence{1<<31 - 3, 1<<31 - 1, 0, 1}, sequences(f.log[0]))
	require.EqualValues(t, 0, f.log[0][0].ProducerID())
	require.Len(t, of[*kmsg.InitProducerIDRequest](f), 1)
}

func TestARetrySendsTheSameBytes(t *testing.T) {
	for _, pipelinedRetries := range []bool{false, true} {
		f := newFake(t, 1)
		var lost []record.View
		f.script = func(a *asked) action {
			r, ok := a.Request.(*kmsg.ProduceRequest)
			if ok && a.conn.number < 3 {
				lost = append(lost, batchesOf(r)...)
				return a.hangUp
			}
			return nil
		}
		c := idempotent()
		c.PipelinedRetries = pipelinedRetries
		require.True(t, f.run(c, someSends(0, 3)))
		require.Equal(t, 3, f.conns)
		require.Equal(t, []string{"p0.0", "p0.1", "p0.2"}, values(f.log[0]))
		require.Equal(t, []kafka.Sequence{0, 1, 2}, sequences(f.log[0]))
		require.Len(t, lost, 2, "the first batch goes alone")
		for _, b := range lost { // what lies before 16 is stamped by the broker
			require.Equal(t, f.log[0][0][16:], b[16:])
		}
		require.Equal(t, 3, f.seen.returned[0].Attempts)
		require.Equal(t, Lost, f.seen.attempts[0].Ending)
		require.Len(t, of[*kmsg.InitProducerIDRequest](f), 1, "the producer id outlives a connection")
		require.EqualValues(t, 1, f.seen.returned[0].Session)
	}
}

func TestARefusedBatchHoldsItsSuccessorsBack(t *testing.T) {
	f := newFake(t, 1)
	refused := 0
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok {
			return nil
		}
		next := kafka.Sequence(len(f.log[0]))
		switch s := batchesOf(r)[0].BaseSequence(); {
		case s == 1 && refused < 2:
			refused++
			return func() {
				a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.NotLeaderOrFollower}))
			}
		case s != next:
			return func() {
				a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.OutOfOrderSequenceNumber}))
			}
		}
		return nil
	}
	require.True(t, f.run(idempotent(), someSends(0, 6)))
	require.Equal(t, 2, refused)
	require.Equal(t, []kafka.Sequence{0, 1, 2, 3, 4, 5}, sequences(f.log[0]))
	require.Empty(t, f.seen.troubles, "a gap behind a refused batch is nobody's fault")
	require.Len(t, of[*kmsg.InitProducerIDRequest](f), 1)
}

func TestNobodyGoesBeforeTheRetryOfABatchThatTimedOut(t *testing.T) {
	f := newFake(t, 1)
	var order []kafka.Sequence
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok {
			return nil
		}
		order = append(order, batchesOf(r)[0].BaseSequence())
		if len(order) == 2 {
			return func() {
				a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.RequestTimedOut}))
			}
		}
		return nil
	}
	f.host.Pause = exactly(10 * sim.Second)
	require.True(t, f.run(idempotent(), someSends(0, 9)))
	require.Equal(t, []kafka.Sequence{0, 1, 2, 3, 4, 5, 1, 6, 7, 8}, order)
}

func TestAnIdempotentProducerGivesUpAndStartsOver(t *testing.T) {
	f := newFake(t, 1)
	var cut sim.Time
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		if !ok || batchesOf(r)[0].ProducerID() > 0 || batchesOf(r)[0].BaseSequence() < 1 {
			return nil
		}
		cut = a.at
		return func() {
			a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: kafka.NotLeaderOrFollower}))
		}
	}
	c := idempotent()
	c.GiveUp = 2 * sim.Second
	c.InFlight = 1
	all := someSends(0, 4)
	require.True(t, f.run(c, all))
	require.InDelta(t, int64(2*sim.Second), int64(cut), float64(100*sim.Millisecond))
	require.Equal(t, []string{"p0.0", "p0.2", "p0.3"}, values(f.log[0]), "the given up one is gone")
	require.Equal(t, []kafka.Sequence{0, 0, 1}, sequences(f.log[0]), "another id counts from 0")
	require.EqualValues(t, 1, f.log[0][1].ProducerID())
	require.Len(t, of[*kmsg.InitProducerIDRequest](f), 2)
	require.Len(t, f.seen.returned, 4, "every send is resolved once")
	require.EqualValues(t, 1, all[1].Session)
	require.EqualValues(t, 2, all[2].Session)
	require.Empty(t, f.seen.troubles)
}

func TestWhatIsInFlightWhenAProducerStartsOverIsWaitedForAndNotTriedAgain(t *testing.T) {
	f := newFake(t, 1)
	answers := func(a *asked, r *kmsg.ProduceRequest, code kafka.ErrorCode) func() {
		return func() { a.answer(f.produce(r, map[int32]kafka.ErrorCode{0: code})) }
	}
	late := 200 * sim.Millisecond
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.ProduceRequest)
		switch {
		case !ok || batchesOf(r)[0].ProducerID() > 0 || batchesOf(r)[0].BaseSequence() == 0:
			return nil
		case batchesOf(r)[0].BaseSequence() == 1:
			return answers(a, r, kafka.InvalidProducerEpoch)
		}
		return func() {
			f.scheduler.After(late, f.owner, sim.KindNote, answers(a, r, kafka.NotLeaderOrFollower))
		}
	}
	all := someSends(0, 7)
	require.True(t, f.run(idempotent(), all))
	require.Equal(t, []string{"produce: INVALID_PRODUCER_EPOCH"}, f.seen.troubles)
	require.Equal(t, []string{"p0.0", "p0.6"}, values(f.log[0]))
	for _, s := range all {
		require.Equal(t, 1, s.Attempts)
	}
	require.Len(t, f.seen.returned, 7)
	var took []sim.Time
	for _, a := range f.asked {
		if _, ok := a.Request.(*kmsg.InitProducerIDRequest); ok {
			took = append(took, a.at)
		}
	}
	require.Len(t, took, 2)
	require.Greater(t, took[1], took[0]+late, "another id is taken when nothing of the last is about")
}

func TestWithAcks0NothingIsWaitedFor(t *testing.T) {
	f := newFake(t, 1)
	c := plain()
	c.Acks = 0
	require.True(t, f.run(c, someSends(0, 5)))
	f.scheduler.RunUntil(f.scheduler.Now()+sim.Second, nil)
	require.Len(t, f.log[0], 5)
	require.Len(t, f.seen.returned, 5)
	for _, a := range f.seen.attempts {
		require.Equal(t, Attempt{Lost, kafka.None, kafka.NoOffset}, a)
	}
}

func TestARequestMayCarrySeveralPartitionsAndOneBatchOfEach(t *testing.T) {
	f := newFake(t, 1)
	c := plain()
	c.Partitions, c.AcrossPartitions = 3, true
	var all []*Send
	for p := range kafka.PartitionID(3) {
		all = append(all, someSends(p, 2)...)
	}
	require.True(t, f.run(c, all))
	requests := of[*kmsg.ProduceRequest](f)
	require.Len(t, requests, 2)
	for _, r := range requests {
		require.Len(t, r.Topics[0].Partitions, 3)
	}
	for p := range int32(3) {
		require.Len(t, f.log[p], 2)
	}
}

func TestAProducerAsksForTheTopicsIDOnlyWhereItsVersionHasOne(t *testing.T) {
	versions := map[int16]bool{}
	for seed := range uint64(100) {
		f := newFake(t, seed)
		require.True(t, f.run(plain(), someSends(0, 1)))
		r := of[*kmsg.ProduceRequest](f)[0]
		versions[r.Version] = true
		require.Len(t, of[*kmsg.MetadataRequest](f), map[bool]int{true: 1}[r.Version >= 13])
		if r.Version >= 13 {
			require.Equal(t, f.topicID, kafka.TopicID(r.Topics[0].TopicID))
		} else {
			require.Equal(t, "orders", r.Topics[0].Topic)
		}
		require.EqualValues(t, -1, r.Acks)
		require.EqualValues(t, 1000, r.TimeoutMillis)
	}
	require.Len(t, versions, 11, "every version is spoken")
}

func TestAProducerWaitsForABrokerToComeBack(t *testing.T) {
	f := newFake(t, 1)
	f.scheduler.Kill(f.owner, sim.Killed)
	f.scheduler.At(3*sim.Second, 0, sim.KindNote, func() {
		f.owner = f.scheduler.NewOwner(1)
		f.network.Listen(f.owner, f.host.Addr, f)
	})
	require.True(t, f.run(idempotent(), someSends(0, 3)))
	require.Len(t, f.log[0], 3)
	require.Greater(t, f.scheduler.Now(), 3*sim.Second)
}

func TestAProducerTellsWhereItStands(t *testing.T) {
	f := newFake(t, 1)
	p := NewProducer(f.host, idempotent(), &sends{})
	require.Equal(t, "producer -1 epoch -1: 0 unresolved, 0 in flight, next send at 0.000000000s, "+
		"connected false", p.String())
}
