package crashpoints

import (
	"stet/core/kafka"
	"stet/sim/client"
)

// create creates a topic with one partition, and gets a producer for it.
func (t *stage) create(name string) {
	if t.crashed {
		return
	}
	topic := &topicEntry{name: name, spared: nothingCut, producer: kafka.NoProducerID}
	t.ledger.topics = append(t.ledger.topics, topic)
	if code := t.client.create(name); code != kafka.None {
		t.fails("create %s: %s", name, code)
		return
	}
	topic.created = true
	_, id, code := t.client.look(name)
	if topic.id = id; code != kafka.None {
		topic.id = kafka.TopicID{}
	}
}

// identify gets a producer for a topic.
func (t *stage) identify(name string) {
	if t.crashed {
		return
	}
	topic := t.ledger.find(name)
	id, epoch, code := t.client.newProducer()
	if code != kafka.None {
		t.fails("new producer: %s", code)
		return
	}
	topic.producer, topic.epoch = id, epoch
	t.ledger.ids = append(t.ledger.ids, id)
}

// delete deletes a topic.
func (t *stage) delete(name string) {
	if t.crashed {
		return
	}
	topic := t.ledger.find(name)
	topic.deleteAsked = true
	if code := t.client.delete(name); code != kafka.None {
		t.fails("delete %s: %s", name, code)
		return
	}
	topic.absent = true
}

// produce sends batches of so many records each to a topic, all at once, and waits for the answers.
func (t *stage) produce(name string, sizes ...int) {
	topic := t.ledger.find(name)
	var calls []*client.Call
	var ends []kafka.Offset
	for _, size := range sizes {
		if t.crashed {
			break
		}
		base := topic.sent()
		end := base + kafka.Offset(size)
		topic.batches = append(topic.batches, end)
		ends = append(ends, end)
		calls = append(calls, t.client.begin(topic, base, end))
	}
	for i, call := range calls {
		base, code := t.client.finish(call)
		switch {
		case code == kafka.None && base == ends[i]-kafka.Offset(sizes[i]):
			topic.acked = ends[i]
		case code == kafka.None:
			panic("script: a batch stands at another offset than it was sent for")
		default:
			t.fails("produce %s: %s", name, code)
		}
	}
}
