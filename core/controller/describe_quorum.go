package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/quorum"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeQuorum (key 55), versions 0 to 2 (KIP-595, KIP-836, KIP-853): the leader's view of the
// metadata quorum, which Kafka's tools know as partition 0 of the topic __cluster_metadata. Offsets
// are indexes of the raft log; ends are exclusive. v1 tells when members were heard of and had all
// that there was, to the precision of a tick; v2 tells directories and addresses.

// metadataTopic is what Kafka calls the metadata log.
const metadataTopic = "__cluster_metadata"

func (c *Controller) describeQuorum(r *env.Request, m *kmsg.DescribeQuorumRequest) {
	names := make([]string, len(m.Topics))
	partitions := make([][]int32, len(m.Topics))
	for i := range m.Topics {
		names[i] = m.Topics[i].Topic
		for j := range m.Topics[i].Partitions {
			partitions[i] = append(partitions[i], m.Topics[i].Partitions[j].Partition)
		}
	}
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrDescribeQuorumResponse()
		answer.ErrorCode = int16(code)
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	answer := kmsg.NewPtrDescribeQuorumResponse()
	for i, name := range names {
		t := kmsg.NewDescribeQuorumResponseTopic()
		t.Topic = name
		for _, id := range partitions[i] {
			t.Partitions = append(t.Partitions, c.describePartition(name, id))
		}
		answer.Topics = append(answer.Topics, t)
	}
	answer.Nodes = c.describeNodes()
	c.decided(r, nil, answer, refuse, nil)
}

func (c *Controller) describePartition(name string, id int32) kmsg.DescribeQuorumResponseTopicPartition {
	p := kmsg.NewDescribeQuorumResponseTopicPartition()
	p.Partition = id
	if name != metadataTopic || id != 0 {
		p.ErrorCode = int16(kafka.UnknownTopicOrPartition)
		return p
	}
	status := c.life.quorum.Status()
	p.LeaderID, p.LeaderEpoch = int32(c.config.NodeID), int32(c.term)
	p.HighWatermark = int64(status.Applied.Index) + 1
	for i := range status.Peers {
		peer := &status.Peers[i]
		state := c.describeMember(peer)
		if peer.Voter == c.voter {
			state.LogEndOffset = int64(status.Last.Index) + 1
		}
		if slices.Contains(status.Members.Voters, peer.Voter) {
			p.CurrentVoters = append(p.CurrentVoters, state)
		} else {
			p.Observers = append(p.Observers, state)
		}
	}
	return p
}

func (c *Controller) describeMember(
	peer *quorum.PeerProgress,
) kmsg.DescribeQuorumResponseTopicPartitionReplicaState {
	state := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
	state.ReplicaID, state.LogEndOffset = int32(c.nodeOf(peer.Voter)), int64(peer.Match)+1
	if v := c.image.Voter(peer.Voter); v != nil {
		state.ReplicaID, state.ReplicaDirectoryID = int32(v.Node), v.Directory
	}
	state.LastFetchTimestamp, state.LastCaughtUpTimestamp = -1, -1
	if peer.Voter == c.voter {
		state.LastFetchTimestamp, state.LastCaughtUpTimestamp = c.now.WallMs, c.now.WallMs
	} else if m := c.members.report(peer.Voter); m != nil {
		state.LastFetchTimestamp, state.LastCaughtUpTimestamp = m.heardMs, m.caughtMs
	}
	return state
}

func (c *Controller) describeNodes() (nodes []kmsg.DescribeQuorumResponseNode) {
	for v := range c.image.Voters() {
		n := kmsg.NewDescribeQuorumResponseNode()
		n.NodeID = int32(v.Node)
		for _, e := range v.Endpoints {
			l := kmsg.NewDescribeQuorumResponseNodeListener()
			l.Name, l.Host, l.Port = e.Name, e.Host, e.Port
			n.Listeners = append(n.Listeners, l)
		}
		nodes = append(nodes, n)
	}
	slices.SortStableFunc(nodes, func(a, b kmsg.DescribeQuorumResponseNode) int {
		return int(a.NodeID) - int(b.NodeID)
	})
	return nodes
}
