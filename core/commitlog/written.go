package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
)

// OnFileDone consumes the completion of a FileOp of this log. It returns false for one that is
// not (or no longer) the log's. Compare the ends and Fenced before and after.
func (l *Log) OnFileDone(ev *env.Event, out *env.Effects) bool {
	if b := l.pending.find(ev.Token); b != nil {
		l.writes--
		l.onWritten(b, ev.Err, out)
		return true
	}
	o, ok := l.ops.take(ev.Token)
	if !ok {
		return false
	}
	switch o.kind {
	case opOpen:
		l.onOpened(o, ev.Err)
	case opSync:
		l.onSynced(o, ev.Err, out)
	case opSyncDir:
		l.onDirSynced(o, ev.Err, out)
	case opIndex:
		l.onIndexWritten(o, ev.Err, out)
	case opIndexSync:
		l.onIndexSynced(o, ev.Err, out)
	default:
		invariant.Unreachable("a file effect has no other purpose")
	}
	return true
}

func (l *Log) onOpened(o op, err env.Errno) {
	if o.segment != nil {
		l.opening--
	}
	if err != env.OK {
		l.Fence(err)
	}
}

// onWritten records that a batch's write completed, and confirms the prefix that is complete.
// Writes of one file complete in order; those of a new segment may overtake the old one's.
func (l *Log) onWritten(b *pendingBatch, err env.Errno, out *env.Effects) {
	b.done = true
	if err != env.OK {
		l.Fence(err)
	}
	if l.fenced {
		return
	}
	for l.pending.len() > 0 && l.pending.first().done {
		l.confirm(out)
	}
	l.maybeSync(out)
	l.tryClose(out)
}

// confirm moves written over the first pending batch.
func (l *Log) confirm(out *env.Effects) {
	b := *l.pending.first()
	l.pending.pop()
	s := b.segment
	invariant.Always(b.ref.position == s.writtenBytes, "batches are confirmed in order")
	s.writtenBytes, s.writtenEnd = b.ref.end(), b.ref.last+1
	l.written = max(l.written, s.writtenEnd)
	l.places.tail.push(b.ref)
	s.live.confirm(b.ref, b.index)
	if b.producer {
		l.producers.confirm(b.update.id)
	}
	if s.sealing != nil && s.writtenBytes == s.bytes {
		s.beginSeal(l, out)
	} else if s.live.unsaved() >= l.config.indexWriteEntries() {
		s.saveIndex(l, out)
	}
}

// saveIndex emits the writes of the index entries that are only in memory.
func (s *segment) saveIndex(l *Log, out *env.Effects) {
	x := s.live
	s.openIndexes(l, out)
	if fresh := x.entries[x.entriesSaved-x.entriesBefore:]; len(fresh) > 0 {
		mark := out.Mark()
		for _, e := range fresh {
			out.Bytes = AppendIndexEntry(out.Bytes, s.base, IndexEntry{e.last, e.position})
		}
		s.writeIndex(l, x.index, x.entriesSaved*indexEntrySize, out.SpanFrom(mark), fresh[0], out)
		x.entriesSaved += len(fresh)
	}
	if fresh := x.times[x.timesSaved-x.timesBefore:]; len(fresh) > 0 {
		mark := out.Mark()
		for _, e := range fresh {
			out.Bytes = AppendTimeEntry(out.Bytes, s.base, e)
		}
		s.writeIndex(l, x.timeIndex, x.timesSaved*timeEntrySize, out.SpanFrom(mark), batchRef{}, out)
		x.timesSaved += len(fresh)
	}
	x.forget()
}

// openIndexes emits the opening of index files that recovery left closed. The files' own queues
// put it before the writes that follow.
func (s *segment) openIndexes(l *Log, out *env.Effects) {
	if s.live.opened {
		return
	}
	s.live.opened = true
	out.File = append(out.File,
		env.FileOp{
			Op: env.FileOpen, File: s.live.index, Path: l.filePath(s.base, indexSuffix),
			Token: l.start(op{kind: opOpen}),
		},
		env.FileOp{
			Op: env.FileOpen, File: s.live.timeIndex, Path: l.filePath(s.base, timeIndexSuffix),
			Token: l.start(op{kind: opOpen}),
		})
}

func (s *segment) writeIndex(l *Log, file env.FileID, at int, bytes env.Span, first batchRef,
	out *env.Effects,
) {
	out.File = append(out.File, env.FileOp{
		Op: env.FileWrite, File: file, Off: int64(at), N: int64(bytes.Len()), Inline: bytes,
		Token: l.start(op{kind: opIndex, segment: s, entry: first}),
	})
	if s.sealing != nil {
		s.sealing.indexOps++
	}
}

// onIndexWritten fences the log when index entries could not be written: the file has a hole that
// only recovery mends. The batches are in the log all the same, so nothing else moves.
func (l *Log) onIndexWritten(o op, err env.Errno, out *env.Effects) {
	if err != env.OK && invariant.CanaryEndAfterIndex.On() {
		// The log end moves only after the index write: the offset of the batch whose entry
		// failed is given out again.
		if o.entry.bytes > 0 {
			l.assigned = o.entry.base
		}
		err = env.OK
	}
	if err != env.OK {
		l.Fence(err)
	}
	o.segment.indexOpDone(l, out)
}

func (l *Log) onIndexSynced(o op, err env.Errno, out *env.Effects) {
	if err != env.OK && !invariant.CanaryEndAfterIndex.On() {
		l.Fence(err)
	}
	o.segment.indexOpDone(l, out)
}

func (s *segment) indexOpDone(l *Log, out *env.Effects) {
	if s.sealing == nil || l.fenced {
		return
	}
	// Writes that were under way when the segment was rolled are counted by beginSeal.
	s.sealing.indexOps--
	s.sealStep(l, out)
}
