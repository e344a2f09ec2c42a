package quorum

import (
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
	"stet/core/invariant"
)

// fetch is a snapshot on its way from another voter. A message of raft that carries one has no body.
// It is held back until the body was fetched piece by piece and is on the disk as a snapshot file;
// then raft is told, which makes the log start with it. One snapshot at a time: what is offered
// meanwhile is passed over, the leader offers again.
type fetch struct {
	news  *pb.Message // the offer that came last, not judged yet
	offer *pb.Message // that is fetched; nil for none
	data  []byte      // of the file, so far
	file  *snapshotFile
	saved bool // the file is on the disk
	asked bool // for the next piece
	idle  int  // ticks since then
}

// atOf returns what an offer or a snapshot of raft is of.
func atOf(s *pb.Snapshot) Position {
	return Position{s.GetMetadata().GetIndex(), s.GetMetadata().GetTerm()}
}

func (f *fetch) at() Position { return atOf(f.offer.GetSnapshot()) }

// install lets raft take the snapshot that is on the disk, drops an offer that is out of date, and
// judges a new one. What is stored and what raft holds for its log are the same when it is called.
func (q *Quorum) install(out *env.Effects) {
	f := &q.fetch
	if f.saved {
		q.step(f.offer)
		q.drain(out)
		if q.storage.start != f.at() {
			q.discard(snapshotName(f.at().Index)) // raft knows better by now
		}
		*f = fetch{news: f.news}
	}
	if f.offer != nil && !f.saving() && f.offer.GetTerm() < q.storage.hard.Term {
		f.drop()
	}
	if f.news == nil || f.offer != nil {
		f.news = nil
		return
	}
	offer := f.news
	f.news = nil
	at := atOf(offer.GetSnapshot())
	term, err := q.storage.Term(at.Index)
	if at.Index <= q.storage.hard.Commit || err == nil && term == at.Term {
		// The log has it all. Raft answers and, at most, moves its commit index.
		q.step(offer)
		q.drain(out)
		return
	}
	f.offer = offer
}

// saving says whether the job that writes the file is under way or done.
func (f *fetch) saving() bool { return f.file != nil }

// drop gives the snapshot up: the leader will offer one again.
func (f *fetch) drop() { *f = fetch{news: f.news} }

// want returns the next piece to ask for, once; nil for none.
func (f *fetch) want() *SnapshotFetch {
	if f.offer == nil || f.asked || f.saving() {
		return nil
	}
	f.asked, f.idle = true, 0
	return &SnapshotFetch{f.offer.GetFrom(), f.at(), int64(len(f.data))}
}

// tick lets a piece that does not come be asked for again.
func (f *fetch) tick(patience int) {
	if f.idle++; f.idle >= patience {
		f.asked = false
	}
}

// SnapshotChunk takes a piece of a snapshot that Progress.Fetch asked for.
func (q *Quorum) SnapshotChunk(c SnapshotChunk, out *env.Effects) {
	f := &q.fetch
	if q.failed != env.OK || f.offer == nil || f.saving() || c.At != f.at() ||
		!c.Gone && c.Offset != int64(len(f.data)) {
		return
	}
	f.data = append(f.data, c.Data...)
	have := int64(len(f.data))
	switch {
	case c.Gone || len(c.Data) == 0 || have > c.Size:
		f.drop()
	case have == c.Size:
		file, ok := parseSnapshot(f.data)
		if !ok || file.at != f.at() {
			f.drop()
			return
		}
		f.file = &file
		q.nextJob(out)
	default:
		f.asked = false
	}
}

// saveDone takes the result of the job that saved the file.
func (q *Quorum) saveDone(done *SnapshotSaved) {
	if q.fetch.saved = done.Err == env.OK; !q.fetch.saved {
		q.fetch.drop()
	}
}

// take makes the log start with the snapshot that raft has accepted: it is on the disk, and in force
// with the log file that starts with it.
func (q *Quorum) take(s *pb.Snapshot) *Installed {
	f := &q.fetch
	invariant.Always(f.saved && f.at() == atOf(s), "a snapshot is installed that was not saved")
	invariant.Sometimes(true, invariant.MarkRaftSnapshotInstalled)
	q.retire()
	// Nothing behind what was applied is known to stand any more, until the new file does.
	q.writer.truncate(q.applied)
	q.storage.reset(f.at(), confStateOf(s.GetMetadata().GetConfState()))
	if invariant.CanaryRaftVoteLost.On() {
		q.storage.hard = HardState{Commit: f.at().Index}
	}
	return &Installed{f.at(), f.file.body}
}

// installed begins to go on from a snapshot: its log file is durable.
func (q *Quorum) installed(s *Installed, members ConfState) {
	q.applied, q.applying = s.At, applying{} // what waited to be applied is behind it
	q.setMembers(members)
	q.progress.Installed = s
}

// saveJob saves a snapshot that came from another voter.
type saveJob struct {
	dir  env.DirID
	at   Position
	file []byte
}

// SnapshotSaved is the result of the job that saves a snapshot of another voter.
type SnapshotSaved struct {
	Err env.Errno
	At  Position
}

// Name implements env.Job.
func (*saveJob) Name() string { return "quorum-save-snapshot" }

// Run implements env.Job.
func (j *saveJob) Run(disk env.Disk) any {
	return SnapshotSaved{saveSnapshot(disk, j.dir, j.at.Index, j.file), j.at}
}
