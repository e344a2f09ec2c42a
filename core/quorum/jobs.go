package quorum

import (
	"stet/core/env"
	"stet/core/invariant"
)

// jobs is what is done to files by jobs. One that writes runs alone, so that a sweep never meets a
// file being written, nor two writers the same temporary one.
type jobs struct {
	token    env.Token // of the one under way; zero for none
	obsolete []string  // files to remove when the log in force is durable
	retryAt  uint64    // no snapshot before this index, after one failed
}

// UnderWay returns the token of the writing job that is under way, or zero. After a failure the
// owner waits for its event before it recovers: the job may rename or remove files.
func (q *Quorum) UnderWay() env.Token { return q.jobs.token }

// discard lists a file to be removed.
func (q *Quorum) discard(name string) { q.jobs.obsolete = append(q.jobs.obsolete, name) }

// nextJob starts what waits for a job to end.
func (q *Quorum) nextJob(out *env.Effects) {
	f := &q.fetch
	switch {
	case q.jobs.token != 0 || q.failed != env.OK:
	case len(q.jobs.obsolete) > 0:
		// First of all: a snapshot that is obsolete, and written anew, must not be swept then.
		if q.writer.standing() {
			q.startJob(&sweepJob{q.config.Dir, q.jobs.obsolete}, out)
			q.jobs.obsolete = nil
		}
	case f.saving() && !f.saved:
		q.startJob(&saveJob{q.config.Dir, f.at(), f.data}, out)
	}
}

func (q *Quorum) startJob(j env.Job, out *env.Effects) {
	invariant.Always(q.jobs.token == 0, "two jobs of a quorum at once")
	q.jobs.token = q.token()
	out.Jobs = append(out.Jobs, env.JobStart{Token: q.jobs.token, Job: j})
}

func (q *Quorum) onJobDone(ev *env.Event, out *env.Effects) {
	if _, read := ev.Res.(SnapshotPart); read {
		return // the caller's
	}
	invariant.Always(ev.Token == q.jobs.token, "a job of a quorum is done that was not under way")
	q.jobs.token = 0
	switch done := ev.Res.(type) {
	case SnapshotDone:
		q.onSnapshot(&done, out)
	case SnapshotSaved:
		q.saveDone(&done)
	}
}

// SnapshotDue says whether the application is to make a snapshot: the log has grown enough since the
// last one, or a voter needs one that the last one does not know.
func (q *Quorum) SnapshotDue() bool {
	s := q.storage
	grown := len(s.entries) >= q.config.SnapshotEntries || s.bytes >= q.config.SnapshotBytes
	due := s.wanted || grown && q.applied.Index >= q.jobs.retryAt
	return due && q.failed == env.OK && q.jobs.token == 0 && len(q.jobs.obsolete) == 0 &&
		q.fetch.offer == nil && q.applied.Index > s.start.Index
}

// Snapshot starts the job that saves body, the state as of the last entry that Advance returned.
// Call it only if SnapshotDue.
func (q *Quorum) Snapshot(body Body, out *env.Effects) {
	at := q.applied
	if invariant.CanarySnapshotOffByOne.On() && at.Index-1 > q.storage.start.Index {
		at.Index--
		at.Term, _ = q.storage.Term(at.Index)
	}
	q.startJob(&snapshotJob{q.config.Dir, at, q.members, body}, out)
}

// onSnapshot moves the log, without what the snapshot covers, to a new file.
func (q *Quorum) onSnapshot(done *SnapshotDone, out *env.Effects) {
	q.storage.wanted = false
	if done.Err != env.OK {
		// Not fatal: the log still has everything. Try again when it has grown once more.
		q.jobs.retryAt = q.applied.Index + uint64(q.config.SnapshotEntries)
		return
	}
	invariant.Sometimes(true, invariant.MarkRaftSnapshot)
	q.retire()
	q.storage.compact(done.At, done.Members)
	q.setMembers(q.members)
	q.writer.begin(q.voter, q.storage, out)
}
