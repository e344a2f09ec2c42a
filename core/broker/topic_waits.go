package broker

import (
	"time"

	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicWaits holds the requests that the active controller has a part in. They are sent to it when
// there is a link, and answered when the image that this broker's own replicas follow has, or has no
// more, what they are about, so that a client which goes on here finds what it was told.
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
	unsent  kmsg.Request // waits for a link; nil once it is sent
	caller  answered     // is told the controller's answer
	decided bool         // the controller has answered
	created []string
	deleted []kafka.TopicID
	grown   []grownTopic
	index   metadata.Index // the image must have come so far
	request finisher
}

// grownTopic is a topic that has been given partitions.
type grownTopic struct {
	name  string
	count int // of partitions, at least
}

// mostTopicWait bounds how long an answer of the controller is held back.
const mostTopicWait = 10 * time.Second

func (w *topicWaits) add(b *Broker, wait *topicWait, timeoutMs int32) {
	w.waits = append(w.waits, wait)
	timeout := min(max(0, time.Duration(timeoutMs)*time.Millisecond), mostTopicWait)
	b.timers.set(&wait.timer, b.now.Mono.Add(timeout), wait)
}

// forward has the active controller decide on a request of a client. The caller is told its answer;
// what waits is finished when that has been seen here, or with what is known when the time is out.
func (b *Broker) forward(m kmsg.Request, wait *topicWait, timeoutMs int32, caller answered) {
	wait.unsent, wait.caller = m, caller
	b.creates.add(b, wait, timeoutMs)
	wait.send(b)
}

// send sends what has not been sent, if there is a link.
func (t *topicWait) send(b *Broker) {
	if m := t.unsent; m != nil && b.link.up() {
		t.unsent = nil
		b.link.send(b, m, t.caller)
	}
}

// linkOpened sends what waited for a link.
func (w *topicWaits) linkOpened(b *Broker) {
	for _, t := range w.waits {
		t.send(b)
	}
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
		if topic := b.acted.Topic(name); topic == nil || !b.serving(topic) {
			return false
		}
	}
	for _, g := range t.grown {
		topic := b.acted.Topic(g.name)
		if topic == nil || topic.PartitionCount() < g.count || !b.serving(topic) {
			return false
		}
	}
	if b.acted.Index() < t.index {
		return false
	}
	for _, id := range t.deleted {
		if b.acted.TopicByID(id) != nil {
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
