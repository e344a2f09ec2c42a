package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

func TestHelloTellsWhatABrokerDoesNotLike(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		res := a.Request.ResponseKind().(*kmsg.ApiVersionsResponse)
		res.ErrorCode = int16(kafka.InvalidRequest)
		return func() { a.answer(res) }
	}
	require.True(t, f.do(func() { require.True(t, f.host.Dial().Hello(3)) }))
	require.Equal(t, []string{"ApiVersions: INVALID_REQUEST"}, f.seen.troubles)
}

func TestMetadataCountsLeadersAndLearnsTheTopicsID(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		r, ok := a.Request.(*kmsg.MetadataRequest)
		if !ok {
			return nil
		}
		res := f.metadata(r).(*kmsg.MetadataResponse)
		res.Topics[0].Partitions[0].Leader = -1
		res.Topics[0].Partitions[1].ErrorCode = int16(kafka.LeaderNotAvailable)
		return func() { a.answer(res) }
	}
	require.True(t, f.do(func() {
		c := f.host.Dial()
		led, code := c.Metadata(9) // it has no ids yet
		require.Equal(t, kafka.None, code)
		require.Equal(t, 1, led)
		require.Zero(t, f.host.TopicID)
		led, code = c.Metadata(12)
		require.Equal(t, kafka.None, code)
		require.Equal(t, 1, led)
		require.Equal(t, f.topicID, f.host.TopicID)
	}))
	require.Equal(t, "orders", *of[*kmsg.MetadataRequest](f)[0].Topics[0].Topic)
}

func TestCodesOfATopicAreReturned(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		res := f.handle(a.Request)
		switch res := res.(type) {
		case *kmsg.MetadataResponse:
			res.Topics[0].ErrorCode = int16(kafka.UnknownTopicOrPartition)
		case *kmsg.CreateTopicsResponse:
			res.Topics[0].ErrorCode = int16(kafka.TopicAlreadyExists)
		case *kmsg.DeleteTopicsResponse:
			res.Topics[0].ErrorCode = int16(kafka.TopicDeletionDisabled)
		}
		return func() { a.answer(res) }
	}
	require.True(t, f.do(func() {
		c := f.host.Dial()
		led, code := c.Metadata(12)
		require.Zero(t, led)
		require.Equal(t, kafka.UnknownTopicOrPartition, code)
		require.Zero(t, f.host.TopicID, "an id is learnt from a topic that exists")
		require.Equal(t, kafka.TopicDeletionDisabled, c.DeleteTopic())
		require.Equal(t, kafka.TopicAlreadyExists,
			c.CreateTopic(4, map[string]string{"b": "2", "a": "1"}, []string{"a", "b"}))
	}))
	create := of[*kmsg.CreateTopicsRequest](f)[0].Topics[0]
	require.EqualValues(t, 4, create.NumPartitions)
	require.EqualValues(t, 1, create.ReplicationFactor)
	require.Equal(t, "a", create.Configs[0].Name)
	require.Equal(t, "1", *create.Configs[0].Value)
	require.Equal(t, "b", create.Configs[1].Name)
	require.Equal(t, []string{"orders"}, of[*kmsg.DeleteTopicsRequest](f)[0].TopicNames)
}

func TestListAsksInAVersionThatKnowsTheQuestion(t *testing.T) {
	for seed := range uint64(20) {
		f := newFake(t, seed)
		require.True(t, f.do(func() {
			c := f.host.Dial()
			c.List(&List{Partition: 2, Timestamp: kafka.MaxTimestamp})
			c.List(&List{Partition: 1, Timestamp: 5, Committed: true})
			c.List(&List{Timestamp: kafka.LatestTimestamp})
		}))
		asked := of[*kmsg.ListOffsetsRequest](f)
		require.GreaterOrEqual(t, asked[0].Version, int16(7))
		require.EqualValues(t, 2, asked[0].Topics[0].Partitions[0].Partition)
		require.GreaterOrEqual(t, asked[1].Version, int16(2))
		require.EqualValues(t, 1, asked[1].IsolationLevel)
		require.EqualValues(t, 5, asked[1].Topics[0].Partitions[0].Timestamp)
		require.EqualValues(t, -1, asked[2].ReplicaID)
		require.Len(t, f.seen.lists, 3)
		require.True(t, f.seen.lists[0].Answered)
		require.EqualValues(t, 7, f.seen.lists[0].AnswerStamp)
	}
}

func TestAListerGoesOnAfterAConnectionBroke(t *testing.T) {
	f := newFake(t, 1)
	broken := 0
	f.script = func(a *asked) action {
		if _, ok := a.Request.(*kmsg.ListOffsetsRequest); ok && a.conn.number < 3 {
			broken++
			return a.hangUp
		}
		return nil
	}
	var l *Lister
	l = NewLister(f.host, 3, func() *List {
		if len(f.seen.lists) == 2 {
			l.Stop()
		}
		return &List{Timestamp: kafka.EarliestTimestamp}
	})
	require.True(t, f.do(l.Run))
	require.Equal(t, 2, broken)
	require.Equal(t, 3, f.conns)
	require.Len(t, f.seen.lists, 3)
}
