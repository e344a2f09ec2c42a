package record

import "stet/core/kafka"

// Examine validates exactly one batch as Kafka validates what clients produce, and reports facts.
// maxDecompressed bounds the decompressed records, in bytes. It does not allocate for an
// uncompressed batch, and a nil Scratch will do for one.
//
// What Kafka refuses from clients only (control batches, LogAppendTime, a missing sequence) is
// not a Problem here; see Facts.ClientProblem.
func (s *Scratch) Examine(b []byte, maxDecompressed int64) Facts {
	if p := Check(b); p != NoProblem {
		return refused(b, p)
	}
	batch := View(b)
	facts := headerFacts(batch)
	if facts.Problem = facts.headerProblem(); facts.Problem != NoProblem {
		return facts
	}
	payload, problem := s.payload(batch, maxDecompressed)
	if problem != NoProblem {
		facts.Problem = problem
		return facts
	}
	facts.UncompressedBytes = int64(len(payload))
	facts.walk(batch, payload)
	facts.readControl(batch)
	return facts
}

// headerProblem judges count and codec, before anything is decompressed.
func (f *Facts) headerProblem() Problem {
	switch {
	case f.Count <= 0 || f.LastOffsetDelta < 0:
		return ProblemNoRecords
	case f.LastOffsetDelta != f.Count-1:
		return ProblemCount
	case !f.Attributes.Codec().Known():
		return ProblemCodec
	}
	return NoProblem
}

// walk reads all records. Wrong inner offsets do not stop it: the other findings still hold then,
// and Kafka would only have rebuilt the batch.
func (f *Facts) walk(batch View, payload []byte) {
	fields := cursor{b: payload}
	var raw rawRecord
	for i := range f.Count {
		if !raw.read(&fields) {
			f.Problem, f.ProblemIndex = ProblemRecord, i
			return
		}
		f.note(i, recordTimestamp(batch, raw.timestampDelta), &raw)
	}
	if fields.at != len(payload) {
		f.Problem, f.ProblemIndex = ProblemRecord, f.Count
		return
	}
	f.Walked = true
}

// note takes record i into the findings.
func (f *Facts) note(i int32, timestamp int64, raw *rawRecord) {
	if raw.key == nil && f.FirstUnkeyed < 0 {
		f.FirstUnkeyed = i
	}
	if raw.offsetDelta != i && f.Problem == NoProblem {
		f.Problem, f.ProblemIndex = ProblemInnerOffsets, i
	}
	if timestamp == kafka.NoTimestamp {
		return
	}
	if timestamp > f.RecordMaxTimestamp || f.noTimestampYet() {
		f.RecordMaxTimestamp, f.RecordMaxIndex = timestamp, i
		f.MaxTimestampOffsetDelta = raw.offsetDelta
	}
	if timestamp < f.RecordMinTimestamp || f.RecordMinTimestamp == kafka.NoTimestamp {
		f.RecordMinTimestamp, f.RecordMinIndex = timestamp, i
	}
}

// noTimestampYet says whether no record so far had a timestamp.
func (f *Facts) noTimestampYet() bool { return f.RecordMinTimestamp == kafka.NoTimestamp }
