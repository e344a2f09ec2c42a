package quorum

import (
	"fmt"

	"stet/core/env"
)

// serving is who reads snapshots here. The one that the log starts with can be read at any time; the
// one before it stays until nobody has asked for a while, so that a slow reader comes to its end
// although the log moves on.
type serving struct {
	idle int // ticks since the log's snapshot was read, up to a limit
	kept Position
	rest int // ticks since the kept one was read
}

// keepTicks is how long a reader may pause.
func (q *Quorum) keepTicks() int { return 2 * q.config.ElectionTicks }

// tickServing lets a kept snapshot go that nobody reads any more.
func (q *Quorum) tickServing() {
	s := &q.serving
	s.idle = min(s.idle+1, q.keepTicks())
	if s.rest++; s.kept.Index > 0 && s.rest >= q.keepTicks() {
		if s.kept.Index > 1 {
			q.discard(snapshotName(s.kept.Index))
		}
		s.kept = Position{}
	}
}

// retire makes the files in force obsolete, for when newer ones are durable.
func (q *Quorum) retire() {
	q.discard(logName(q.writer.generation))
	s, start := &q.serving, q.storage.start
	drop := start
	if s.idle < q.keepTicks() {
		drop, s.kept, s.rest = s.kept, start, s.idle
	}
	if drop.Index > 1 { // those before are in no file
		q.discard(snapshotName(drop.Index))
	}
	s.idle = q.keepTicks()
}

// ReadSnapshot starts a job that reads a piece of a snapshot file for another voter: up to limit
// bytes from offset on. Its result is a SnapshotPart. ok is false if the snapshot is not here, or
// not any more.
func (q *Quorum) ReadSnapshot(
	at Position, offset int64, limit int, out *env.Effects,
) (token env.Token, ok bool) {
	s := &q.serving
	switch {
	case q.failed != env.OK || offset < 0 || limit <= 0 || at.Index == 0:
		return 0, false
	case at == q.storage.start:
		s.idle = 0
	case at == s.kept:
		s.rest = 0
	default:
		return 0, false
	}
	// It writes nothing, so it may run beside another.
	token = q.token()
	job := &readJob{q.config.Dir, at, q.storage.members, offset, limit}
	out.Jobs = append(out.Jobs, env.JobStart{Token: token, Job: job})
	return token, true
}

// readJob reads a piece of a snapshot file.
type readJob struct {
	dir     env.DirID
	at      Position
	members ConfState // of the empty state
	offset  int64
	limit   int
}

// Name implements env.Job.
func (*readJob) Name() string { return "quorum-read-snapshot" }

// Run implements env.Job.
func (j *readJob) Run(disk env.Disk) any {
	part := SnapshotPart{At: j.at, Offset: j.offset}
	var err env.Errno
	if j.at.Index == 1 {
		// The empty state that founders start from is not in a file.
		file := appendSnapshotFile(nil, j.at, &j.members, nothing{})
		part.Size = int64(len(file))
		from := min(j.offset, part.Size)
		part.Data = file[from:min(from+int64(j.limit), part.Size)]
	} else {
		err = j.read(disk, &part)
	}
	if err != env.OK {
		part.Gone = true
		part.Err = fmt.Errorf("read %s: %w", snapshotName(j.at.Index), err)
	}
	return part
}

func (j *readJob) read(disk env.Disk, part *SnapshotPart) env.Errno {
	f, err := disk.Open(env.Path{Dir: j.dir, Name: snapshotName(j.at.Index)}, env.OpenRead)
	if err != env.OK {
		return err
	}
	if part.Size, err = f.Size(); err == env.OK && part.Size > j.offset {
		data := make([]byte, min(int64(j.limit), part.Size-j.offset))
		var n int
		n, err = f.ReadAt(data, j.offset)
		part.Data = data[:n]
	}
	f.Close()
	return err
}

// nothing is the empty state.
type nothing struct{}

// AppendSnapshot implements Body.
func (nothing) AppendSnapshot(dst []byte) []byte { return dst }
