package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

func reads() ConsumerConfig {
	return ConsumerConfig{
		Partitions: 2, MaxWaitMs: 30, MinBytes: 2, MaxBytes: 5000, PartitionMaxBytes: 600,
		Pace: exactly(5 * sim.Millisecond), Tail: []kafka.Offset{0, 0},
	}
}

// stock fills a log before anybody reads.
func (f *fake) stock(p int32, batches ...[]string) {
	for _, values := range batches {
		f.append(p, batch(0, record.Plain(), values...))
	}
}

// consume runs a consumer until its tail.
func (f *fake) consume(t *testing.T, c ConsumerConfig) *Consumer {
	k := NewConsumer(f.host, c)
	require.True(t, f.do(k.Run))
	return k
}

// read lists the values that polls of a partition returned.
func (s *seen) read(p kafka.PartitionID) (all []string) {
	for _, poll := range s.polls {
		if poll.Partition == p {
			for _, r := range poll.Records {
				all = append(all, string(r.Value))
			}
		}
	}
	return all
}

func TestAConsumerReadsFromTheStartToItsTail(t *testing.T) {
	for seed := range uint64(40) { // of versions
		f := newFake(t, seed)
		f.stock(0, []string{"a", "b"}, []string{"c"})
		f.stock(1, []string{"x"})
		c := reads()
		c.Tail = []kafka.Offset{3, 1}
		k := f.consume(t, c)
		require.Equal(t, []string{"a", "b", "c"}, f.seen.read(0))
		require.Equal(t, []string{"x"}, f.seen.read(1))
		require.Equal(t, []kafka.Offset{3, 1}, k.Positions())
		require.Empty(t, f.seen.troubles)

		r := of[*kmsg.FetchRequest](f)[0]
		require.EqualValues(t, 30, r.MaxWaitMillis)
		require.EqualValues(t, 2, r.MinBytes)
		require.EqualValues(t, 5000, r.MaxBytes)
		require.EqualValues(t, 600, r.Topics[0].Partitions[0].PartitionMaxBytes)
		require.Zero(t, r.IsolationLevel)
		if r.Version >= 13 {
			require.Equal(t, f.topicID, kafka.TopicID(r.Topics[0].TopicID))
		}
		for _, l := range of[*kmsg.ListOffsetsRequest](f) {
			require.Equal(t, kafka.EarliestTimestamp, l.Topics[0].Partitions[0].Timestamp)
		}
		poll := f.seen.polls[0]
		require.True(t, poll.Answered)
		require.EqualValues(t, f.end(int32(poll.Partition)), poll.HighWatermark)
	}
}

func TestAConsumerOfCommittedRecordsSaysSoEverywhere(t *testing.T) {
	f := newFake(t, 1)
	f.stock(0, []string{"a"})
	c := reads()
	c.Committed, c.Tail = true, []kafka.Offset{1, 0}
	f.consume(t, c)
	for _, r := range of[*kmsg.FetchRequest](f) {
		require.EqualValues(t, 1, r.IsolationLevel)
	}
	for _, r := range of[*kmsg.ListOffsetsRequest](f) {
		require.EqualValues(t, 1, r.IsolationLevel)
	}
	require.True(t, f.seen.polls[0].Committed)
}

func TestAConsumerFromTheLatestBeginsAtTheEnd(t *testing.T) {
	f := newFake(t, 1)
	f.stock(0, []string{"old"})
	f.script = func(a *asked) action {
		if _, ok := a.Request.(*kmsg.FetchRequest); ok && f.end(0) == 1 {
			f.stock(0, []string{"new"})
		}
		return nil
	}
	c := reads()
	c.FromLatest, c.Tail = true, []kafka.Offset{2, 0}
	f.consume(t, c)
	require.Equal(t, []string{"new"}, f.seen.read(0))
}

// consumerOf returns a consumer that drew one of some versions.
func (f *fake) consumerOf(versions func(int16) bool, c ConsumerConfig) *Consumer {
	for {
		if k := NewConsumer(f.host, c); versions(k.version) {
			return k
		}
	}
}

// withSessionIDs are the versions that have them.
func withSessionIDs(version int16) bool { return version >= 7 }

// withSessions runs a consumer with sessions until the script says that it is enough.
func (f *fake) withSessions(t *testing.T, versions func(int16) bool,
	answer func(n int, r *kmsg.FetchRequest) *kmsg.FetchResponse,
) {
	c := reads()
	c.Sessions, c.Tail = true, nil
	k := f.consumerOf(versions, c)
	n := 0
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.FetchRequest)
		if !ok {
			return nil
		}
		n++
		res := answer(n, r)
		if res == nil {
			k.Stop()
			res = f.fetch(r, r.SessionID)
		}
		return func() { a.answer(res) }
	}
	require.True(t, f.do(k.Run))
}

// named lists the partitions that a fetch names.
func named(r *kmsg.FetchRequest) (all []int32) {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			all = append(all, p.Partition)
		}
	}
	return all
}

