package metadata

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// reassign asks for other replicas of a partition, or for those before.
func (m *machine) reassign(t *rapid.T) {
	topic := m.topic(t)
	if topic == nil {
		return
	}
	id := kafka.PartitionID(rapid.IntRange(0, topic.PartitionCount()-1).Draw(t, "partition"))
	k, p := partitionKey{topic.ID, id}, topic.Partition(id)
	asked := NewReplicas{Topic: topic.Name, ID: id}
	if rapid.IntRange(0, 4).Draw(t, "back") > 0 {
		var brokers []kafka.BrokerID
		for b := range m.image.Brokers() {
			brokers = append(brokers, b.ID)
		}
		if len(brokers) == 0 {
			return
		}
		n := rapid.IntRange(1, min(4, len(brokers))).Draw(t, "factor")
		asked.Replicas = rapid.Permutation(brokers).Draw(t, "replicas")[:n]
	}
	any := rapid.Bool().Draw(t, "any factor")
	records, outcomes, code := AlterReassignments(m.image, []NewReplicas{asked}, any)
	require.Equal(t, kafka.None, code)
	held := len(p.ISR) + len(p.ELR)
	m.apply(t, records)
	after := m.image.TopicByID(k.topic).Partition(id)
	switch o := outcomes[0]; o.Error {
	case kafka.None:
		m.checkReassigned(t, topic, &asked, p, after)
		require.GreaterOrEqual(t, len(after.ISR)+len(after.ELR), min(held, m.minimum(topic, after)),
			"fewer than the minimum hold what is committed")
	case kafka.NoReassignmentInProgress:
		require.True(t, asked.Replicas == nil && p.Reassignment == nil)
	case kafka.InvalidReplicationFactor:
		require.True(t, !any && len(asked.Replicas) != len(p.target()))
	default:
		require.Equal(t, kafka.InvalidReplicaAssignment, o.Error)
		require.NotNil(t, p.Reassignment, "only what one under way has added can be missed")
	}
	require.Equal(t, outcomes[0].Error != kafka.None || p.reassignedAs(after), after == p)
}

// checkReassigned: the replicas are those asked for and those before, each of which keeps its directory.
func (m *machine) checkReassigned(t *rapid.T, topic *Topic, asked *NewReplicas, p, after *Partition) {
	origin := p.origin()
	if asked.Replicas != nil {
		require.Equal(t, asked.Replicas, after.target())
	} else {
		require.Equal(t, origin, after.Replicas)
	}
	if after.Reassignment != nil {
		require.Len(t, origin, after.ReplicationFactor())
	}
	for _, id := range after.Replicas {
		if p.HasReplica(id) {
			require.Equal(t, p.Directory(id), after.Directory(id))
			continue
		}
		require.Contains(t, m.image.Broker(id).Directories, after.Directory(id))
		require.True(t, after.Reassignment != nil && slices.Contains(after.Reassignment.Adding, id) ||
			m.allowsUnclean(topic) && after.Leader == id, "it may not be in sync yet")
	}
}
