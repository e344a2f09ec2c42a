// Package legal makes histories that a correct log may produce, from a seed, without a log: a tiny
// model of partitions, producers and consumers whose events are interleaved at random. They are as
// unpleasant as the law allows: stale reads, unknown outcomes that become visible later, copies of
// records by retries without idempotence, gaps, retention, and losses with their excuses.
//
// No checker may reject one. Tampered with (package tamper), each must be rejected.
package legal

import (
	"math/rand/v2"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// Shape says how large a history is, and what happens in it. Rates are in percent of the events.
type Shape struct {
	Partitions int // at least 1
	Clients    int // at least 1
	Events     int // before the end of the run is drained and read

	StaleReads bool // fetches may be served from any older prefix
	Gaps       bool // control batches take offsets
	Retention  bool // the log start moves
	Losses     bool // faults outside the promise cut the log, and are excused
	Copies     bool // some producers retry without idempotence
	Weak       bool // some producers use acks=1 and acks=0
}

// Everything is the shape with everything that may happen.
func Everything(events int) Shape {
	return Shape{
		Partitions: 2, Clients: 4, Events: events, StaleReads: true, Gaps: true,
		Retention: true, Losses: true, Copies: true, Weak: true,
	}
}

// world is the model: one event at a time, each with a step of its own.
type world struct {
	shape   Shape
	random  *rand.Rand
	step    lin.Step
	history *lin.History

	partitions []*partition
	producers  []*producer
	consumers  []*consumer
}

// History makes a legal history.
func History(random *rand.Rand, shape Shape) *lin.History {
	w := &world{shape: shape, random: random, history: &lin.History{Scenario: "legal"}}
	for i := range shape.Partitions {
		p := newPartition(i)
		w.partitions = append(w.partitions, p)
		w.history.Partitions = append(w.history.Partitions, lin.PartitionInfo{
			Partition: p.name, Replicas: 1,
		})
	}
	for i := range shape.Clients {
		w.producers = append(w.producers, w.newProducer(lin.ClientID(i)))
		w.consumers = append(w.consumers, newConsumer(lin.ClientID(i), shape.Partitions))
	}
	for range shape.Events {
		w.event()
	}
	w.finish()
	return w.history
}

// tick begins the next step.
func (w *world) tick() lin.Step {
	w.step++
	return w.step
}

// chance is true in percent of the calls.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

func (w *world) event() {
	p := w.partitions[w.random.IntN(len(w.partitions))]
	producer := w.producers[w.random.IntN(len(w.producers))]
	consumer := w.consumers[w.random.IntN(len(w.consumers))]
	w.tick()
	switch dice := w.random.IntN(100); {
	case dice < 22:
		w.invoke(producer, p)
	case dice < 44:
		w.serve(producer)
	case dice < 62:
		w.answer(producer)
	case dice < 72:
		p.commit()
	case dice < 92:
		w.read(consumer, p)
	case dice < 97:
		w.list(consumer.client, p)
	default:
		w.disturb(p)
	}
}

// disturb does one of the rarer things that the shape allows.
func (w *world) disturb(p *partition) {
	switch w.random.IntN(6) {
	case 0, 1:
		if w.shape.Gaps {
			p.append(batch{count: 1, control: true})
		}
	case 2:
		if start, ok := w.pickBatch(p); ok && w.shape.Retention {
			p.logStart = max(p.logStart, start)
			w.history.Deletions = append(w.history.Deletions, lin.Deletion{
				Partition: p.name, Step: w.step, LogStart: p.logStart,
			})
		}
	case 3:
		if from, ok := w.pickBatch(p); ok && w.shape.Losses {
			p.cut(from)
			w.history.Excuses = append(w.history.Excuses, lin.Excuse{
				Partition: p.name, Step: w.step, From: from, To: kafka.NoOffset,
				Reason: "power loss",
			})
			w.forget(p, from)
		}
	}
}

// pickBatch picks the base of a batch between the log start and the high watermark.
func (w *world) pickBatch(p *partition) (kafka.Offset, bool) {
	var bases []kafka.Offset
	for _, b := range p.batches {
		if b.base >= p.logStart && b.base < p.highWatermark {
			bases = append(bases, b.base)
		}
	}
	if len(bases) == 0 {
		return 0, false
	}
	return bases[w.random.IntN(len(bases))], true
}

// finish heals, quiesces, reads everything from the start, and dumps two replicas.
func (w *world) finish() {
	for _, producer := range w.producers {
		w.drain(producer)
	}
	for _, consumer := range w.consumers {
		w.giveUp(consumer)
	}
	reader := newConsumer(lin.ClientID(len(w.producers)), len(w.partitions))
	for _, p := range w.partitions {
		p.commit()
		w.readAll(reader, p)
		for replica := range kafka.BrokerID(2) {
			w.history.Dumps = append(w.history.Dumps, lin.Dump{
				Partition: p.name, Replica: replica + 1, Step: w.tick(), Leader: replica == 0,
				LogStart: p.logStart, HighWatermark: p.highWatermark, LogEnd: p.end(),
				Records: p.recordsFrom(p.logStart),
			})
		}
	}
}
