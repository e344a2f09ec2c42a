package metadata

import (
	"math/rand/v2"
	"slices"

	"stet/core/kafka"
)

// MorePartitions asks for a topic to have more partitions.
type MorePartitions struct {
	Topic       string
	Count       int32              // in all
	Assignments [][]kafka.BrokerID // replicas of each new partition, in order; nil: chosen here
}

// GrownTopic is the outcome for one topic.
type GrownTopic struct {
	Topic   string
	Error   kafka.ErrorCode
	Message string
}

// CreatePartitions decides on one CreatePartitions request. Outcomes are in the order of the request;
// of a topic that is named twice, every mention is refused. Where replicas are not assigned they are
// placed so that they even out what the topic has.
func CreatePartitions(image *Image, asked []MorePartitions, random *rand.Rand,
) ([]Record, []GrownTopic) {
	c := creation{image: image, random: random}
	outcomes := make([]GrownTopic, len(asked))
	for i := range asked {
		same := func(o MorePartitions) bool { return o.Topic == asked[i].Topic }
		twice := slices.ContainsFunc(asked[:i], same) || slices.ContainsFunc(asked[i+1:], same)
		r := c.grow(&asked[i], twice)
		outcomes[i] = GrownTopic{asked[i].Topic, r.code, r.text}
	}
	return c.records, outcomes
}

// grow decides on one topic.
func (c *creation) grow(m *MorePartitions, twice bool) refusal {
	topic := c.image.Topic(m.Topic)
	switch {
	case twice:
		return refuse(kafka.InvalidRequest, "the request names topic %q twice", m.Topic)
	case topic == nil:
		return refuse(kafka.UnknownTopicOrPartition, "there is no topic %q", m.Topic)
	case int(m.Count) == topic.PartitionCount():
		return refuse(kafka.InvalidPartitions, "topic %q has %d partitions already", m.Topic, m.Count)
	case int(m.Count) < topic.PartitionCount():
		return refuse(kafka.InvalidPartitions, "topic %q has %d partitions, %d would be fewer",
			m.Topic, topic.PartitionCount(), m.Count)
	}
	before := topic.PartitionCount()
	added := int(m.Count) - before
	if r := c.checkCount(int64(added)); r.refused() {
		return r
	}
	replicas, r := c.placeMore(m, topic, added)
	if r.refused() {
		return r
	}
	c.partitions += added
	for i := range replicas {
		c.records = append(c.records, &PartitionRecord{
			topic.ID, kafka.PartitionID(before + i), c.newPartition(replicas[i]),
		})
	}
	return refusal{}
}

// placeMore returns the replicas of the new partitions.
func (c *creation) placeMore(m *MorePartitions, topic *Topic, added int) ([][]kafka.BrokerID, refusal) {
	factor := topic.ReplicationFactor()
	if m.Assignments == nil {
		return placeReplicas(c.image, topic, added, factor, c.random)
	}
	if len(m.Assignments) != added {
		return nil, refuse(kafka.InvalidReplicaAssignment,
			"topic %q gets %d more partitions, and replicas are assigned to %d",
			m.Topic, added, len(m.Assignments))
	}
	out := make([][]kafka.BrokerID, added)
	for i, replicas := range m.Assignments {
		a := Assignment{kafka.PartitionID(int(m.Count) - added + i), replicas}
		if r := c.checkAssignment(&a, factor); r.refused() {
			return nil, r
		}
		out[i] = slices.Clone(replicas)
	}
	return out, refusal{}
}
