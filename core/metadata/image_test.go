package metadata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// clusterOf makes a cluster with brokers 1 to n, unfenced, each with one directory.
func clusterOf(t require.TestingT, n int) *Image {
	records := []Record{&ClusterRecord{"cluster", Features{CurrentLevel}}}
	for i := range n {
		id := kafka.BrokerID(i + 1)
		records = append(records, &BrokerRecord{Broker{
			ID: id, Epoch: brokerEpochFromIndex, Incarnation: IncarnationID{byte(id)},
			Directories: []DirectoryID{{9, byte(id)}}, Endpoints: []Endpoint{{"PLAINTEXT", "h", 9092, 0}},
		}})
	}
	return applied(t, Empty(), records...)
}

// applied applies one entry, through its bytes, and checks that the image before stays as it was.
func applied(t require.TestingT, image *Image, records ...Record) *Image {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	before := image.AppendSnapshot(nil)
	next, err := image.ApplyEntry(image.Index()+1, AppendEntry(nil, records...))
	require.NoError(t, err)
	require.Equal(t, before, image.AppendSnapshot(nil), "an image was written to")
	return next
}

// withTopic adds a topic whose partitions are led by broker 1.
func withTopic(t *testing.T, image *Image, name string, number, partitions int) *Image {
	records := []Record{&TopicRecord{ID: idNumber(number), Name: name}}
	for i := range partitions {
		records = append(records, &PartitionRecord{idNumber(number), kafka.PartitionID(i), Partition{
			Replicas: []kafka.BrokerID{1}, ISR: []kafka.BrokerID{1}, Leader: 1,
		}})
	}
	return applied(t, image, records...)
}