func TestASessionOfAConsumerNamesWhatMovedAndBeginsAgainWhenItIsGone(t *testing.T) {
	f := newFake(t, 1)
	f.stock(0, []string{"a"})
	f.withSessions(t, withSessionIDs,
		func(n int, r *kmsg.FetchRequest) *kmsg.FetchResponse {
			switch n {
			case 3: // nothing is named, and one partition has news
				f.stock(1, []string{"x"})
				full := *r
				full.Topics = of[*kmsg.FetchRequest](f)[0].Topics
				res := f.fetch(&full, 77)
				res.Topics[0].Partitions = res.Topics[0].Partitions[1:]
				return res
			case 5:
				res := r.ResponseKind().(*kmsg.FetchResponse)
				res.ErrorCode = int16(kafka.FetchSessionIDNotFound)
				return res
			case 7:
				return nil
			}
			return f.fetch(r, 77)
		})
	type one struct {
		id, epoch int32
		named     []int32
	}
	var got []one
	for _, r := range of[*kmsg.FetchRequest](f) {
		got = append(got, one{r.SessionID, r.SessionEpoch, named(r)})
	}
	require.Equal(t, []one{
		{0, 0, []int32{0, 1}}, // a full one
		{77, 1, []int32{0}},   // it read a
		{77, 2, nil},          // nothing has moved
		{77, 3, []int32{1}},   // it read x
		{77, 4, nil},          // the session is gone
		{0, 0, []int32{0, 1}}, // anew
		{77, 1, nil},
	}, got)
	require.Empty(t, f.seen.troubles)
	require.Equal(t, []string{"a"}, f.seen.read(0))
	require.Equal(t, []string{"x"}, f.seen.read(1))
}

func TestOldVersionsHaveNoSessions(t *testing.T) {
	f := newFake(t, 1)
	f.withSessions(t, func(version int16) bool { return !withSessionIDs(version) },
		func(n int, r *kmsg.FetchRequest) *kmsg.FetchResponse {
			require.Equal(t, []int32{0, 1}, named(r))
			if n == 3 {
				return nil
			}
			return f.fetch(r, 0)
		})
}

func TestASessionEndsWithItsConnection(t *testing.T) {
	f := newFake(t, 1)
	n := 0
	c := reads()
	c.Sessions, c.Tail = true, []kafka.Offset{2, 0}
	f.stock(0, []string{"a"})
	var heads [][2]int32
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.FetchRequest)
		if !ok {
			return nil
		}
		heads = append(heads, [2]int32{r.SessionID, r.SessionEpoch})
		switch n++; n {
		case 1:
			return func() { a.answer(f.fetch(r, 77)) }
		case 2:
			return a.hangUp
		}
		f.stock(0, []string{"b"})
		return func() { a.answer(f.fetch(r, 78)) }
	}
	require.True(t, f.do(f.consumerOf(withSessionIDs, c).Run))
	require.Equal(t, 2, f.conns)
	require.Equal(t, []string{"a", "b"}, f.seen.read(0))
	require.Equal(t, [][2]int32{{0, 0}, {77, 1}, {0, 0}}, heads)
	require.False(t, f.seen.asked[2].Answered, "a poll whose connection broke stays without an answer")
}

func TestAConsumerWhosePositionIsGoneAsksAnew(t *testing.T) {
	f := newFake(t, 1)
	f.stock(0, []string{"a"}, []string{"b"})
	n := 0
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.FetchRequest)
		if !ok {
			return nil
		}
		if n++; n == 2 {
			res := f.fetch(r, 0)
			res.Topics[0].Partitions[0].ErrorCode = int16(kafka.OffsetOutOfRange)
			res.Topics[0].Partitions[0].RecordBatches = nil
			return func() { a.answer(res) }
		}
		return nil
	}
	c := reads()
	c.Tail = nil
	k := NewConsumer(f.host, c)
	f.scheduler.After(sim.Second, 0, sim.KindNote, k.Stop)
	require.True(t, f.do(k.Run))
	require.Equal(t, []string{"a", "b", "a", "b"}, f.seen.read(0))
	require.Len(t, of[*kmsg.ListOffsetsRequest](f), 3)
	assignments := map[int32]bool{}
	for _, p := range f.seen.polls {
		if p.Partition == 0 {
			assignments[p.Assignment] = true
		}
	}
	require.Equal(t, map[int32]bool{0: true, 1: true}, assignments)
}

func TestStrangeFetchResponsesAreTrouble(t *testing.T) {
	for want, spoil := range map[string]func(*kmsg.FetchResponse){
		"fetch response of another session": func(r *kmsg.FetchResponse) { r.SessionID = 5 },
		"fetch response with a partition that was not asked for": func(r *kmsg.FetchResponse) {
			r.Topics[0].Partitions[1].Partition = 2
		},
	} {
		f := newFake(t, 1)
		f.stock(0, []string{"a"})
		f.script = func(a *asked) action {
			r, ok := a.Request.(*kmsg.FetchRequest)
			if !ok {
				return nil
			}
			res := f.fetch(r, 0)
			spoil(res)
			return func() { a.answer(res) }
		}
		c := reads()
		c.Tail = []kafka.Offset{1, 0}
		require.True(t, f.do(f.consumerOf(withSessionIDs, c).Run))
		require.Equal(t, []string{want}, f.seen.troubles)
	}
}

func TestAPartitionThatIsAnsweredTwiceIsTrouble(t *testing.T) {
	f := newFake(t, 1)
	f.stock(0, []string{"a"})
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.FetchRequest)
		if !ok {
			return nil
		}
		res := f.fetch(r, 0)
		res.Topics[0].Partitions[1] = res.Topics[0].Partitions[0]
		return func() { a.answer(res) }
	}
	c := reads()
	c.Tail = []kafka.Offset{1, 0}
	f.consume(t, c)
	require.Equal(t, []string{"fetch response with a partition that was not asked for"},
		f.seen.troubles)
	require.Equal(t, []string{"a"}, f.seen.read(0))
}
