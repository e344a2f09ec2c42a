package commitlog

import (
	"math"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// Appended says where a batch was put.
type Appended struct {
	BaseOffset, LastOffset kafka.Offset
	// LogAppendTime is the time that was stamped, or kafka.NoTimestamp.
	LogAppendTime int64
	// Duplicate: nothing was appended; the offsets are those of the batch that was appended
	// first. Answer when the high watermark has passed LastOffset, as for an original.
	Duplicate bool
	// Pending: the original of the duplicate is not written yet.
	Pending bool
	// Rolled: the batch is the first of a new segment.
	Rolled bool
}

// Append appends one batch that the leader has judged, under its epoch. It takes the next offset
// and file position and emits the write, which carries buf; the node keeps the buffer alive until
// it is done. On an error, and for a duplicate, nothing is emitted.
//
// Errors: OutOfOrderSequenceNumber, InvalidProducerEpoch, RecordListTooLarge, KafkaStorageError.
func (l *Log) Append(now env.Now, facts *record.Facts, buf env.BufRef, epoch kafka.LeaderEpoch,
	out *env.Effects,
) (Appended, kafka.ErrorCode) {
	if code := l.refuses(); code != kafka.None {
		return Appended{}, code
	}
	if facts.SizeBytes > l.config.SegmentBytes {
		return Appended{}, kafka.RecordListTooLarge
	}
	if facts.HasProducer() && !facts.Attributes.IsControl() {
		if dup, pending, found := l.producers.duplicate(facts); found {
			return l.duplicateOf(dup, pending), kafka.None
		}
		if code := l.producers.check(facts); code != kafka.None {
			invariant.Sometimes(code == kafka.OutOfOrderSequenceNumber, invariant.MarkSequenceGap)
			return Appended{}, code
		}
	}
	patch := l.patch(now, facts, epoch)
	l.assignEpoch(epoch, l.assigned)
	return l.put(now, facts, buf, patch, out), kafka.None
}

// AppendReplica appends one batch as the leader wrote it: the offset and epoch are the batch's
// own. Neither sequences nor sizes are judged: what the leader accepted stands (KAFKA-6003).
// facts.BaseOffset must not be below Assigned.
//
// Errors: OffsetOutOfRange, KafkaStorageError.
func (l *Log) AppendReplica(now env.Now, facts *record.Facts, buf env.BufRef,
	out *env.Effects,
) (Appended, kafka.ErrorCode) {
	if code := l.refuses(); code != kafka.None {
		return Appended{}, code
	}
	if facts.BaseOffset < l.assigned {
		return Appended{}, kafka.OffsetOutOfRange
	}
	l.assigned = facts.BaseOffset
	l.assignEpoch(facts.LeaderEpoch, facts.BaseOffset)
	patch := env.Patch{BaseOffset: int64(facts.BaseOffset), MaxStamp: facts.MaxTimestamp}
	return l.put(now, facts, buf, patch, out), kafka.None
}

// refuses holds what stops any batch.
func (l *Log) refuses() kafka.ErrorCode {
	if l.fenced || l.closing || l.opening > 0 {
		return kafka.KafkaStorageError
	}
	return kafka.None
}

func (l *Log) duplicateOf(b ProducerBatch, pending bool) Appended {
	invariant.Sometimes(!pending, invariant.MarkDuplicateBatch)
	invariant.Sometimes(pending, invariant.MarkDuplicatePending)
	a := Appended{
		BaseOffset:    b.BaseOffset(),
		LastOffset:    b.LastOffset,
		LogAppendTime: kafka.NoTimestamp,
		Duplicate:     true,
		Pending:       pending,
	}
	if l.config.LogAppendTime {
		a.LogAppendTime = b.Timestamp
	}
	return a
}

// patch says what the performer stamps into the header. A maximum timestamp that the records do
// not bear out is corrected, as Kafka does when it validates (LogValidator).
func (l *Log) patch(now env.Now, facts *record.Facts, epoch kafka.LeaderEpoch) env.Patch {
	p := env.Patch{
		Stamp:       true,
		LeaderEpoch: int32(epoch),
		BaseOffset:  int64(l.assigned),
		MaxStamp:    facts.MaxTimestamp,
	}
	switch {
	case l.config.LogAppendTime:
		p.AppendTime, p.MaxStamp = true, now.WallMs
	case facts.Walked && facts.RecordMaxTimestamp != facts.MaxTimestamp:
		p.CreateTime, p.MaxStamp = true, facts.RecordMaxTimestamp
	}
	return p
}

// put gives a batch its place and emits its write. patch.MaxStamp is the maximum timestamp that
// will be stored.
func (l *Log) put(now env.Now, facts *record.Facts, buf env.BufRef, patch env.Patch,
	out *env.Effects,
) Appended {
	base := kafka.Offset(patch.BaseOffset)
	last := base + kafka.Offset(facts.LastOffsetDelta)
	invariant.Always(last >= base, "a batch holds an offset")
	rolled := l.mustRoll(now, last, facts.SizeBytes, patch.MaxStamp)
	if rolled {
		l.roll(now, out)
	}
	s := l.segments.active()
	ref := batchRef{base: base, last: last, position: s.bytes, bytes: facts.SizeBytes}
	b := pendingBatch{
		token:    l.handles.NextToken(),
		segment:  s,
		ref:      ref,
		index:    s.live.assign(ref, patch.MaxStamp, l.config.IndexIntervalBytes),
		producer: facts.HasProducer(),
	}
	if b.producer {
		b.update = updateOf(facts, base, patch.MaxStamp)
		l.producers.push(b.update)
	}
	if s.bytes == 0 {
		s.firstTimestamp = patch.MaxStamp
	}
	s.bytes, s.end, l.assigned = ref.end(), last+1, last+1
	l.pending.push(b)
	l.changed = true
	l.writes++
	out.File = append(out.File, env.FileOp{
		Op: env.FileWrite, File: s.file, Off: ref.position, N: int64(ref.bytes),
		Buf: buf, Patch: patch, Token: b.token,
	})
	stamped := kafka.NoTimestamp
	if patch.AppendTime {
		stamped = patch.MaxStamp
	}
	return Appended{BaseOffset: base, LastOffset: last, LogAppendTime: stamped, Rolled: rolled}
}

// mustRoll follows LogSegment.shouldRoll (kafka-map rule 41).
func (l *Log) mustRoll(now env.Now, last kafka.Offset, size int32, timestamp int64) bool {
	s := l.segments.active()
	if s.bytes == 0 {
		return false
	}
	waited := now.WallMs - s.createdMs
	if s.firstTimestamp >= 0 {
		waited = timestamp - s.firstTimestamp
	}
	return s.bytes > int64(l.config.SegmentBytes)-int64(size) ||
		waited > l.config.SegmentMs ||
		s.live.entryCount >= l.config.maxIndexEntries() ||
		s.live.timeCount >= l.config.maxTimeEntries() ||
		last-s.base > math.MaxInt32
}
