package record

import "stet/core/kafka"

// Facts is everything that decide needs to know of a batch, as comparable plain data. It keeps no
// reference to the batch.
type Facts struct {
	Problem Problem
	// Walked says whether the records themselves were read to the end, and so whether the findings
	// below hold. It is false after Inspect, and after a Problem that stopped Examine early.
	Walked bool

	// As the header says.

	SizeBytes       int32 // of the whole batch, header included
	Count           int32 // of records
	LastOffsetDelta int32
	BaseOffset      kafka.Offset
	LeaderEpoch     kafka.LeaderEpoch
	Attributes      Attributes
	CRC             uint32
	BaseTimestamp   int64 // milliseconds
	MaxTimestamp    int64 // milliseconds
	ProducerID      kafka.ProducerID
	ProducerEpoch   kafka.ProducerEpoch
	BaseSequence    kafka.Sequence

	// As found in the records.

	// RecordMinTimestamp and RecordMaxTimestamp are the smallest and largest timestamp of the
	// records that have one, in milliseconds, and the index of the first record with it.
	// Without any both are kafka.NoTimestamp and the indexes 0.
	RecordMinTimestamp, RecordMaxTimestamp int64
	RecordMinIndex, RecordMaxIndex         int32
	// MaxTimestampOffsetDelta is the offset delta of the record at RecordMaxIndex.
	MaxTimestampOffsetDelta int32
	FirstUnkeyed            int32 // index of the first record with a null key, or -1
	ProblemIndex            int32 // index of the record with the problem, or -1
	UncompressedBytes       int64 // of the records, without the header

	// Control is the marker in a control batch; Type NoControl otherwise.
	Control Control
}

// LastSequence is the sequence of the last record, inclusive, wrapping after 2^31-1.
func (f *Facts) LastSequence() kafka.Sequence {
	return lastSequence(f.BaseSequence, f.LastOffsetDelta)
}

// HasProducer says whether the batch comes from an idempotent producer.
func (f *Facts) HasProducer() bool { return f.ProducerID >= 0 }

// ClientProblem is Problem, and beyond it what Kafka refuses from clients but not from leaders
// (LogValidator.validateBatch and validateTimestamp).
func (f *Facts) ClientProblem() Problem {
	switch {
	case f.Problem != NoProblem:
		return f.Problem
	case f.Attributes.IsControl():
		return ProblemControl
	case f.Attributes.TimestampType() == kafka.LogAppendTime:
		return ProblemTimestampType
	case f.HasProducer() && f.BaseSequence < 0:
		return ProblemSequence
	}
	return NoProblem
}

// headerFacts reads what the header says. The record findings are empty.
func headerFacts(v View) Facts {
	return Facts{
		SizeBytes:       int32(v.SizeBytes()),
		Count:           v.Count(),
		LastOffsetDelta: v.LastOffsetDelta(),
		BaseOffset:      v.BaseOffset(),
		LeaderEpoch:     v.LeaderEpoch(),
		Attributes:      v.Attributes(),
		CRC:             v.CRC(),
		BaseTimestamp:   v.BaseTimestamp(),
		MaxTimestamp:    v.MaxTimestamp(),
		ProducerID:      v.ProducerID(),
		ProducerEpoch:   v.ProducerEpoch(),
		BaseSequence:    v.BaseSequence(),

		RecordMinTimestamp: kafka.NoTimestamp,
		RecordMaxTimestamp: kafka.NoTimestamp,
		FirstUnkeyed:       -1,
		ProblemIndex:       -1,
		Control:            Control{Type: NoControl},
	}
}
