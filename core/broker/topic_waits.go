package broker

import (
	"time"

	"stet/core/env"
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
	asked   kmsg.Request // of the controller; nil once the wait is over
	unsent  bool         // it waits for a link
	reads   bool         // it changes nothing, so that it can be sent again whatever became of it
	again   sendAgain
	caller  answered // is told the controller's answer
	decided bool     // the controller has answered
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
// Until then it is sent again to whoever leads, as long as it is certain that nothing has become of it.
func (b *Broker) forward(m kmsg.Request, wait *topicWait, timeoutMs int32, caller answered) {
	wait.asked, wait.unsent, wait.caller = m, true, caller
	wait.again.wait = wait
	b.creates.add(b, wait, timeoutMs)
	wait.send(b)
}

// send sends what has not been sent, if there is a link.
func (t *topicWait) send(b *Broker) {
	if t.unsent && b.link.up() {
		t.unsent = false
		b.link.send(b, t.asked, t)
	}
}

func (t *topicWait) answered(b *Broker, res any, err env.Errno) {
	refused := err == env.OK && refusedWhole(res)
	if t.asked != nil && (refused || t.reads && err != env.OK) {
		t.unsent = true
		b.timers.set(&t.again.timer, b.now.Mono.Add(linkPause), &t.again)
		if refused {
			b.link.leadsNot(b, kafka.NoBroker)
		}
		return
	}
	t.caller.answered(b, res, err)
}

// sendAgain sends a request again after a pause.
type sendAgain struct {
	timer
	wait *topicWait
}

func (a *sendAgain) due(b *Broker) { a.wait.send(b) }

// over forgets what may still be to do for a request that has been answered.
func (t *topicWait) over(b *Broker) {
	t.asked, t.unsent = nil, false
	b.timers.clear(&t.timer)
	b.timers.clear(&t.again.timer)
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
			wait.over(b)
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
	t.over(b)
	t.request.finish(b)
}
