package quorum

import (
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
	"stet/core/invariant"
)

// Handle consumes the completion of an effect of this voter.
func (q *Quorum) Handle(ev *env.Event, out *env.Effects) {
	if q.failed != env.OK {
		if ev.Kind == env.EventJobDone {
			q.job.token = 0
		}
		return
	}
	switch ev.Kind {
	case env.EventFileDone:
		q.onFileDone(ev, out)
	case env.EventJobDone:
		q.onJobDone(ev, out)
	}
}

// onFileDone steps what waited for a sync. Any failure is the end: what the file holds is unknown,
// and a later sync that succeeds would prove nothing.
func (q *Quorum) onFileDone(ev *env.Event, out *env.Effects) {
	if ev.Err != env.OK && ev.FileOp != env.FileClose {
		q.failed, q.leading = ev.Err, false
		q.Close(out)
		return
	}
	if ev.Token == 0 || ev.Token != q.writer.token {
		return // of a file that is not in force any more
	}
	for _, w := range q.writer.onSynced() {
		for _, m := range w.responses {
			q.deliver(m)
		}
		if w.begun {
			q.sweep(out)
		}
	}
}

// deliver passes on a message that waited for a sync.
func (q *Quorum) deliver(m *pb.Message) {
	if m.GetTo() == q.voter {
		q.must(q.node.Step(m))
	} else {
		q.send(m)
	}
}

// sweep removes what the file in force has made superfluous.
func (q *Quorum) sweep(out *env.Effects) {
	if len(q.job.obsolete) == 0 {
		return
	}
	q.startJob(&sweepJob{q.config.Dir, q.job.obsolete}, out)
	q.job.obsolete = nil
}

func (q *Quorum) startJob(j env.Job, out *env.Effects) {
	invariant.Always(q.job.token == 0, "two jobs of a quorum at once")
	q.job.token = q.token()
	out.Jobs = append(out.Jobs, env.JobStart{Token: q.job.token, Job: j})
}

func (q *Quorum) onJobDone(ev *env.Event, out *env.Effects) {
	invariant.Always(ev.Token == q.job.token, "a job of a quorum is done that was not under way")
	q.job.token = 0
	if done, ok := ev.Res.(SnapshotDone); ok {
		q.onSnapshot(&done, out)
	}
}

// SnapshotDue says whether the log has grown enough since the last snapshot for a new one.
func (q *Quorum) SnapshotDue() bool {
	s := q.storage
	grown := len(s.entries) >= q.config.SnapshotEntries || s.bytes >= q.config.SnapshotBytes
	return grown && q.failed == env.OK && q.job.token == 0 && len(q.job.obsolete) == 0 &&
		q.applied.Index > s.start.Index && q.applied.Index >= q.job.retryAt
}

// Snapshot starts the job that saves body, the state as of the last entry that Advance returned.
// Call it only if SnapshotDue.
func (q *Quorum) Snapshot(body Body, out *env.Effects) {
	q.startJob(&snapshotJob{q.config.Dir, q.applied, q.members, body}, out)
}

// onSnapshot moves the log, without what the snapshot covers, to a new file.
func (q *Quorum) onSnapshot(done *SnapshotDone, out *env.Effects) {
	if done.Err != env.OK {
		// Not fatal: the log still has everything. Try again when it has grown once more.
		q.job.retryAt = q.applied.Index + uint64(q.config.SnapshotEntries)
		return
	}
	invariant.Sometimes(true, invariant.MarkRaftSnapshot)
	old := []string{logName(q.writer.generation)}
	if q.storage.start.Index > 1 {
		old = append(old, snapshotName(q.storage.start.Index))
	}
	q.storage.compact(done.At, done.Members)
	q.writer.begin(q.voter, q.storage, out)
	q.job.obsolete = old
}

