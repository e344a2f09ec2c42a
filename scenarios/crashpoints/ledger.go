package crashpoints

import (
	"fmt"
	"math"
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
	// cuts are where truncations that were completed have ended the log.
	cuts []kafka.Offset
	// spared is how far a truncation under way leaves the log alone at least.
	spared kafka.Offset
	// stalePoint: the checkpointed recovery point may be from before a truncation.
	stalePoint bool
}

// beginCut notes that a truncation to the batch boundary at or below an offset has begun, and returns
// the boundary.
func (t *topicEntry) beginCut(to kafka.Offset) (boundary kafka.Offset) {
	for _, end := range t.batches {
		if end <= to {
			boundary = end
		}
	}
	t.spared, t.stalePoint = boundary, true
	return boundary
}

// endCut notes that the truncation has ended: what was cut was never sent.
func (t *topicEntry) endCut(boundary kafka.Offset) {
	t.cuts = append(t.cuts, boundary)
	t.batches = slices.DeleteFunc(t.batches, func(end kafka.Offset) bool { return end > boundary })
	t.acked, t.synced = min(t.acked, boundary), boundary
	t.spared = nothingCut
}

// nothingCut is what a truncation spares that there is not.
const nothingCut kafka.Offset = math.MaxInt64

// sent is the end of what was sent.
func (t *topicEntry) sent() kafka.Offset {
	if len(t.batches) == 0 {
		return 0
	}
	return t.batches[len(t.batches)-1]
}

// bounds are the offsets of a batch.
type bounds struct{ base, end kafka.Offset }

// lastBatches returns the last n batches of a log that ends at the end of one, oldest first.
func (t *topicEntry) lastBatches(end kafka.Offset, n int) (last []bounds) {
	at, ok := slices.BinarySearch(t.batches, end)
	if !ok {
		return nil
	}
	for i := max(0, at+1-n); i <= at; i++ {
		b := bounds{0, t.batches[i]}
		if i > 0 {
			b.base = t.batches[i-1]
		}
		last = append(last, b)
	}
	return last
}

// value is what the record at an offset says: other things after each truncation. It fills a part of a
// page, so that short scripts reach several pages.
func (t *topicEntry) value(o kafka.Offset) []byte {
	generation := 0
	for _, cut := range t.cuts {
		if o >= cut {
			generation++
		}
	}
	b := fmt.Appendf(nil, "%s record %d.%d ", t.name, o, generation)
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
		out[i] = p
	}
	return out
}

// told is what else than the ends of logs a trial is judged by.
func (l *ledger) told() string {
	s := fmt.Sprint(l.ids)
	for _, t := range l.topics {
		s += fmt.Sprint(" ", t.name, t.id, t.created, t.deleteAsked, t.absent, t.producer, t.batches, t.cuts)
	}
	return s
}
