package metadata

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is an image as plain maps.
type model struct {
	topics  map[string]modelTopic
	brokers map[kafka.BrokerID]Broker
	configs map[Resource]map[string]string
	next    kafka.ProducerID
}

type modelTopic struct {
	id         kafka.TopicID
	configs    map[string]string
	partitions []Partition
}

func newModel() *model {
	return &model{
		topics: map[string]modelTopic{}, brokers: map[kafka.BrokerID]Broker{},
		configs: map[Resource]map[string]string{},
	}
}

// randomRecords draws records that fit the model, and applies them to it.
func (m *model) randomRecords(t *rapid.T, index Index) []Record {
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return m.register(t, index)
	case 1, 2:
		return m.create(t, index)
	case 3:
		for _, name := range m.someTopic(t) {
			topic := m.topics[name]
			delete(m.topics, name)
			return []Record{&TopicRemovalRecord{topic.id}}
		}
	case 4:
		return m.change(t)
	case 5:
		return m.configure(t)
	case 6:
		m.next += 1000
		return []Record{&ProducerIDsRecord{m.next, 1, 7}}
	case 7:
		for _, id := range slices.Sorted(maps.Keys(m.brokers)) {
			b := m.brokers[id]
			b.Fenced = !b.Fenced
			m.brokers[id] = b
			return []Record{&BrokerStateRecord{id, b.Epoch, b.Fenced, false}}
		}
	}
	return nil
}

func (m *model) someTopic(t *rapid.T) []string {
	if len(m.topics) == 0 {
		return nil
	}
	return []string{rapid.SampledFrom(slices.Sorted(maps.Keys(m.topics))).Draw(t, "topic")}
}

func (m *model) register(t *rapid.T, index Index) []Record {
	id := kafka.BrokerID(rapid.IntRange(0, 3).Draw(t, "broker"))
	b := Broker{
		ID: id, Epoch: -1, Incarnation: IncarnationID{byte(index)}, Fenced: true,
		Endpoints: []Endpoint{{"PLAINTEXT", "host", 9092, 0}}, Directories: []DirectoryID{{byte(id)}},
		Rack: rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "rack"),
	}
	records := []Record{&BrokerRecord{b}}
	if _, known := m.brokers[id]; known {
		for _, name := range slices.Sorted(maps.Keys(m.topics)) {
			topic := m.topics[name]
			changes := &PartitionChangesRecord{TopicID: topic.id}
			for i := range topic.partitions {
				if p := &topic.partitions[i]; p.Leader == id {
					p.LeaderEpoch++
					p.Epoch++
					p.Recovering = !p.Recovering
					changes.Changes = append(changes.Changes,
						PartitionUpdate{kafka.PartitionID(i), true, p.Standing})
				}
			}
			records = append(records, changes)
		}
	}
	b.Epoch = kafka.BrokerEpoch(index)
	m.brokers[id] = b
	return records
}

func (m *model) create(t *rapid.T, index Index) []Record {
	name := fmt.Sprintf("t%d", rapid.IntRange(0, 6).Draw(t, "name"))
	if _, exists := m.topics[name]; exists {
		return nil
	}
	topic := modelTopic{id: kafka.TopicID{byte(index), byte(index >> 8)}, configs: map[string]string{}}
	records := []Record{&TopicRecord{ID: topic.id, Name: name}}
	for i := range rapid.IntRange(1, 150).Draw(t, "partitions") {
		p := Partition{
			Replicas: []kafka.BrokerID{1, 2}, LeaderEpoch: 3, Epoch: 4,
			Standing: Standing{ISR: []kafka.BrokerID{1, 2}, Leader: kafka.BrokerID(i % 4)},
		}
		topic.partitions = append(topic.partitions, p)
		records = append(records, &PartitionRecord{topic.id, kafka.PartitionID(i), p})
	}
	m.topics[name] = topic
	return records
}

func (m *model) change(t *rapid.T) []Record {
	var records []Record
	for _, name := range m.someTopic(t) {
		topic := m.topics[name]
		i := rapid.IntRange(0, len(topic.partitions)-1).Draw(t, "partition")
		p := topic.partitions[i]
		p.ISR, p.ELR, p.Epoch = []kafka.BrokerID{2}, []kafka.BrokerID{1}, p.Epoch+1
		topic.partitions[i] = p
		records = append(records, &PartitionRecord{topic.id, kafka.PartitionID(i), p})
	}
	return records
}

func (m *model) configure(t *rapid.T) []Record {
	setting := rapid.SampledFrom([]string{"retention.ms", "segment.ms", "flush.ms"}).Draw(t, "setting")
	value := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")
	r := &ConfigRecord{Resource: Resource{ResourceBroker, ""}, Name: setting, Value: value}
	r.Deleted = rapid.Bool().Draw(t, "deleted")
	entries := m.configs[r.Resource]
	if topic := m.someTopic(t); len(topic) > 0 && rapid.Bool().Draw(t, "of a topic") {
		r.Resource = Resource{ResourceTopic, topic[0]}
		entries = m.topics[topic[0]].configs
	} else if entries == nil {
		entries = map[string]string{}
		m.configs[r.Resource] = entries
	}
	if r.Deleted {
		r.Value = ""
		delete(entries, setting)
	} else {
		entries[setting] = value
	}
	return []Record{r}
}

