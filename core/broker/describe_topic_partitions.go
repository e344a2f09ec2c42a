package broker

import (
	"math"
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeTopicPartitions (key 75), version 0 (KIP-966): topics by name, or all, in pages of at most
// 2000 partitions, with the eligible leader replicas. A cursor says where the next page begins. Topics
// that do not exist are told when they are asked for by name. What Kafka's tools take for an array is
// empty, never null.

// mostPartitionsInPage is Kafka's max.request.partition.size.limit.
const mostPartitionsInPage = 2000

// topicPage is one answer in the making.
type topicPage struct {
	description
	answer *kmsg.DescribeTopicPartitionsResponse
	room   int // partitions that still fit
	cursor *kmsg.DescribeTopicPartitionsRequestCursor
}

func (b *Broker) describeTopicPartitions(r *env.Request, o origin,
	m *kmsg.DescribeTopicPartitionsRequest,
) {
	p := topicPage{
		description: description{b: b, info: r.Info, version: 6},
		answer:      kmsg.NewPtrDescribeTopicPartitionsResponse(),
		room:        min(max(int(m.ResponsePartitionLimit), 1), mostPartitionsInPage),
		cursor:      m.Cursor,
	}
	switch {
	case m.Cursor != nil && m.Cursor.Partition < 0:
		for i := range m.Topics {
			p.refuse(m.Topics[i].Topic, kafka.InvalidRequest)
		}
	case len(m.Topics) == 0:
		for topic := range b.image.Topics() {
			if b.Authorize(r.Info, opDescribe, resourceTopic, topic.Name) == kafka.None &&
				!p.topic(topic) {
				break
			}
		}
	default:
		p.named(m)
	}
	b.reply(o, p.answer)
}

// named answers for the topics that the request names, by ascending name.
func (p *topicPage) named(m *kmsg.DescribeTopicPartitionsRequest) {
	names := make([]string, len(m.Topics))
	for i := range m.Topics {
		names[i] = m.Topics[i].Topic
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		topic := p.b.image.Topic(name)
		code := p.b.Authorize(p.info, opDescribe, resourceTopic, name)
		switch {
		case code != kafka.None:
		case !kafka.ValidTopicName(name):
			code = kafka.InvalidTopicException
		case topic == nil:
			code = kafka.UnknownTopicOrPartition
		}
		switch {
		case code != kafka.None && (p.cursor == nil || name >= p.cursor.Topic):
			p.refuse(name, code)
		case code == kafka.None && !p.topic(topic):
			return
		}
	}
}

func (p *topicPage) refuse(name string, code kafka.ErrorCode) {
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.ErrorCode, t.IsInternal = &name, int16(code), internalTopic(name)
	t.AuthorizedOperations = math.MinInt32
	p.answer.Topics = append(p.answer.Topics, t)
}

// topic adds a topic, from the cursor on. It says whether the page has room for another; if not, the
// answer's cursor says what comes next.
func (p *topicPage) topic(topic *metadata.Topic) bool {
	first := 0
	if p.cursor != nil {
		if topic.Name < p.cursor.Topic {
			return true
		}
		if topic.Name == p.cursor.Topic {
			first = int(p.cursor.Partition)
		}
	}
	count := topic.PartitionCount()
	if p.room == 0 {
		p.next(topic.Name, first)
		return false
	}
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.TopicID, t.IsInternal = &topic.Name, topic.ID, internalTopic(topic.Name)
	t.AuthorizedOperations = topicOperations
	end := min(count, first+p.room)
	for id := first; id < end; id++ {
		t.Partitions = append(t.Partitions,
			p.partition(kafka.PartitionID(id), topic.Partition(kafka.PartitionID(id))))
	}
	p.answer.Topics = append(p.answer.Topics, t)
	p.room -= len(t.Partitions)
	if end < count {
		p.next(topic.Name, end)
		return false
	}
	return true
}

func (p *topicPage) next(name string, id int) {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = name, int32(id)
	p.answer.NextCursor = &c
}

func (p *topicPage) partition(id kafka.PartitionID, state *metadata.Partition,
) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	same := p.description.partition(id, state)
	out := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	out.ErrorCode, out.Partition = same.ErrorCode, same.Partition
	out.LeaderID, out.LeaderEpoch = same.Leader, same.LeaderEpoch
	out.Replicas, out.ISR, out.OfflineReplicas = same.Replicas, same.ISR, same.OfflineReplicas
	out.EligibleLeaderReplicas, out.LastKnownELR = []int32{}, []int32{}
	for _, replica := range state.ELR {
		out.EligibleLeaderReplicas = append(out.EligibleLeaderReplicas, int32(replica))
	}
	if state.Leader == kafka.NoBroker && state.LastKnownLeader != kafka.NoBroker {
		out.LastKnownELR = append(out.LastKnownELR, int32(state.LastKnownLeader))
	}
	return out
}
