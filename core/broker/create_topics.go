package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateTopics (key 19), versions 2 to 7: the controller decides, this broker forwards, and
// answers when its own image has the topics and its replicas of them serve. v5 tells the settings
// and counts that were chosen, v7 the topic ids.

// creation is a request that the controller decides.
type creation struct {
	origin
	wait   *topicWait
	names  []string // in the order of the request
	answer *kmsg.CreateTopicsResponse
}

func (b *Broker) createTopics(r *env.Request, o origin, m *kmsg.CreateTopicsRequest) {
	c := &creation{origin: o, answer: kmsg.NewPtrCreateTopicsResponse()}
	forward := kmsg.NewPtrCreateTopicsRequest()
	forward.Version, forward.TimeoutMillis = 7, m.TimeoutMillis
	forward.ValidateOnly = m.ValidateOnly
	for i := range m.Topics {
		t := &m.Topics[i]
		code := b.Authorize(r.Info, opCreate, resourceTopic, t.Topic)
		if code != kafka.None {
			c.refuse(t.Topic, code, "")
			continue
		}
		forward.Topics = append(forward.Topics, *t)
		c.names = append(c.names, t.Topic)
	}
	if len(forward.Topics) == 0 {
		b.reply(o, c.answer)
		return
	}
	c.wait = &topicWait{request: c}
	b.forward(forward, c.wait, m.TimeoutMillis, c)
}

func (c *creation) refuse(name string, code kafka.ErrorCode, why string) {
	t := kmsg.NewCreateTopicsResponseTopic()
	t.Topic, t.ErrorCode = name, int16(code)
	t.NumPartitions, t.ReplicationFactor = -1, -1
	if why != "" {
		t.ErrorMessage = &why
	}
	c.answer.Topics = append(c.answer.Topics, t)
}

func (c *creation) answered(b *Broker, res any, err env.Errno) {
	c.wait.decided = true
	b.creates.imageChanged()
	m, ok := res.(*kmsg.CreateTopicsResponse)
	if err != env.OK || !ok { // lost: it may have happened
		for _, name := range c.names {
			c.refuse(name, kafka.RequestTimedOut, "the controller did not answer")
		}
		c.names = nil
		return
	}
	c.names = nil
	for i := range m.Topics {
		t := &m.Topics[i]
		c.answer.Topics = append(c.answer.Topics, *t)
		if kafka.ErrorCode(t.ErrorCode) == kafka.None && t.TopicID != [16]byte{} {
			c.wait.created = append(c.wait.created, t.Topic)
		}
	}
}

// finish sends the answer; what the controller has not decided is out of time.
func (c *creation) finish(b *Broker) {
	for _, name := range c.names {
		c.refuse(name, kafka.RequestTimedOut, "")
	}
	b.reply(c.origin, c.answer)
}
