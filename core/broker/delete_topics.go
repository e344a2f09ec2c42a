package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopics (key 20), versions 1 to 6: the controller decides, this broker forwards, and
// answers when its own image has the topics no more. v6 names topics by id as well.

// deletion is a request that the controller decides.
type deletion struct {
	origin
	wait   *topicWait
	asked  []kmsg.DeleteTopicsRequestTopic // not decided yet
	answer *kmsg.DeleteTopicsResponse
}

func (b *Broker) deleteTopics(r *env.Request, o origin, m *kmsg.DeleteTopicsRequest) {
	d := &deletion{origin: o, answer: kmsg.NewPtrDeleteTopicsResponse()}
	topics := m.Topics
	for i := range m.TopicNames {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = &m.TopicNames[i]
		topics = append(topics, t)
	}
	for _, t := range topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if code := b.Authorize(r.Info, opDelete, resourceTopic, name); code != kafka.None {
			d.refuse(t, code)
			continue
		}
		d.asked = append(d.asked, t)
	}
	if len(d.asked) == 0 {
		b.reply(o, d.answer)
		return
	}
	forward := kmsg.NewPtrDeleteTopicsRequest()
	forward.Version, forward.TimeoutMillis, forward.Topics = 6, m.TimeoutMillis, d.asked
	d.wait = &topicWait{request: d}
	b.forward(forward, d.wait, m.TimeoutMillis, d)
}

func (d *deletion) refuse(asked kmsg.DeleteTopicsRequestTopic, code kafka.ErrorCode) {
	t := kmsg.NewDeleteTopicsResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = asked.Topic, asked.TopicID, int16(code)
	d.answer.Topics = append(d.answer.Topics, t)
}

func (d *deletion) answered(b *Broker, res any, err env.Errno) {
	d.wait.decided = true
	b.creates.imageChanged()
	asked := d.asked
	d.asked = nil
	m, ok := res.(*kmsg.DeleteTopicsResponse)
	if err != env.OK || !ok {
		for _, t := range asked {
			d.refuse(t, kafka.RequestTimedOut)
		}
		return
	}
	for i := range m.Topics {
		t := &m.Topics[i]
		d.answer.Topics = append(d.answer.Topics, *t)
		if kafka.ErrorCode(t.ErrorCode) == kafka.None {
			d.wait.deleted = append(d.wait.deleted, t.TopicID)
		}
	}
}

// finish sends the answer; what the controller has not decided is out of time.
func (d *deletion) finish(b *Broker) {
	for _, t := range d.asked {
		d.refuse(t, kafka.RequestTimedOut)
	}
	b.reply(d.origin, d.answer)
}
