package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

const (
	scanBlock = 1 << 20  // bytes read at once while batches are verified
	walkBlock = 16 << 10 // while headers are walked
)

// scanAll verifies the batches of the segments from r.from on and stops at the first failure.
func (r *recovery) scanAll() error {
	gaps := r.job.Config.AllowGaps
	r.x = structure{next: r.segments[r.from].base, epoch: r.epochs.latest(), gaps: gaps}
	last := r.from
	for i := r.from; i < len(r.segments) && !r.cutting; i++ {
		s := &r.segments[i]
		if s.base < r.x.next || s.base > r.x.next && !r.x.gaps {
			r.cut(fmt.Errorf("segment %d where %d follows", s.base, r.x.next))
			break
		}
		r.x.next = s.base
		if err := r.scan(s); err != nil {
			return err
		}
		last = i
	}
	if end := r.segments[last].end; end < r.point && !r.truncated &&
		!invariant.CanaryCorruptMiddleIsTheEnd.On() {
		return fmt.Errorf("%w: the log ends at %d below the recovery point %d: %s",
			errCorrupt, end, r.point, r.out.CutReason)
	}
	for _, s := range r.segments[last+1:] {
		r.out.Cut += s.fileBytes
	}
	r.deleteFrom = last + 1
	return nil
}

// cut records that the log ends here.
func (r *recovery) cut(why error) {
	r.cutting = true
	r.out.CutReason = why.Error()
}

// scan verifies the batches of one segment and derives everything from them.
func (r *recovery) scan(s *foundSegment) error {
	name := child(r.job.Path, FileName(s.base, logSuffix))
	file, errno := r.disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	scan := newScanner(file, s.fileBytes, scanBlock)
	b := newIndexBuilder(s.base, r.job.Config)
	s.firstTimestamp = kafka.NoTimestamp
	position := int64(0)
	for position < s.fileBytes {
		v, errno, bad := scan.batch(position, &r.x)
		if errno != env.OK {
			file.Close()
			return failed("read", name, errno)
		}
		if bad == nil && r.job.TruncateTo >= 0 && v.LastOffset() >= r.job.TruncateTo {
			r.truncated, bad = true, fmt.Errorf("truncation to %d", r.job.TruncateTo)
		}
		if bad != nil {
			r.cut(fmt.Errorf("segment %d position %d: %w", s.base, position, bad))
			break
		}
		if position == 0 {
			s.firstTimestamp = v.MaxTimestamp()
		}
		r.accept(v, position, b)
		position += v.SizeBytes()
	}
	s.bytes, s.end, s.scanned = position, r.x.next, true
	s.index, s.rebuilt = b.finish()
	r.out.Scanned += position
	r.out.Cut += s.fileBytes - position
	return failed("close", name, file.Close())
}

// accept applies a batch that is part of the log.
func (r *recovery) accept(v record.View, position int64, b *indexBuilder) {
	r.x.passed(v)
	b.add(v, position)
	if !invariant.CanaryEpochZeroForgotten.On() || v.LeaderEpoch() > 0 {
		r.epochs.assign(v.LeaderEpoch(), v.BaseOffset())
	}
	r.replay(v)
}

// replay applies the effect of a whole batch on its producer.
func (r *recovery) replay(v record.View) {
	if v.ProducerID() < 0 {
		return
	}
	facts := record.Facts{
		LastOffsetDelta: v.LastOffsetDelta(),
		Attributes:      v.Attributes(),
		ProducerID:      v.ProducerID(),
		ProducerEpoch:   v.ProducerEpoch(),
		BaseSequence:    v.BaseSequence(),
	}
	if facts.Attributes.IsControl() {
		facts.Control = record.Inspect(v).Control
	}
	r.producers.replay(updateOf(&facts, v.BaseOffset(), v.MaxTimestamp()))
}

// indexBuilder makes the index files of a segment by the rule that a live segment follows.
type indexBuilder struct {
	base     kafka.Offset
	interval int32
	live     liveIndex
	files    rebuiltIndexes
}

func newIndexBuilder(base kafka.Offset, config *Config) *indexBuilder {
	none := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base}
	return &indexBuilder{
		base:     base,
		interval: config.IndexIntervalBytes,
		live:     liveIndex{assignedMax: none, lastTimeEntry: kafka.NoTimestamp},
	}
}

func (b *indexBuilder) add(v record.View, position int64) {
	in := b.live.assign(refOf(v, position), v.MaxTimestamp(), b.interval)
	if in.entry {
		b.files.index = AppendIndexEntry(b.files.index, b.base, IndexEntry{v.LastOffset(), position})
	}
	if in.time {
		b.files.timeIndex = AppendTimeEntry(b.files.timeIndex, b.base, in.max)
	}
}

// finish adds the last time entry, as a normally closed segment has it (LogSegment.recover).
func (b *indexBuilder) finish() (indexSummary, *rebuiltIndexes) {
	x := &b.live
	if x.assignedMax.Timestamp > x.lastTimeEntry {
		b.files.timeIndex = AppendTimeEntry(b.files.timeIndex, b.base, x.assignedMax)
		x.lastTimeEntry = x.assignedMax.Timestamp
		x.timeCount++
	}
	return indexSummary{
		x.entryCount, x.lastEntryAt, x.timeCount, x.lastTimeEntry, x.assignedMax,
	}, &b.files
}
