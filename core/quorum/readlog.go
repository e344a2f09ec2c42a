package quorum

import (
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
)

// logFile is a log file as read.
type logFile struct {
	header  header
	hard    HardState
	entries []Entry
	torn    int64  // bytes behind the last valid frame
	whole   bool   // the base is complete; else the file was never in force
	covered uint64 // a snapshot of this index is there too
	problem string // why it can not be used; empty if it can
	foreign bool   // the problem is not damage, but another version
}

// readLog reads and judges the log of a generation.
func (r *recovery) readLog(generation uint64) (*logFile, env.Errno) {
	b, err := readFile(r.disk, env.Path{Dir: r.dir, Name: logName(generation)})
	if err != env.OK {
		return nil, err
	}
	covered := uint64(0)
	if n := len(r.files.snapshots); n > 0 {
		covered = r.files.snapshots[n-1]
	}
	return parseLog(b, generation, covered), env.OK
}

// parseLog reads the frames of a log until the first that is not valid, and then looks for proof
// that this one was durable.
//
// That there is a snapshot changes nothing: what an entry replaces is gone, also if the snapshot covers
// that entry.
func parseLog(b []byte, generation, covered uint64) *logFile {
	l := &logFile{covered: covered}
	var err error
	at := int64(0)
	if l.header, err = parseHeader(b, generation); err == nil {
		at = l.readFrames(b)
	} else if err != errHeader {
		l.problem, l.foreign = err.Error(), true
		return l
	}
	l.whole = err == nil && at >= l.header.baseEnd
	if at < int64(len(b)) && l.problem == "" {
		l.judgeTail(b, generation, at)
	}
	if !l.whole {
		l.entries = nil
	}
	return l
}

// readFrames reads valid frames and returns where they end.
func (l *logFile) readFrames(b []byte) int64 {
	at := l.header.size
	for at < int64(len(b)) {
		f, ok := parseFrame(b, l.header.generation, at)
		if !ok {
			break
		}
		if !l.take(&f) {
			l.problem = fmt.Sprintf("the frame at byte %d does not follow from those before it", at)
			break
		}
		at = f.end
	}
	return at
}

// take applies a frame, and says whether it fits the log so far.
func (l *logFile) take(f *frame) bool {
	last := l.header.start
	if n := len(l.entries); n > 0 {
		last = Position{l.entries[n-1].Index, l.entries[n-1].Term}
	}
	if f.kind == frameHardState {
		fits := f.hard.Term >= l.hard.Term && f.hard.Commit >= l.hard.Commit
		l.hard = f.hard
		return fits
	}
	start := l.header.start.Index
	if invariant.CanaryRaftGhostTail.On() && f.entry.Index <= min(l.covered, last.Index) {
		l.entries[f.entry.Index-start-1] = f.entry
		return true
	}
	if f.entry.Index <= start || f.entry.Index > last.Index+1 || f.entry.Index <= l.hard.Commit &&
		f.entry.Index <= last.Index {
		return false
	}
	l.entries = append(l.entries[:f.entry.Index-start-1], f.entry)
	return true
}

// judgeTail looks behind the first invalid frame, at byte at. Frames have no marks to find them by,
// so every byte is tried; a wrong start is refused by its length or its crc.
func (l *logFile) judgeTail(b []byte, generation uint64, at int64) {
	l.torn = int64(len(b)) - at
	for next := at + 1; next < int64(len(b)); {
		f, ok := parseFrame(b, generation, next)
		if !ok {
			next++
			continue
		}
		if f.durable > at {
			l.problem = fmt.Sprintf(
				"the frame at byte %d is damaged, and was durable: byte %d says so", at, next)
			return
		}
		next = f.end
	}
}
