package broker

import (
	"math"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Bits of what everybody may do, by the codes of AclOperation.
const (
	topicOperations   int32 = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
)

// description is what one Metadata request is told of the cluster.
type description struct {
	b       *Broker
	info    *env.ConnInfo
	version int16
	request *kmsg.MetadataRequest
	refused map[string]kafka.ErrorCode // topics that could not be created, by name
}

func (b *Broker) replyMetadata(info *env.ConnInfo, o origin, m *kmsg.MetadataRequest,
	refused map[string]kafka.ErrorCode,
) {
	d := description{b, info, o.version, m, refused}
	answer := kmsg.NewPtrMetadataResponse()
	d.cluster(answer)
	if m.Topics == nil || o.version == 0 && len(m.Topics) == 0 {
		for topic := range b.image.Topics() {
			if b.Authorize(info, opDescribe, resourceTopic, topic.Name) == kafka.None {
				answer.Topics = append(answer.Topics, d.topic(topic))
			}
		}
	}
	for i := range m.Topics {
		answer.Topics = append(answer.Topics, d.asked(&m.Topics[i]))
	}
	b.reply(o, answer)
}

func (d *description) cluster(answer *kmsg.MetadataResponse) {
	b := d.b
	answer.AuthorizedOperations = math.MinInt32
	if d.request.IncludeClusterAuthorizedOperations {
		answer.AuthorizedOperations = clusterOperations
	}
	if id := b.image.ClusterID(); id != "" {
		answer.ClusterID = &id
	}
	for broker := range b.image.Brokers() {
		e, ok := endpointFor(d.info, broker)
		if broker.Fenced || !ok {
			continue
		}
		listed := kmsg.NewMetadataResponseBroker()
		listed.NodeID, listed.Host, listed.Port = int32(broker.ID), e.Host, int32(e.Port)
		if broker.Rack != "" {
			listed.Rack = &broker.Rack
		}
		answer.Brokers = append(answer.Brokers, listed)
	}
	answer.ControllerID = int32(b.forwarder(d.info))
}

// endpointFor returns the address that a client of this listener reaches the broker at; ok is false if
// the broker does not have the listener, so that such a client can not reach it.
func endpointFor(info *env.ConnInfo, broker *metadata.Broker) (e metadata.Endpoint, ok bool) {
	return broker.Endpoint(info.Listener)
}

// asked describes one topic that the request names.
func (d *description) asked(asked *kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	byID := asked.TopicID != [16]byte{}
	var topic *metadata.Topic
	code := kafka.UnknownTopicOrPartition
	switch {
	case d.version < 12 && (byID || asked.Topic == nil), asked.Topic == nil && !byID:
		code = kafka.InvalidRequest
	case byID:
		topic, code = d.b.image.TopicByID(asked.TopicID), kafka.UnknownTopicID
	case !kafka.ValidTopicName(*asked.Topic):
		code = kafka.InvalidTopicException
	default:
		topic = d.b.image.Topic(*asked.Topic)
		if why, ok := d.refused[*asked.Topic]; ok {
			code = why
		}
	}
	if topic != nil {
		code = d.b.Authorize(d.info, opDescribe, resourceTopic, topic.Name)
		if code == kafka.None {
			return d.topic(topic)
		}
	}
	t := kmsg.NewMetadataResponseTopic()
	t.ErrorCode, t.TopicID, t.Topic = int16(code), asked.TopicID, asked.Topic
	if t.Topic == nil && d.version < 12 {
		empty := ""
		t.Topic = &empty
	}
	t.IsInternal = asked.Topic != nil && internalTopic(*asked.Topic)
	t.AuthorizedOperations = math.MinInt32
	return t
}

func (d *description) topic(topic *metadata.Topic) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.IsInternal = &topic.Name, topic.ID, internalTopic(topic.Name)
	t.AuthorizedOperations = math.MinInt32
	if d.request.IncludeTopicAuthorizedOperations {
		t.AuthorizedOperations = topicOperations
	}
	for id := range topic.PartitionCount() {
		t.Partitions = append(t.Partitions,
			d.partition(kafka.PartitionID(id), topic.Partition(kafka.PartitionID(id))))
	}
	return t
}

func (d *description) partition(id kafka.PartitionID,
	p *metadata.Partition,
) kmsg.MetadataResponseTopicPartition {
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.Leader, out.LeaderEpoch = int32(id), int32(p.Leader), int32(p.LeaderEpoch)
	if code := d.unreachable(p.Leader); code != kafka.None {
		out.ErrorCode, out.Leader = int16(code), int32(kafka.NoBroker)
	}
	for _, replica := range p.Replicas {
		out.Replicas = append(out.Replicas, int32(replica))
		if !d.alive(replica) {
			out.OfflineReplicas = append(out.OfflineReplicas, int32(replica))
		}
	}
	for _, replica := range p.ISR {
		out.ISR = append(out.ISR, int32(replica))
	}
	return out
}

// unreachable says why clients of this listener can not be told a leader, or None. Before v6 there is
// no word for a leader without the listener.
func (d *description) unreachable(leader kafka.BrokerID) kafka.ErrorCode {
	if leader == kafka.NoBroker || !d.alive(leader) {
		return kafka.LeaderNotAvailable
	}
	if _, ok := endpointFor(d.info, d.b.image.Broker(leader)); ok {
		return kafka.None
	}
	if d.version < 6 {
		return kafka.LeaderNotAvailable
	}
	return kafka.ListenerNotFound
}

func (d *description) alive(id kafka.BrokerID) bool {
	broker := d.b.image.Broker(id)
	return broker != nil && !broker.Fenced
}
