package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

func TestImbalanceIsJudgedByBroker(t *testing.T) {
	image := sixBrokers(t, 1, 2)
	records := []Record{&TopicRecord{ID: idNumber(2), Name: "u"}}
	for i := range 10 { // broker 3 leads nine of its ten, and broker 1 none of its one
		leader := kafka.BrokerID(3)
		if i == 4 {
			leader = 4
		}
		records = append(records, &PartitionRecord{idNumber(2), kafka.PartitionID(i), Partition{
			Replicas: ids(3, 4), Standing: Standing{ids(3, 4), nil, leader, kafka.NoBroker, false},
		}})
	}
	image = elected(t, decide(t, image, records), 0)
	s := first(image).Standing
	s.Leader = 2
	image = decide(t, image, []Record{&PartitionChangesRecord{idNumber(1), []PartitionUpdate{{0, true, s}}}})
	t0, u4 := TopicPartitions{"t", []kafka.PartitionID{0}}, TopicPartitions{"u", []kafka.PartitionID{4}}
	require.Equal(t, []TopicPartitions{t0, u4}, image.Imbalance(0))
	require.Equal(t, []TopicPartitions{t0, u4}, image.Imbalance(9))
	require.Equal(t, []TopicPartitions{t0}, image.Imbalance(10))
	require.Empty(t, image.Imbalance(100))
	under, _ := reassign(t, image, 1, 5)
	require.Equal(t, []TopicPartitions{u4}, under.Imbalance(0), "a reassignment is under way")
	shrunk := altered(t, image, 2, changeOf(image, 0, 2))
	require.Equal(t, []TopicPartitions{u4}, shrunk.Imbalance(0), "broker 1 is not in sync")
}
