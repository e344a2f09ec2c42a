package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetForLeaderEpoch (key 23), versions 2 to 4: consumers find out whether what they have read is still
// in the log after another leader was elected (KIP-320). Followers do not ask: their fetches say it.

func (b *Broker) offsetForLeaderEpoch(r *env.Request, o origin, m *kmsg.OffsetForLeaderEpochRequest) {
	answer := kmsg.NewPtrOffsetForLeaderEpochResponse()
	for i := range m.Topics {
		asked := &m.Topics[i]
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		topic.Topic = asked.Topic
		for j := range asked.Partitions {
			topic.Partitions = append(topic.Partitions, b.endOfEpoch(r, asked.Topic, &asked.Partitions[j]))
		}
		answer.Topics = append(answer.Topics, topic)
	}
	b.reply(o, answer)
}

func (b *Broker) endOfEpoch(r *env.Request, name string,
	p *kmsg.OffsetForLeaderEpochRequestTopicPartition,
) kmsg.OffsetForLeaderEpochResponseTopicPartition {
	out := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	out.Partition, out.LeaderEpoch, out.EndOffset = p.Partition, -1, -1
	id := kafka.PartitionID(p.Partition)
	topic := b.image.Topic(name)
	code := b.Authorize(r.Info, opDescribe, resourceTopic, name)
	switch {
	case code != kafka.None:
	case topic == nil || topic.Partition(id) == nil:
		code = kafka.UnknownTopicOrPartition
	case b.host.find(topic.ID, id) == nil:
		code = kafka.NotLeaderOrFollower
	default:
		found, c := b.host.find(topic.ID, id).EndOfEpoch(kafka.LeaderEpoch(p.LeaderEpoch),
			kafka.LeaderEpoch(p.CurrentLeaderEpoch))
		code, out.LeaderEpoch, out.EndOffset = c, int32(found.Epoch), int64(found.EndOffset)
	}
	out.ErrorCode = int16(code)
	return out
}
