package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// sealing is the state of a segment between its roll, or the close of the log, and the moment at
// which all that belongs to it is durable. The steps, each after the completion of the one before:
//
//  1. its last write has completed: sync its log, write and sync the rest of its indexes
//  2. its log is synced: sync the directory that holds the next segment's file
//  3. all of these are done, and the segments before it sealed: a job writes the producer
//     snapshot and the epoch checkpoint
//  4. the job is done: the recovery point moves to the segment's end
type sealing struct {
	begun     bool
	dirAsked  bool
	dirSynced bool
	queued    bool
	indexOps  int // index writes and syncs under way
	job       *sealJob
}

// roll makes a new segment active. Its file is written to at once, before anything of the old one
// is durable; synced waits for the order instead.
func (l *Log) roll(now env.Now, out *env.Effects) {
	old := l.segments.active()
	invariant.Always(old.bytes > 0, "an empty segment is not rolled")
	invariant.Sometimes(true, invariant.MarkSegmentRoll)
	base := l.assigned
	s := &segment{
		base: base, file: l.handles.NextFile(),
		end: base, writtenEnd: base, syncedEnd: base, syncAsked: base,
		firstTimestamp: kafka.NoTimestamp,
		createdMs:      now.WallMs,
		live:           newLiveIndex(l.handles, base),
	}
	s.live.opened = true
	l.create(s.file, base, logSuffix, out)
	l.create(s.live.index, base, indexSuffix, out)
	l.create(s.live.timeIndex, base, timeIndexSuffix, out)
	l.segments = append(l.segments, s)
	old.sealing = &sealing{indexOps: l.ops.indexWrites(old)}
	if old.writtenBytes == old.bytes {
		old.beginSeal(l, out)
	}
}

func (l *Log) create(file env.FileID, base kafka.Offset, suffix string, out *env.Effects) {
	out.File = append(out.File, env.FileOp{
		Op: env.FileCreate, File: file, Path: l.filePath(base, suffix),
		Token: l.start(op{kind: opOpen}),
	})
}

// beginSeal runs when exactly the segment's last batch, and none of the next segment, has been
// confirmed: the producer state is that of the segment's end.
func (s *segment) beginSeal(l *Log, out *env.Effects) {
	z := s.sealing
	z.begun = true
	z.job = s.newSealJob(l)
	if s.syncAsked < s.writtenEnd {
		s.askSync(l, out)
	}
	s.finishIndexes(l, out)
	s.sealStep(l, out)
}

// finishIndexes emits the last index entries and the syncs of the index files. The last time
// entry always has the segment's largest timestamp (LogSegment.onBecomeInactiveSegment).
func (s *segment) finishIndexes(l *Log, out *env.Effects) {
	x := s.live
	if x.max.Timestamp > x.lastTimeEntry {
		x.times = append(x.times, x.max)
		x.lastTimeEntry = x.max.Timestamp
		x.timeCount++
	}
	if x.unsaved() > 0 || x.timesBefore+len(x.times) > x.timesSaved {
		s.saveIndex(l, out)
	}
	if !x.opened {
		return
	}
	for _, file := range []env.FileID{x.index, x.timeIndex} {
		out.File = append(out.File, env.FileOp{
			Op: env.FileSync, File: file, Token: l.start(op{kind: opIndexSync, segment: s}),
		})
		s.sealing.indexOps++
	}
}

// sealStep goes as far as the completions so far allow.
func (s *segment) sealStep(l *Log, out *env.Effects) {
	z := s.sealing
	if z == nil || !z.begun || !s.whollySynced() {
		return
	}
	if !z.dirAsked {
		z.dirAsked = true
		s.syncNextEntry(l, out)
	}
	if z.dirSynced = z.dirSynced || s.nextEntryDurable(l); !z.dirSynced || z.indexOps > 0 || z.queued {
		return
	}
	z.queued = true
	l.seals = append(l.seals, s)
	l.startSeal(out)
}

// syncNextEntry makes the next segment's file findable after a power loss. There is no next
// segment in a close; the job's own directory sync does then.
func (s *segment) syncNextEntry(l *Log, out *env.Effects) {
	next := l.segments.after(s)
	if next == nil {
		return
	}
	if invariant.CanarySkipDirSync.On() {
		l.entryIsDurable(next)
		return
	}
	out.File = append(out.File, env.FileOp{
		Op: env.FileSyncDir, File: next.file, Token: l.start(op{kind: opSyncDir, segment: next}),
	})
}

func (s *segment) nextEntryDurable(l *Log) bool {
	next := l.segments.after(s)
	return next == nil || next.entryDurable
}

// startSeal starts the next seal job, in the order of segments and one at a time: two jobs would
// write the same epoch checkpoint.
func (l *Log) startSeal(out *env.Effects) {
	_, first := l.segments.firstUnsealed()
	for i, s := range l.seals {
		if s != first {
			continue
		}
		l.seals = append(l.seals[:i], l.seals[i+1:]...)
		out.Jobs = append(out.Jobs, env.JobStart{
			Token: l.start(op{kind: opSeal, segment: s}), Job: s.sealing.job,
		})
		return
	}
}

func (l *Log) onSealed(s *segment, err error, out *env.Effects) {
	if err != nil {
		l.Fence(env.EIO)
	}
	if l.fenced {
		return
	}
	if s.live.opened {
		l.handles.close(s.live.index, out)
		l.handles.close(s.live.timeIndex, out)
	}
	s.sealed, s.sealing, s.live, s.max = true, nil, nil, s.live.max
	l.recoveryPoint = s.writtenEnd
	if next := l.segments.after(s); next != nil {
		l.recoveryPoint = next.base
	}
	l.startSeal(out)
	l.tryClose(out)
}
