package broker

import (
	"math"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Metadata (key 3), versions 0 to 13: brokers, topics and leaders, from this broker's image. A
// topic that does not exist is created when both the request and the configuration allow it, and
// the answer waits for it.
//
// v0 asks for all topics with an empty list, later versions with none at all. Before v4 automatic
// creation can not be declined. v10 and v11 have topic ids on the wire that requests may not use.
// v8 to v10 may ask for authorized operations of the cluster, v8 and later of topics.

// Bits of what everybody may do, by the codes of AclOperation.
const (
	topicOperations   int32 = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
)

// autoCreateWait bounds how long an answer waits for topics that are being created.
const autoCreateWait = 5 * time.Second

func (b *Broker) metadata(r *env.Request, o origin, m *kmsg.MetadataRequest) {
	missing := b.toCreate(r, m)
	if len(missing) == 0 {
		b.replyMetadata(r.Info, o, m, nil)
		return
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 7, int32(autoCreateWait/time.Millisecond)
	for _, name := range missing {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, b.config.NumPartitions,
			b.config.DefaultReplicationFactor
		create.Topics = append(create.Topics, t)
	}
	c := &autoCreation{origin: o, request: m, refused: map[string]kafka.ErrorCode{}}
	c.wait = &topicWait{request: c}
	b.creates.add(b, c.wait, create.TimeoutMillis)
	b.link.send(b, create, c)
}

// toCreate returns the names in the request that are to become topics.
func (b *Broker) toCreate(r *env.Request, m *kmsg.MetadataRequest) []string {
	if !b.config.AutoCreateTopics || r.Version >= 4 && !m.AllowAutoTopicCreation ||
		!b.link.up() || b.phase != phaseRunning {
		return nil
	}
	var names []string
	for i := range m.Topics {
		t := &m.Topics[i]
		if t.Topic != nil && t.TopicID == [16]byte{} && kafka.ValidTopicName(*t.Topic) &&
			b.image.Topic(*t.Topic) == nil &&
			b.Authorize(r.Info, opCreate, resourceTopic, *t.Topic) == kafka.None {
			names = append(names, *t.Topic)
		}
	}
	return names
}

// autoCreation is a metadata request that waits for topics to be created.
type autoCreation struct {
	origin
	request *kmsg.MetadataRequest
	wait    *topicWait
	refused map[string]kafka.ErrorCode // by name
}

func (c *autoCreation) finish(b *Broker) {
	b.replyMetadata(c.conn.info, c.origin, c.request, c.refused)
}

func (c *autoCreation) answered(b *Broker, res kmsg.Response, err env.Errno) {
	c.wait.decided = true
	b.creates.imageChanged()
	m, ok := res.(*kmsg.CreateTopicsResponse)
	if err != env.OK || !ok {
		return // the answer says that there is no such topic, and the client asks again
	}
	for i := range m.Topics {
		t := &m.Topics[i]
		switch code := kafka.ErrorCode(t.ErrorCode); code {
		case kafka.None:
			b.Metrics.AutoCreatedTopics++
			c.wait.created = append(c.wait.created, t.Topic)
		case kafka.TopicAlreadyExists:
			c.wait.created = append(c.wait.created, t.Topic)
		default:
			c.refused[t.Topic] = code
		}
	}
}

func (b *Broker) replyMetadata(info *env.ConnInfo, o origin, m *kmsg.MetadataRequest,
	refused map[string]kafka.ErrorCode,
) {
	answer := kmsg.NewPtrMetadataResponse()
	b.describeCluster(info, m, answer)
	if m.Topics == nil || o.version == 0 && len(m.Topics) == 0 {
		for topic := range b.image.Topics() {
			if b.Authorize(info, opDescribe, resourceTopic, topic.Name) == kafka.None {
				answer.Topics = append(answer.Topics, b.describeTopic(m, topic))
			}
		}
	}
	for i := range m.Topics {
		t := b.describeAsked(info, o.version, m, &m.Topics[i], refused)
		answer.Topics = append(answer.Topics, t)
	}
	b.reply(o, answer)
}

func (b *Broker) describeCluster(info *env.ConnInfo, m *kmsg.MetadataRequest,
	answer *kmsg.MetadataResponse,
) {
	answer.ControllerID = -1
	answer.AuthorizedOperations = math.MinInt32
	if m.IncludeClusterAuthorizedOperations {
		answer.AuthorizedOperations = clusterOperations
	}
	if id := b.image.ClusterID(); id != "" {
		answer.ClusterID = &id
	}
	for broker := range b.image.Brokers() {
		e, ok := endpointFor(info, broker)
		if broker.Fenced || !ok {
			continue
		}
		listed := kmsg.NewMetadataResponseBroker()
		listed.NodeID, listed.Host, listed.Port = int32(broker.ID), e.Host, int32(e.Port)
		if broker.Rack != "" {
			listed.Rack = &broker.Rack
		}
		answer.Brokers = append(answer.Brokers, listed)
		// Clients send what is for the controller to this broker, which forwards it.
		if answer.ControllerID < 0 || broker.ID == b.config.NodeID {
			answer.ControllerID = int32(broker.ID)
		}
	}
}

// endpointFor returns the address that a client of this listener reaches the broker at.
func endpointFor(info *env.ConnInfo, broker *metadata.Broker) (metadata.Endpoint, bool) {
	if info != nil {
		if e, ok := broker.Endpoint(info.Listener); ok {
			return e, true
		}
	}
	if len(broker.Endpoints) == 0 {
		return metadata.Endpoint{}, false
	}
	return broker.Endpoints[0], true
}

// describeAsked describes one topic that a request names.
func (b *Broker) describeAsked(info *env.ConnInfo, version int16, m *kmsg.MetadataRequest,
	asked *kmsg.MetadataRequestTopic, refused map[string]kafka.ErrorCode,
) kmsg.MetadataResponseTopic {
	byID := asked.TopicID != [16]byte{}
	var topic *metadata.Topic
	code := kafka.UnknownTopicOrPartition
	switch {
	case version < 12 && (byID || asked.Topic == nil), asked.Topic == nil && !byID:
		code = kafka.InvalidRequest
	case byID:
		topic, code = b.image.TopicByID(asked.TopicID), kafka.UnknownTopicID
	case !kafka.ValidTopicName(*asked.Topic):
		code = kafka.InvalidTopicException
	default:
		topic = b.image.Topic(*asked.Topic)
		if why, ok := refused[*asked.Topic]; ok {
			code = why
		}
	}
	if topic != nil {
		code = b.Authorize(info, opDescribe, resourceTopic, topic.Name)
		if code == kafka.None {
			return b.describeTopic(m, topic)
		}
	}
	t := kmsg.NewMetadataResponseTopic()
	t.ErrorCode, t.TopicID, t.Topic = int16(code), asked.TopicID, asked.Topic
	if t.Topic == nil && version < 12 {
		empty := ""
		t.Topic = &empty
	}
	t.IsInternal = asked.Topic != nil && internalTopic(*asked.Topic)
	t.AuthorizedOperations = math.MinInt32
	return t
}

func (b *Broker) describeTopic(m *kmsg.MetadataRequest,
	topic *metadata.Topic,
) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.IsInternal = &topic.Name, topic.ID, internalTopic(topic.Name)
	t.AuthorizedOperations = math.MinInt32
	if m.IncludeTopicAuthorizedOperations {
		t.AuthorizedOperations = topicOperations
	}
	for id := range topic.PartitionCount() {
		t.Partitions = append(t.Partitions,
			b.describePartition(kafka.PartitionID(id), topic.Partition(kafka.PartitionID(id))))
	}
	return t
}

func (b *Broker) describePartition(id kafka.PartitionID,
	p *metadata.Partition,
) kmsg.MetadataResponseTopicPartition {
	d := kmsg.NewMetadataResponseTopicPartition()
	d.Partition, d.Leader, d.LeaderEpoch = int32(id), int32(p.Leader), int32(p.LeaderEpoch)
	if p.Leader == kafka.NoBroker || !b.alive(p.Leader) {
		d.ErrorCode, d.Leader = int16(kafka.LeaderNotAvailable), int32(kafka.NoBroker)
	}
	for _, replica := range p.Replicas {
		d.Replicas = append(d.Replicas, int32(replica))
		if !b.alive(replica) {
			d.OfflineReplicas = append(d.OfflineReplicas, int32(replica))
		}
	}
	for _, replica := range p.ISR {
		d.ISR = append(d.ISR, int32(replica))
	}
	return d
}

func (b *Broker) alive(id kafka.BrokerID) bool {
	broker := b.image.Broker(id)
	return broker != nil && !broker.Fenced
}
