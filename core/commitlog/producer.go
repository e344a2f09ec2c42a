package commitlog

import (
	"maps"
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// producers is the producer state of a log: for each producer what is confirmed at the written
// end, and a queue of the batches that are being written.
type producers struct {
	byID map[kafka.ProducerID]*producer
}

// producer is the state of one producer. An epoch of kafka.NoProducerEpoch means that nothing is
// confirmed yet.
type producer struct {
	epoch            kafka.ProducerEpoch
	coordinatorEpoch int32
	transactionStart kafka.Offset
	timestamp        int64
	count            int // batches in window
	window           [ProducerWindow]ProducerBatch
	pending          []producerUpdate // oldest first
}

// producerUpdate is the effect of one batch on its producer.
type producerUpdate struct {
	id            kafka.ProducerID
	epoch         kafka.ProducerEpoch
	batch         ProducerBatch
	transactional bool
	control       record.Control // Type NoControl for data
}

// updateOf derives the update from a batch at base. maxTimestamp is the one that is stored.
func updateOf(f *record.Facts, base kafka.Offset, maxTimestamp int64) producerUpdate {
	control := record.Control{Type: record.NoControl}
	if f.Attributes.IsControl() {
		control = f.Control
	}
	return producerUpdate{
		id:    f.ProducerID,
		epoch: f.ProducerEpoch,
		batch: ProducerBatch{
			LastSequence: f.LastSequence(),
			LastOffset:   base + kafka.Offset(f.LastOffsetDelta),
			OffsetDelta:  f.LastOffsetDelta,
			Timestamp:    maxTimestamp,
		},
		transactional: f.Attributes.IsTransactional(),
		control:       control,
	}
}

func newProducers() producers {
	return producers{byID: map[kafka.ProducerID]*producer{}}
}

// producersFrom builds the state that a snapshot describes.
func producersFrom(entries []ProducerEntry) producers {
	ps := newProducers()
	for _, e := range entries {
		p := ps.get(e.ID)
		p.epoch, p.coordinatorEpoch = e.Epoch, e.CoordinatorEpoch
		p.transactionStart, p.timestamp = e.TransactionStart, e.Timestamp
		p.count = copy(p.window[:], e.Batches)
	}
	return ps
}

func (ps producers) get(id kafka.ProducerID) *producer {
	p := ps.byID[id]
	if p == nil {
		p = &producer{
			epoch:            kafka.NoProducerEpoch,
			coordinatorEpoch: -1,
			transactionStart: kafka.NoOffset,
			timestamp:        kafka.NoTimestamp,
		}
		ps.byID[id] = p
	}
	return p
}

// duplicate looks for a batch among the last five, confirmed or pending.
func (ps producers) duplicate(f *record.Facts) (b ProducerBatch, pending, found bool) {
	p := ps.byID[f.ProducerID]
	if p == nil {
		return b, false, false
	}
	first, last := f.BaseSequence, f.LastSequence()
	seen := 0
	for i := len(p.pending) - 1; i >= 0 && seen < ProducerWindow; i-- {
		u := &p.pending[i]
		if u.epoch != f.ProducerEpoch {
			return b, false, false
		}
		if u.batch.LastSequence == last && u.batch.FirstSequence() == first {
			return u.batch, true, true
		}
		seen++
	}
	if p.epoch != f.ProducerEpoch {
		return b, false, false
	}
	for i := p.count - 1; i >= 0 && seen < ProducerWindow; i-- {
		if p.window[i].LastSequence == last && p.window[i].FirstSequence() == first {
			return p.window[i], false, true
		}
		seen++
	}
	return b, false, false
}

// check judges epoch and sequence of a batch that a client wants appended
// (ProducerAppendInfo.checkProducerEpoch and checkSequence; kafka-map rules 44 and 45).
func (ps producers) check(f *record.Facts) kafka.ErrorCode {
	p := ps.byID[f.ProducerID]
	if p == nil {
		return kafka.None
	}
	epoch, last := p.latest()
	switch {
	case epoch == kafka.NoProducerEpoch:
		return kafka.None
	case f.ProducerEpoch < epoch:
		return kafka.InvalidProducerEpoch
	case f.ProducerEpoch > epoch:
		if f.BaseSequence != 0 {
			return kafka.OutOfOrderSequenceNumber
		}
	case f.BaseSequence != nextSequence(last):
		return kafka.OutOfOrderSequenceNumber
	}
	return kafka.None
}

// nextSequence is what must follow last, which is NoSequence at the start of an epoch.
func nextSequence(last kafka.Sequence) kafka.Sequence {
	if invariant.CanarySequenceWrap.On() {
		return last + 1
	}
	return last.Add(1)
}

// latest returns the newest epoch and its last sequence, pending batches included.
func (p *producer) latest() (kafka.ProducerEpoch, kafka.Sequence) {
	epoch := p.epoch
	if n := len(p.pending); n > 0 {
		epoch = p.pending[n-1].epoch
	}
	for i := len(p.pending) - 1; i >= 0 && p.pending[i].epoch == epoch; i-- {
		if p.pending[i].control.Type == record.NoControl {
			return epoch, p.pending[i].batch.LastSequence
		}
	}
	if p.epoch != epoch || p.count == 0 {
		return epoch, kafka.NoSequence
	}
	return epoch, p.window[p.count-1].LastSequence
}

// push queues the update of a batch whose write is on its way.
func (ps producers) push(u producerUpdate) {
	p := ps.get(u.id)
	p.pending = append(p.pending, u)
	if invariant.CanaryProducerBeforeWrite.On() {
		p.apply(u)
	}
}

// confirm applies the oldest queued update of a producer: its batch is written.
func (ps producers) confirm(id kafka.ProducerID) {
	p := ps.byID[id]
	invariant.Always(p != nil && len(p.pending) > 0, "a confirmed batch of a producer was pending")
	u := p.pending[0]
	p.pending = append(p.pending[:0], p.pending[1:]...)
	if !invariant.CanaryProducerBeforeWrite.On() {
		p.apply(u)
	}
}

// replay applies the batch of a log that is being read.
func (ps producers) replay(u producerUpdate) { ps.get(u.id).apply(u) }

// apply makes an update the confirmed state. It does not judge it: what lies in the log counts.
func (p *producer) apply(u producerUpdate) {
	if u.epoch != p.epoch {
		p.epoch, p.count = u.epoch, 0
	}
	p.timestamp = u.batch.Timestamp
	if u.control.Type != record.NoControl {
		p.transactionStart = kafka.NoOffset
		p.coordinatorEpoch = u.control.CoordinatorEpoch
		return
	}
	if p.count == ProducerWindow {
		copy(p.window[:], p.window[1:])
		p.count--
	}
	p.window[p.count] = u.batch
	p.count++
	if u.transactional && p.transactionStart == kafka.NoOffset {
		p.transactionStart = u.batch.BaseOffset()
	}
}

// expire forgets producers that have been idle for longer than idleMs at wallMs.
func (ps producers) expire(wallMs, idleMs int64) int {
	expired := 0
	for _, id := range ps.ids() {
		p := ps.byID[id]
		busy := len(p.pending) > 0 || p.transactionStart != kafka.NoOffset
		if !busy && wallMs-p.timestamp >= idleMs {
			delete(ps.byID, id)
			expired++
		}
	}
	return expired
}

func (ps producers) ids() []kafka.ProducerID { return slices.Sorted(maps.Keys(ps.byID)) }

// entries returns the confirmed state, in the order of ids.
func (ps producers) entries() []ProducerEntry {
	entries := make([]ProducerEntry, 0, len(ps.byID))
	for _, id := range ps.ids() {
		p := ps.byID[id]
		if p.epoch == kafka.NoProducerEpoch {
			continue
		}
		entries = append(entries, ProducerEntry{
			ID:               id,
			Epoch:            p.epoch,
			CoordinatorEpoch: p.coordinatorEpoch,
			TransactionStart: p.transactionStart,
			Timestamp:        p.timestamp,
			Batches:          slices.Clone(p.window[:p.count]),
		})
	}
	return entries
}
