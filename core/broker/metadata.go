package broker

import (
	"time"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Metadata (key 3), versions 0 to 13: brokers, topics and leaders, from this broker's image. A
// topic that does not exist is created when both the request and the configuration allow it, and
// the answer waits for it.
//
// v0 asks for all topics with an empty list, later versions with none at all. Before v4 automatic
// creation can not be declined. v10 and v11 have topic ids on the wire that requests may not use.
// v8 to v10 may ask for authorized operations of the cluster, v8 and later of topics.

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
	b.forward(create, c.wait, create.TimeoutMillis, c)
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

func (c *autoCreation) answered(b *Broker, res any, err env.Errno) {
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
