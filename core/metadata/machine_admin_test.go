package metadata

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

func (m *machine) createTopic(t *rapid.T) {
	if m.image.TopicCount() == 4 {
		return
	}
	records, _ := CreateTopics(m.image, []NewTopic{{
		Name:       fmt.Sprintf("t%d", rapid.IntRange(0, 5).Draw(t, "name")),
		Partitions: int32(rapid.IntRange(1, 4).Draw(t, "partitions")), ReplicationFactor: int16(rapid.IntRange(1, 4).Draw(t, "factor")),
	}}, defaults, m.random)
	m.apply(t, records)
}

func (m *machine) growTopic(t *rapid.T) {
	if topic := m.topic(t); topic != nil && topic.PartitionCount() < 10 {
		records, _ := CreatePartitions(m.image, []MorePartitions{{topic.Name, int32(topic.PartitionCount() + 1), nil}}, m.random)
		m.apply(t, records)
	}
}

func (m *machine) deleteTopic(t *rapid.T) {
	if topic := m.topic(t); topic != nil && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
		records, _ := DeleteTopics(m.image, []TopicRef{{Name: &topic.Name}})
		m.apply(t, records)
	}
}

func (m *machine) configure(t *rapid.T) {
	r := BrokerDefaults()
	if topic := m.topic(t); topic != nil && rapid.Bool().Draw(t, "of a topic") {
		r = Resource{ResourceTopic, topic.Name}
	}
	value := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "minimum")
	change := ConfigChange{"min.insync.replicas", ConfigOp(rapid.IntRange(0, 1).Draw(t, "delete")), &value}
	if rapid.IntRange(0, 4).Draw(t, "unclean") == 0 {
		value = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "allowed")
		change.Name = "unclean.leader.election.enable"
	}
	records, _ := AlterConfigs(m.image, []ResourceChange{{Resource: r, Changes: []ConfigChange{change}}})
	m.apply(t, records)
}

func (m *machine) allocate(t *rapid.T) {
	if b := m.image.Broker(m.broker(t)); b != nil {
		records, block, code := AllocateProducerIDs(m.image, b.ID, b.Epoch)
		require.Equal(t, kafka.None, code)
		require.Equal(t, ProducerIDBlock{m.nextID, ProducerIDBlockSize}, block, "ids are given once")
		m.nextID += ProducerIDBlockSize
		m.apply(t, records)
	}
}

func (m *machine) vote(t *rapid.T) {
	id := uint64(rapid.IntRange(1, 5).Draw(t, "voter"))
	if m.image.Voter(id) != nil && rapid.Bool().Draw(t, "leaves") {
		m.apply(t, []Record{&VoterRemovalRecord{id}})
		require.Nil(t, m.image.Voter(id))
		return
	}
	m.lives++
	v := Voter{ID: id, Directory: DirectoryID{m.lives}, Features: BuildLevels().Features()}
	m.apply(t, []Record{&VoterRecord{v}})
	require.Equal(t, v, *m.image.Voter(id))
}
