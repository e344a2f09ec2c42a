package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func partitionsOf(topic string, list ...kafka.PartitionID) []TopicPartitions {
	return []TopicPartitions{{topic, list}}
}

// codes lists the outcomes of an election.
func codes(outcomes []TopicElection) (list []kafka.ErrorCode) {
	for _, o := range outcomes {
		for _, p := range o.Partitions {
			list = append(list, p.Error)
		}
	}
	return list
}

func TestFirstReplicaInSyncIsElected(t *testing.T) {
	image := threeReplicas(t) // partition i is led by 1 + i%3, and 1 comes first
	image = altered(t, image, 3, changeOf(image, 2, 3, 2))
	records, outcomes, code := ElectLeaders(image, PreferredElection,
		append(partitionsOf("t", 0, 1, 2, 1, 130, 4), partitionsOf("nowhere", 0)...))
	require.Equal(t, kafka.None, code)
	require.Equal(t, []kafka.ErrorCode{
		kafka.ElectionNotNeeded, kafka.None, kafka.PreferredLeaderNotAvailable, kafka.InvalidRequest,
		kafka.UnknownTopicOrPartition, kafka.None, kafka.UnknownTopicOrPartition,
	}, codes(outcomes))
	require.Equal(t, "nowhere", outcomes[1].Topic)
	require.Len(t, records, 1, "one record for the topic")
	after := decide(t, image, records)
	each(image, after, func(i int, before, p *Partition) {
		if i != 1 && i != 4 {
			require.Same(t, before, p)
			return
		}
		require.Equal(t, kafka.BrokerID(1), p.Leader)
		require.Equal(t, before.ISR, p.ISR)
		require.Equal(t, before.LeaderEpoch+1, p.LeaderEpoch)
		require.Equal(t, before.Epoch+1, p.Epoch)
	})
}

func TestElectionOfAllTellsOnlyWhatNeededOne(t *testing.T) {
	image := threeReplicas(t)
	records, outcomes, _ := ElectLeaders(image, PreferredElection, nil)
	require.Len(t, outcomes, 1)
	require.Len(t, outcomes[0].Partitions, 86, "two of three are led by another than the first")
	after := decide(t, image, records)
	each(image, after, func(_ int, _, p *Partition) { require.Equal(t, kafka.BrokerID(1), p.Leader) })
	records, outcomes, _ = ElectLeaders(after, PreferredElection, nil)
	require.Empty(t, records)
	require.Empty(t, outcomes)
	_, _, code := ElectLeaders(after, 2, nil)
	require.Equal(t, kafka.InvalidRequest, code)
}

func TestUncleanElectionByHandIsOneOfAnyActiveReplicaWhereNobodyLeads(t *testing.T) {
	image := fence(t, fence(t, threeReplicas(t), 1), 2, 3) // 2 and 3 are eligible, 1 is not
	_, outcomes, _ := ElectLeaders(image, UncleanElection, partitionsOf("t", 0))
	require.Equal(t, []kafka.ErrorCode{kafka.EligibleLeadersNotAvailable}, codes(outcomes))
	back := unfenced(t, image, 1)
	records, outcomes, _ := ElectLeaders(back, UncleanElection, partitionsOf("t", 0, 1))
	require.Equal(t, []kafka.ErrorCode{kafka.None, kafka.None}, codes(outcomes))
	after := decide(t, back, records)
	each(back, after, func(i int, before, p *Partition) {
		if i > 1 {
			require.Same(t, before, p, "it was not asked for")
			return
		}
		require.Equal(t, Standing{ids(1), nil, 1, kafka.NoBroker, true}, p.Standing)
		require.Equal(t, before.LeaderEpoch+1, p.LeaderEpoch)
		change := PartitionChange{0, before, p}
		require.True(t, change.Unclean())
	})
	_, outcomes, _ = ElectLeaders(after, UncleanElection, partitionsOf("t", 0))
	require.Equal(t, []kafka.ErrorCode{kafka.ElectionNotNeeded}, codes(outcomes))
}

// elect has the machine elect leaders by hand.
func (m *machine) elect(t *rapid.T) {
	var asked []TopicPartitions
	if topic := m.topic(t); topic != nil && rapid.Bool().Draw(t, "of one") {
		asked = partitionsOf(topic.Name, kafka.PartitionID(rapid.IntRange(0, topic.PartitionCount()-1).Draw(t, "partition")))
	}
	kind := PreferredElection
	if rapid.IntRange(0, 5).Draw(t, "unclean") == 0 {
		kind = UncleanElection
	}
	before := m.image
	records, outcomes, code := ElectLeaders(before, kind, asked)
	require.Equal(t, kafka.None, code)
	m.forced = kind == UncleanElection
	m.apply(t, records)
	m.forced = false
	for _, o := range outcomes {
		for _, e := range o.Partitions {
			old, p := before.Topic(o.Topic).Partition(e.ID), m.image.Topic(o.Topic).Partition(e.ID)
			require.Equal(t, e.Error != kafka.None, old == p, "%v", e)
			if e.Error == kafka.None && kind == PreferredElection {
				require.Equal(t, p.Replicas[0], p.Leader)
			}
		}
	}
}
