package commitlog

import "stet/core/env"

// Close starts a clean close: no appends from now on; pending writes are waited for, the log and
// its indexes are synced, indexes get their last entry, and snapshot and epoch checkpoint are
// written. A failure on the way fences the log.
func (l *Log) Close(out *env.Effects) {
	l.closing = true
	l.tryClose(out)
}

// Closed says whether a Close is complete and every file forgotten. RecoveryPoint is the log end
// then. False for ever when the log was fenced on the way.
func (l *Log) Closed() bool { return l.closed }

// tryClose goes on with a close as far as the completions so far allow.
func (l *Log) tryClose(out *env.Effects) {
	if !l.closing || l.closed || l.fenced || l.opening > 0 || l.pending.len() > 0 {
		return
	}
	s := l.segments.active()
	switch {
	case l.unchanged() && l.Quiescent():
		l.finishClose(out)
	case !s.sealed && s.sealing == nil && !l.unchanged():
		s.sealing = &sealing{indexOps: l.ops.indexWrites(s)}
		s.beginSeal(l, out)
	case s.sealed && l.Quiescent():
		l.finishClose(out)
	}
}

// unchanged says whether the files already are as a close would leave them: nothing was appended
// since a recovery that found them so, or ever.
func (l *Log) unchanged() bool {
	if l.changed {
		return false
	}
	empty := len(l.segments) == 1 && l.segments.active().bytes == 0
	return l.foundClean || empty && len(l.producers.byID) == 0
}

func (l *Log) finishClose(out *env.Effects) {
	l.recoveryPoint = l.written
	l.closeFiles(out)
	l.closed = true
}
