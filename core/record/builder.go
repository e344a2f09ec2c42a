package record

import "stet/core/kafka"

// Spec is the header of a batch to be built.
type Spec struct {
	BaseOffset    kafka.Offset
	LeaderEpoch   kafka.LeaderEpoch
	Codec         Codec
	TimestampType kafka.TimestampType
	Transactional bool
	Control       bool
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	BaseSequence  kafka.Sequence
}

// Plain is the Spec of a client without idempotence: uncompressed, from offset 0.
func Plain() Spec {
	return Spec{
		LeaderEpoch:   kafka.NoLeaderEpoch,
		ProducerID:    kafka.NoProducerID,
		ProducerEpoch: kafka.NoProducerEpoch,
		BaseSequence:  kafka.NoSequence,
	}
}

// Builder builds batches. The same calls give the same bytes. The zero value with a Spec is ready.
type Builder struct {
	Spec Spec
}

// Add appends a record with the next offset delta. It copies what r points to.
func (b *Builder) Add(r Record) { panic("not yet") }

// AddAt appends a record with this offset delta, larger than the last one's. Batches with gaps
// come from compaction.
func (b *Builder) AddAt(offsetDelta int32, r Record) { panic("not yet") }

// Count is the number of records added so far.
func (b *Builder) Count() int32 { panic("not yet") }

// Build appends the batch to dst and resets b for the next one, keeping Spec. A nil Scratch will
// do without compression.
func (b *Builder) Build(dst []byte, s *Scratch) []byte { panic("not yet") }

// AppendMarker appends the batch of an end-of-transaction marker to dst. Spec gives the producer;
// Control and Transactional are implied.
func AppendMarker(dst []byte, spec Spec, c Control, timestamp int64) []byte { panic("not yet") }
