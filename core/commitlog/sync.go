package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
)

// maybeSync emits a sync of the active segment when flush.messages asks for one. There is one in
// flight at a time, so that it covers all that is written while the one before runs: group sync by
// completion.
func (l *Log) maybeSync(out *env.Effects) {
	s := l.segments.active()
	if l.fenced || s.syncing || int64(s.writtenEnd-max(s.syncAsked, s.base)) < l.config.FlushMessages {
		return
	}
	s.askSync(l, out)
}

// askSync emits a sync of a segment's log. It covers what is written now: the file's queue
// performs it after those writes.
func (s *segment) askSync(l *Log, out *env.Effects) {
	s.syncing = true
	s.syncAsked = s.writtenEnd
	out.File = append(out.File, env.FileOp{
		Op: env.FileSync, File: s.file,
		Token: l.start(op{kind: opSync, segment: s, covers: s.writtenEnd}),
	})
}

// onSynced records a completed sync. After a failed one the pages may be gone although a later
// sync succeeds, so the log is fenced and what lies behind synced is read again by recovery.
func (l *Log) onSynced(o op, err env.Errno, out *env.Effects) {
	s := o.segment
	s.syncing = false
	if err != env.OK && invariant.CanaryAppendAfterFailedSync.On() {
		if err != env.EFenced {
			s.askSync(l, out)
			return
		}
		err = env.OK
	}
	if err != env.OK {
		l.Fence(err)
	}
	if l.fenced {
		return
	}
	s.syncedEnd = max(s.syncedEnd, o.covers)
	l.advanceSynced()
	if s.sealing != nil {
		s.sealStep(l, out)
	}
	l.maybeSync(out)
}

// advanceSynced moves synced over what is durable without a gap. Across a roll that needs the old
// segment whole, and the new file's directory entry.
func (l *Log) advanceSynced() {
	for ; ; l.unsynced++ {
		s := l.segments[l.unsynced]
		if !s.entryDurable {
			return
		}
		l.synced = max(l.synced, s.syncedEnd)
		if s == l.segments.active() || !s.whollySynced() {
			return
		}
	}
}

// whollySynced says whether everything that was appended to the segment is durable.
func (s *segment) whollySynced() bool {
	return s.writtenBytes == s.bytes && s.syncedEnd >= s.writtenEnd
}

func (l *Log) onDirSynced(o op, err env.Errno, out *env.Effects) {
	if err != env.OK {
		l.Fence(err)
	}
	if l.fenced {
		return
	}
	l.entryIsDurable(o.segment)
	l.segments.before(o.segment).sealStep(l, out)
}

// entryIsDurable records that the directory was synced since the segment's file was created.
func (l *Log) entryIsDurable(s *segment) {
	s.entryDurable = true
	l.advanceSynced()
}
