package metadata

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzApplyEntry: whatever is read is written as the same bytes, so there is one form of an entry,
// and no entry makes Apply panic or touch the image it is applied to.
func FuzzApplyEntry(f *testing.F) {
	f.Add([]byte{})
	f.Add(AppendEntry(nil))
	f.Add(AppendEntry(nil, &ClusterRecord{"c", Features{1}}, &VoterRemovalRecord{1}))
	id := idNumber(1)
	f.Add(AppendEntry(nil, &TopicRecord{id, "t", []ConfigEntry{{"retention.ms", "1"}}, 7},
		&PartitionRecord{id, 0, Partition{Directories: []DirectoryID{{9}}, Standing: Standing{Leader: 1}}},
		&ConfigRecord{Resource: Resource{ResourceTopic, "t"}, Name: "a", Value: "b"},
		&PartitionChangesRecord{id, []PartitionUpdate{{0, true, Standing{ISR: ids(1), Leader: 1}}}},
		&PartitionChangesRecord{id, []PartitionUpdate{{0, false, Standing{ELR: ids(1), Leader: -1}}}}))
	f.Add(AppendEntry(nil, &BrokerRecord{Broker{ID: 9, Epoch: -1}},
		&BrokerStateRecord{1, 1, true, false}, &ProducerIDsRecord{Next: 1000}, &TopicRemovalRecord{id}))
	f.Fuzz(func(t *testing.T, entry []byte) {
		records, err := DecodeEntry(entry)
		if err != nil {
			require.Nil(t, records)
			return
		}
		if len(entry) > 0 {
			require.Equal(t, entry, AppendEntry(nil, records...))
		}
		image := clusterOf(t, 2)
		before := image.AppendSnapshot(nil)
		next, err := image.Apply(2, records...)
		require.Equal(t, before, image.AppendSnapshot(nil))
		if err != nil {
			require.Nil(t, next)
			return
		}
		requireRestorable(t, next)
	})
}

// FuzzLoadSnapshot gives the right checksum to any body.
func FuzzLoadSnapshot(f *testing.F) {
	f.Add(append([]byte{snapshotVersion}, func() []byte { // with voters
		image, err := clusterOf(f, 2).Apply(2, &VoterRecord{Voter{ID: 1 << 62, Features: BuildLevels().Features()}})
		require.NoError(f, err)
		snapshot := image.AppendSnapshot(nil)
		return snapshot[1 : len(snapshot)-4]
	}()...))
	for _, n := range []int{0, 1, 3} {
		snapshot := clusterOf(f, n).AppendSnapshot(nil)
		f.Add(snapshot[:len(snapshot)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = DecodeSnapshot(body)
		image, err := DecodeSnapshot(seal(body))
		if err != nil {
			require.Nil(t, image)
			return
		}
		requireRestorable(t, image)
	})
}

// requireRestorable fails unless a snapshot of the image says all that the image knows.
func requireRestorable(t require.TestingT, image *Image) {
	snapshot := image.AppendSnapshot(nil)
	again, err := DecodeSnapshot(snapshot)
	require.NoError(t, err)
	require.Equal(t, snapshot, again.AppendSnapshot(nil))
	require.Equal(t, image.clusterID, again.clusterID)
	require.Equal(t, image.features, again.features)
	require.Equal(t, image.Index(), again.Index())
	require.Equal(t, image.NextProducerID(), again.NextProducerID())
	require.Equal(t, image.PartitionCount(), again.PartitionCount())
	require.Equal(t, image.TopicCount(), again.TopicCount())
	for topic := range image.Topics() {
		require.Same(t, topic, image.TopicByID(topic.ID))
		require.Equal(t, topic, again.Topic(topic.Name))
	}
	for voter := range image.Voters() {
		require.Equal(t, voter, again.Voter(voter.ID))
	}
	for broker := range image.Brokers() {
		require.Equal(t, broker, again.Broker(broker.ID))
	}
}
