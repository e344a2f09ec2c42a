package broker

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
)

// ReplicaStatus (key 30006, of Stet's own): what this broker has of a topic, for `stet topic describe
// --replicas`. It is answered from what is at hand, whoever leads, and also while nobody does.

func (b *Broker) replicaStatus(r *env.Request, o origin, m *wire.ReplicaStatusRequest) {
	answer := new(wire.ReplicaStatusResponse)
	topic := b.image.Topic(m.Topic)
	code := b.Authorize(r.Info, opDescribe, resourceTopic, m.Topic)
	if code == kafka.None && topic == nil {
		code = kafka.UnknownTopicOrPartition
	}
	answer.ErrorCode = int16(code)
	if code != kafka.None {
		b.reply(o, answer)
		return
	}
	for id := range topic.PartitionCount() {
		h := b.host.find(topic.ID, kafka.PartitionID(id))
		if h == nil {
			continue
		}
		s := h.Status()
		answer.Replicas = append(answer.Replicas, wire.ReplicaStatus{
			Partition: int32(id), State: s.State.String(), Leading: s.Leading, CleanStart: s.CleanStart,
			LeaderEpoch: int32(s.LeaderEpoch), LatestEpoch: int32(s.LatestEpoch),
			LogStart: int64(s.LogStart), LogEnd: int64(s.LogEnd), Synced: int64(s.Synced),
			HighWatermark: int64(s.HighWatermark),
		})
	}
	b.reply(o, answer)
}