func sortedConfigs(m map[string]string) []ConfigEntry {
	var out []ConfigEntry
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, ConfigEntry{name, m[name]})
	}
	return out
}

func (m *model) check(t *rapid.T, image *Image) {
	require.Equal(t, m.next, image.NextProducerID())
	require.Equal(t, len(m.topics), image.TopicCount())
	var names []string
	partitions := 0
	for topic := range image.Topics() {
		names = append(names, topic.Name)
		want := m.topics[topic.Name]
		require.Equal(t, want.id, topic.ID)
		require.Same(t, topic, image.TopicByID(topic.ID))
		require.Same(t, topic, image.Topic(topic.Name))
		require.ElementsMatch(t, sortedConfigs(want.configs), topic.Configs())
		require.Equal(t, len(want.partitions), topic.PartitionCount())
		for i := range want.partitions {
			require.Equal(t, want.partitions[i], *topic.Partition(kafka.PartitionID(i)))
		}
		partitions += len(want.partitions)
	}
	require.True(t, slices.IsSorted(names))
	require.Equal(t, partitions, image.PartitionCount())
	for _, id := range slices.Sorted(maps.Keys(m.brokers)) {
		require.Equal(t, m.brokers[id], *image.Broker(id))
	}
	for _, r := range []Resource{{ResourceBroker, ""}} {
		require.ElementsMatch(t, sortedConfigs(m.configs[r]), image.ResourceConfigs(r))
	}
}

func TestImageAgreesWithPlainMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, image := newModel(), Empty()
		var images []*Image
		var snapshots [][]byte
		for i := range rapid.IntRange(1, 25).Draw(t, "entries") {
			index := Index(2*i + 1)
			entry := AppendEntry(nil, m.randomRecords(t, index)...)
			next, err := image.ApplyEntry(index, entry)
			require.NoError(t, err)
			image = next
			m.check(t, image)
			images, snapshots = append(images, image), append(snapshots, image.AppendSnapshot(nil))
		}
		for i, old := range images {
			require.Equal(t, snapshots[i], old.AppendSnapshot(nil), "an old image has changed")
			loaded, err := DecodeSnapshot(snapshots[i])
			require.NoError(t, err)
			require.Equal(t, snapshots[i], loaded.AppendSnapshot(nil))
			checkDelta(t, old, image)
		}
	})
}

// checkDelta compares Diff with a comparison of everything.
func checkDelta(t *rapid.T, before, after *Image) {
	d := Diff(before, after)
	var created, removed []*Topic
	changed := map[*Topic][]kafka.PartitionID{}
	for topic := range before.Topics() {
		now := after.TopicByID(topic.ID)
		if now == nil {
			removed = append(removed, topic)
		} else if now != topic {
			changed[now] = nil
			for i := range now.PartitionCount() {
				id := kafka.PartitionID(i)
				if topic.Partition(id) != now.Partition(id) {
					changed[now] = append(changed[now], id)
				}
			}
		}
	}
	for topic := range after.Topics() {
		if before.TopicByID(topic.ID) == nil {
			created = append(created, topic)
		}
	}
	require.Equal(t, removed, d.TopicsRemoved)
	require.Equal(t, created, d.TopicsCreated)
	require.Len(t, d.TopicsChanged, len(changed))
	for _, c := range d.TopicsChanged {
		var ids []kafka.PartitionID
		for _, p := range c.Partitions {
			ids = append(ids, p.ID)
		}
		require.Equal(t, changed[c.After], ids)
		require.Equal(t, !slices.Equal(c.Before.configs, c.After.configs), c.Configs)
	}
}

func TestRecordsThatDoNotFitAreRefused(t *testing.T) {
	image, err := Empty().Apply(1, &TopicRecord{ID: kafka.TopicID{1}, Name: "a"},
		&PartitionRecord{TopicID: kafka.TopicID{1}, Partition: Partition{Epoch: 5}})
	require.NoError(t, err)
	for _, r := range []Record{
		&TopicRecord{ID: kafka.TopicID{2}, Name: "a"},
		&TopicRecord{ID: kafka.TopicID{1}, Name: "b"},
		&TopicRemovalRecord{kafka.TopicID{2}},
		&PartitionRecord{TopicID: kafka.TopicID{2}},
		&PartitionRecord{TopicID: kafka.TopicID{1}, ID: 2},
		&PartitionRecord{TopicID: kafka.TopicID{1}, Partition: Partition{Epoch: 4}},
		&BrokerStateRecord{ID: 1},
		&BrokerRemovalRecord{ID: 1},
		&VoterRemovalRecord{1},
		&PartitionChangesRecord{TopicID: kafka.TopicID{2}},
		&PartitionChangesRecord{kafka.TopicID{1}, []PartitionUpdate{{ID: 1}}},
		&PartitionChangesRecord{kafka.TopicID{1}, []PartitionUpdate{{ID: -1}}},
		&PartitionChangesRecord{kafka.TopicID{1}, []PartitionUpdate{{}, {}}},
		&ProducerIDsRecord{Next: -1},
		&ConfigRecord{Resource: Resource{ResourceTopic, "b"}},
		&positionRecord{},
	} {
		_, err := image.Apply(2, r)
		require.Error(t, err, "%T", r)
	}
	_, err = image.Apply(1)
	require.Error(t, err, "an entry is applied twice")
}
