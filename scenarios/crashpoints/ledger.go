package crashpoints

import (
	"fmt"
	"slices"

	"stet/core/kafka"
)

// ledger is what a script has asked for and what it was told.
type ledger struct {
	topics []*topicEntry // in the order of creation
	ids    []kafka.ProducerID
}

// topicEntry is a topic with one partition and one idempotent producer, so that the record at an
// offset, its sequence and its value are the same number.
type topicEntry struct {
	name string
	id   kafka.TopicID // zero until it was told

	created             bool // acknowledged
	deleteAsked, absent bool // absent: the deletion was acknowledged

	producer kafka.ProducerID
	epoch    kafka.ProducerEpoch
	batches  []kafka.Offset // ends of the batches that were sent
	acked    kafka.Offset   // end of what was acknowledged

	synced kafka.Offset // when the process died: the end of what it took for durable
	// cut is where a truncation that was completed has ended the log, kafka.NoOffset without one.
	cut kafka.Offset
	// spared is how far a truncation that was begun leaves the log alone at least.
	spared kafka.Offset
}

// sent is the end of what was sent.
func (t *topicEntry) sent() kafka.Offset {
	if len(t.batches) == 0 {
		return 0
	}
	return t.batches[len(t.batches)-1]
}

// batchFrom returns the bounds of the batch that begins at an offset.
func (t *topicEntry) batchBefore(end kafka.Offset) (base kafka.Offset, ok bool) {
	i, ok := slices.BinarySearch(t.batches, end)
	if ok && i > 0 {
		base = t.batches[i-1]
	}
	return base, ok
}

// valueAt is what the record at an offset says. It fills a part of a page, so that short scripts
// reach several pages.
func valueAt(topic string, o kafka.Offset) []byte {
	b := fmt.Appendf(nil, "%s record %d ", topic, o)
	for len(b) < valueBytes {
		b = append(b, byte('a'+int(o)%26))
	}
	return b
}

const valueBytes = 600

func (l *ledger) find(name string) *topicEntry {
	for _, t := range l.topics {
		if t.name == name {
			return t
		}
	}
	return nil
}

// promise is what must hold of a topic's log after a crash.
type promise struct {
	floor   kafka.Offset // the log reaches this far at least
	ceiling kafka.Offset // and this far at most
}

// promises returns what must hold after a crash, by topic.
func (l *ledger) promises(power, flushMode bool) []promise {
	out := make([]promise, len(l.topics))
	for i, t := range l.topics {
		p := promise{max(t.acked, t.synced), t.sent()}
		if power && !flushMode {
			p.floor = t.synced
		}
		p.floor = min(p.floor, t.spared)
		if t.cut >= 0 {
			p.ceiling = t.cut
		}
		out[i] = p
	}
	return out
}

// told is what else than the ends of logs a trial is judged by.
func (l *ledger) told() string {
	s := fmt.Sprint(l.ids)
	for _, t := range l.topics {
		s += fmt.Sprint(" ", t.name, t.id, t.created, t.deleteAsked, t.absent, t.producer)
	}
	return s
}
