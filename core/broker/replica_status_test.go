package broker

import (
	"testing"

	"stet/core/kafka"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestReplicasTellOfThemselvesWhoeverLeads(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 2)
	h.produce(1, "orders", 0, "a")
	h.controller.lead("orders", 0, 5, 2)
	h.controller.publish(h)
	h.deliver()
	h.ask(1, &wire.ReplicaStatusRequest{Topic: "orders"})
	got := h.one().(*wire.ReplicaStatusResponse)
	require.Zero(t, got.ErrorCode)
	require.Len(t, got.Replicas, 2)
	require.Equal(t, wire.ReplicaStatus{
		State: "online", LeaderEpoch: 5, LatestEpoch: 0, LogEnd: 1, HighWatermark: 1,
	}, got.Replicas[0])
	require.Equal(t, "online", got.Replicas[1].State)
	require.True(t, got.Replicas[1].Leading)
	h.ask(1, &wire.ReplicaStatusRequest{Topic: "none"})
	require.Equal(t, int16(kafka.UnknownTopicOrPartition), h.one().(*wire.ReplicaStatusResponse).ErrorCode)
}

func TestLogDirectoriesTellWhatTheyHold(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 2)
	h.produce(1, "orders", 1, "a")
	ask := func(topics ...kmsg.DescribeLogDirsRequestTopic) *kmsg.DescribeLogDirsResponse {
		m := kmsg.NewPtrDescribeLogDirsRequest()
		m.Version, m.Topics = 5, topics
		h.ask(1, m)
		return h.one().(*kmsg.DescribeLogDirsResponse)
	}
	all := ask()
	require.Len(t, all.Dirs, 1)
	require.Equal(t, h.config.Directories[0], all.Dirs[0].Dir)
	require.Len(t, all.Dirs[0].Topics, 1)
	partitions := all.Dirs[0].Topics[0].Partitions
	require.Len(t, partitions, 2)
	require.Zero(t, partitions[0].Size)
	require.Positive(t, partitions[1].Size)
	some := ask(kmsg.DescribeLogDirsRequestTopic{Topic: "orders", Partitions: []int32{1}})
	require.Equal(t, partitions[1:], some.Dirs[0].Topics[0].Partitions)
}

func TestConsumersFindTheEndOfAnEpoch(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.controller.lead("orders", 0, 3, 1)
	h.controller.publish(h)
	h.deliver()
	h.produce(1, "orders", 0, "b")
	ask := func(epoch, current int32) kmsg.OffsetForLeaderEpochResponseTopicPartition {
		m := kmsg.NewPtrOffsetForLeaderEpochRequest()
		m.Version = 4
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.LeaderEpoch, p.CurrentLeaderEpoch = epoch, current
		m.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{
			{Topic: "orders", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p}},
		}
		h.ask(1, m)
		return h.one().(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
	}
	for _, c := range []struct {
		asked, current int32
		code           kafka.ErrorCode
		epoch          int32
		end            int64
	}{
		{0, 3, kafka.None, 0, 1},
		{2, 3, kafka.None, 0, 1},
		{3, -1, kafka.None, 3, 2},
		{4, 3, kafka.None, -1, -1},
		{0, 2, kafka.FencedLeaderEpoch, -1, -1},
		{0, 4, kafka.UnknownLeaderEpoch, -1, -1},
	} {
		got := ask(c.asked, c.current)
		require.Equal(t, int16(c.code), got.ErrorCode, "%+v", c)
		require.Equal(t, c.epoch, got.LeaderEpoch, "%+v", c)
		require.Equal(t, c.end, got.EndOffset, "%+v", c)
	}
}
