package controller

import (
	"testing"
	"time"

	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// quorum asks for the description of a partition of the metadata log.
func (m *machine) quorum(partition int32) *kmsg.DescribeQuorumResponse {
	q := kmsg.NewPtrDescribeQuorumRequest()
	q.Version = 2
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = metadataTopic
	p := kmsg.NewDescribeQuorumRequestTopicPartition()
	p.Partition = partition
	topic.Partitions = append(topic.Partitions, p)
	q.Topics = append(q.Topics, topic)
	return m.call(q).(*kmsg.DescribeQuorumResponse)
}

func TestTheLeaderDescribesTheQuorum(t *testing.T) {
	s := newCluster(t, 1, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	away := s.machines[s.leader().node%3]
	s.run(time.Second)
	away.crash(true)
	crashed := int64(s.now) / 1e6
	s.run(3 * time.Second)
	leader := s.leader()
	answer := leader.quorum(0)
	require.Zero(t, answer.ErrorCode)
	p := answer.Topics[0].Partitions[0]
	require.Zero(t, p.ErrorCode)
	require.EqualValues(t, leader.node, p.LeaderID)
	require.EqualValues(t, leader.c.term, p.LeaderEpoch)
	end := int64(leader.c.Image().Index()) + 1
	require.Equal(t, end, p.HighWatermark)
	require.Len(t, p.CurrentVoters, 3)
	require.Empty(t, p.Observers)
	now, tick := int64(s.now)/1e6, leader.config.TickInterval.Milliseconds()
	for _, v := range p.CurrentVoters {
		m := s.machines[v.ReplicaID-1]
		require.Equal(t, leader.c.Image().Voter(m.voter).Directory, metadata.DirectoryID(v.ReplicaDirectoryID))
		require.Equal(t, end, v.LogEndOffset)
		if m == away {
			window := int64(leader.config.Quorum.ElectionTicks+1) * tick
			require.InDelta(t, crashed, v.LastFetchTimestamp, float64(window))
			require.InDelta(t, crashed, v.LastCaughtUpTimestamp, float64(window))
		} else {
			require.InDelta(t, now, v.LastFetchTimestamp, float64(10*tick))
			require.InDelta(t, now, v.LastCaughtUpTimestamp, float64(10*tick))
		}
	}
	require.Len(t, answer.Nodes, 3)
	for i, n := range answer.Nodes {
		require.EqualValues(t, i+1, n.NodeID)
		require.Equal(t, controllerListener, n.Listeners[0].Name)
		require.Equal(t, address(i + 1)[:2], n.Listeners[0].Host)
		require.EqualValues(t, 9093, n.Listeners[0].Port)
	}
}

func TestQuorumOfAnotherPartitionOrAnotherControllerIsRefused(t *testing.T) {
	s := newCluster(t, 2, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	p := s.leader().quorum(1).Topics[0].Partitions[0]
	require.EqualValues(t, kafka.UnknownTopicOrPartition, p.ErrorCode)
	other := s.machines[s.leader().node%3]
	require.EqualValues(t, kafka.NotController, other.quorum(0).ErrorCode)
}
