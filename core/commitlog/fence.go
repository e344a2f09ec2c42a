package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
)

// Fenced says whether an effect failed. Batches in [Written, Assigned) have failed, none can be
// appended, and the log has to be recovered under new file ids.
func (l *Log) Fenced() bool { return l.fenced }

// FenceReason returns the failure that fenced the log, or OK.
func (l *Log) FenceReason() env.Errno { return l.reason }

// Fence fences the log for a reason of the owner's: a failed read. Effects under way are waited for
// as after a failure. Nothing is undone in place.
func (l *Log) Fence(reason env.Errno) {
	if l.fenced && l.reason != env.OK {
		return
	}
	invariant.Sometimes(true, invariant.MarkLogFenced)
	l.fenced, l.reason = true, reason
}

// Stop ends the log because its owner wants to truncate or to remove it: it takes no appends and
// begins nothing new, and what is under way is waited for, as after a Fence. Nothing is suspected;
// FenceReason says whether something failed all the same.
func (l *Log) Stop() { l.fenced = true }

// Quiescent says whether no effect and no job of the log is outstanding.
func (l *Log) Quiescent() bool {
	if invariant.CanaryWriteAfterTruncate.On() {
		return true
	}
	return l.writes == 0 && len(l.ops.items) == 0
}

// Abandon forgets all files of a quiescent log; leased ones stay readable until released. The log
// must not be used afterwards.
func (l *Log) Abandon(out *env.Effects) {
	invariant.Always(l.Quiescent(), "a log is abandoned when nothing is outstanding")
	l.Stop()
	l.closeFiles(out)
}

func (l *Log) closeFiles(out *env.Effects) {
	for _, s := range l.segments {
		l.handles.close(s.file, out)
		if s.live != nil && s.live.opened {
			l.handles.close(s.live.index, out)
			l.handles.close(s.live.timeIndex, out)
		}
	}
}
