package broker

import (
	"time"

	"stet/core/kafka"
	"stet/core/metadata"
)

// topicWaits holds the requests that are answered when this broker's own image has, or has no
// more, the topics that they are about, so that a client which goes on to use them here finds
// what it was told.
type topicWaits struct {
	waits []*topicWait
	dirty bool // look again at the end of the turn
}

// finisher answers a request that waited.
type finisher interface {
	finish(b *Broker)
}

// topicWait is one such request.
type topicWait struct {
	timer
	decided bool // the controller has answered
	created []string
	deleted []kafka.TopicID
	request finisher
}

// mostTopicWait bounds how long an answer of the controller is held back.
const mostTopicWait = 10 * time.Second

func (w *topicWaits) add(b *Broker, wait *topicWait, timeoutMs int32) {
	w.waits = append(w.waits, wait)
	timeout := min(max(0, time.Duration(timeoutMs)*time.Millisecond), mostTopicWait)
	b.timers.set(&wait.timer, b.now.Mono.Add(timeout), wait)
}

func (w *topicWaits) imageChanged() { w.dirty = true }

// look answers what can be answered now.
func (w *topicWaits) look(b *Broker) {
	if !w.dirty {
		return
	}
	w.dirty = false
	kept := w.waits[:0]
	for _, wait := range w.waits {
		if wait.decided && wait.seen(b) {
			b.timers.clear(&wait.timer)
			wait.request.finish(b)
		} else {
			kept = append(kept, wait)
		}
	}
	clear(w.waits[len(kept):])
	w.waits = kept
}

// seen says whether the image, and the replicas here, are as the controller has answered.
func (t *topicWait) seen(b *Broker) bool {
	for _, name := range t.created {
		if topic := b.image.Topic(name); topic == nil || !b.serving(topic) {
			return false
		}
	}
	for _, id := range t.deleted {
		if b.image.TopicByID(id) != nil {
			return false
		}
	}
	return true
}

// serving says whether every replica of the topic that is hosted here has arrived.
func (b *Broker) serving(topic *metadata.Topic) bool {
	for id := range topic.PartitionCount() {
		if r := b.host.find(topic.ID, kafka.PartitionID(id)); r != nil && !r.settled {
			return false
		}
	}
	return true
}

// due answers with what is known when the time is out.
func (t *topicWait) due(b *Broker) {
	w := &b.creates
	for i := range w.waits {
		if w.waits[i] == t {
			w.waits = append(w.waits[:i], w.waits[i+1:]...)
			break
		}
	}
	t.request.finish(b)
}
