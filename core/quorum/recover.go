package quorum

import (
	"fmt"
	"slices"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// RecoverJob reads the raft directory, and makes it if it is missing; a data directory that has no id
// yet gets one. It repairs nothing and removes nothing that was ever in force, so it may be
// interrupted and repeated.
//
// What a crash may leave, and what is made of it:
//
//   - Two logs: a crash between the start of a new file and the removal of the old one. The newer
//     is in force if its base is whole, else it never was and the older one is.
//   - A tail of frames that were not synced, of which power loss keeps any part. The log is cut at
//     the first frame that is not valid, unless there is proof that this frame was durable once: a
//     later valid frame that was written when the file was already durable beyond the bad one.
//     Then the file is corrupt, and a shorter log would break promises. (That a later frame
//     commits what is missing proves nothing: others may have committed it.)
//   - A snapshot newer than the log's start: a crash between the snapshot and the log that follows
//     it. The log covers it, and it spares the replay.
//
// So damage to what was acknowledged is found whenever anything was written after the sync that
// acknowledged it; the log writes a hard state, which moves the commit index, after each such sync.
// A bit flip in the last acknowledged entry together with the loss of that write is the one case
// that looks like a torn tail.
//
// What it reads may live in the page cache only: after a process kill, or after a failed sync,
// which leaves pages that look clean and are not on the disk. Therefore nothing found here counts
// as durable until it has been written to a new file and synced there.
type RecoverJob struct {
	Config       *Config
	NodeID       kafka.BrokerID // of this process
	NewDirectory [16]byte       // the id of the directory if it has none yet
}

// Name implements env.Job.
func (*RecoverJob) Name() string { return "quorum-recover" }

// Run implements env.Job. The result is a *Recovered.
func (j *RecoverJob) Run(disk env.Disk) any {
	r := &recovery{job: j, disk: disk, dir: j.Config.Dir}
	if r.identify() && r.prepare() {
		r.choose()
		r.own()
	}
	return &r.found
}

// recovery is the state of one RecoverJob.
type recovery struct {
	job       *RecoverJob
	disk      env.Disk
	dir       env.DirID
	meta      commitlog.MetaProperties
	directory [16]byte // zero if it has none yet
	files     listing
	found     Recovered
}

func (r *recovery) failed(err env.Errno) bool {
	if err == env.OK {
		return false
	}
	r.found = Recovered{Err: fmt.Errorf("recover the raft log: %w", err)}
	return true
}

func (r *recovery) corrupt(format string, args ...any) {
	r.refuse("the raft log is corrupt: "+format, args...)
}

func (r *recovery) refuse(format string, args ...any) {
	r.found = Recovered{Refused: true, Err: fmt.Errorf(format, args...)}
}

// prepare makes the directories and lists the files.
func (r *recovery) prepare() bool {
	for _, made := range []struct{ name, parent string }{{"stet", ""}, {Directory, "stet"}} {
		err := r.disk.Mkdir(env.Path{Dir: r.dir, Name: made.name})
		if err != env.EEXIST && r.failed(err) {
			return false
		}
		// Also when it exists: it may have been made just before a crash.
		if r.failed(r.disk.SyncDir(env.Path{Dir: r.dir, Name: made.parent})) {
			return false
		}
	}
	var err env.Errno
	if r.files, err = list(r.disk, r.dir); r.failed(err) {
		return false
	}
	// Names that were made just before a crash must not vanish later, when newer ones stand.
	return !r.failed(r.disk.SyncDir(env.Path{Dir: r.dir, Name: Directory}))
}

// choose finds the log in force and reads it.
func (r *recovery) choose() {
	for i, generation := range slices.Backward(r.files.logs) {
		log, err := r.readLog(generation)
		if r.failed(err) {
			return
		}
		switch {
		case log.foreign:
			r.refuse("%s: %s", logName(generation), log.problem)
			return
		case log.problem != "":
			r.corrupt("%s: %s", logName(generation), log.problem)
			return
		case log.whole:
			r.use(log)
			return
		case i == 0 && generation > 1:
			// An older log is removed only when the newer one is durable.
			r.corrupt("%s: its beginning is damaged, and there is no older log", logName(generation))
			return
		}
	}
	if len(r.files.snapshots) > 0 {
		r.corrupt("%s: there is a snapshot, but no log", snapshotName(r.files.snapshots[0]))
		return
	}
	r.startFresh()
}

// startFresh begins a new life. What there is was begun and never durable. It goes away first, the
// newest file first, so that no crash leaves one that seems to have outlived an older one.
func (r *recovery) startFresh() {
	for _, generation := range slices.Backward(r.files.logs) {
		if r.failed(r.disk.Remove(env.Path{Dir: r.dir, Name: logName(generation)})) ||
			r.failed(r.disk.SyncDir(env.Path{Dir: r.dir, Name: Directory})) {
			return
		}
	}
	r.files.logs = nil
	r.found = Recovered{Fresh: true}
	r.leave(0)
}

// use makes the result of the log in force and the newest snapshot that fits it.
func (r *recovery) use(l *logFile) {
	r.found = Recovered{
		Voter: l.header.voter, Hard: l.hard, Start: l.header.start, Members: l.header.members,
		Entries: l.entries, TornBytes: l.torn,
	}
	if !r.loadSnapshot() {
		return
	}
	f := &r.found
	last := f.Last()
	if f.Hard.Commit > last.Index {
		r.corrupt("%s: entry %d is committed, and the log ends at %d",
			logName(l.header.generation), f.Hard.Commit, last.Index)
		return
	}
	// Entries may have reached the disk without the hard state behind them. In such a term nothing
	// was promised: a vote is durable before the entries of its term are written.
	if f.Hard.Term < last.Term {
		f.Hard.Term, f.Hard.Vote = last.Term, 0
	}
	f.Hard.Commit = max(f.Hard.Commit, f.Start.Index, f.settled())
	// A file of a voter that was never addressed says nothing.
	f.Fresh = f.Start.Index == 0 && len(f.Entries) == 0 && f.Hard == HardState{}
	invariant.Sometimes(l.torn > 0, invariant.MarkRaftTornTail)
	r.leave(f.Start.Index)
}

// settled returns an index that is known to be committed from the entries alone: a change of the
// membership is proposed only when the one before it was applied. The hard state that said so may be
// lost where the entries are not, and who does not know that a change is in force may count on the
// votes of those that it removed.
func (r *Recovered) settled() (index uint64) {
	last := uint64(0)
	for i := range r.Entries {
		if r.Entries[i].Kind != EntryNormal {
			index, last = last, r.Entries[i].Index
		}
	}
	return index
}

// leave lists what is left over: every log, and every snapshot but the one in use.
func (r *recovery) leave(snapshot uint64) {
	f := &r.found
	for _, generation := range r.files.logs {
		f.LastGeneration = generation
		f.Obsolete = append(f.Obsolete, logName(generation))
	}
	for _, index := range r.files.snapshots {
		if index != snapshot {
			f.Obsolete = append(f.Obsolete, snapshotName(index))
		}
	}
	if r.files.tmp {
		f.Obsolete = append(f.Obsolete, snapshotTmp)
	}
}

// loadSnapshot reads the newest snapshot from the log's start on that is intact, and drops the
// entries that it covers.
func (r *recovery) loadSnapshot() bool {
	f := &r.found
	for _, index := range slices.Backward(r.files.snapshots) {
		if index < f.Start.Index {
			break
		}
		file, err := readFile(r.disk, env.Path{Dir: r.dir, Name: snapshotName(index)})
		if r.failed(err) {
			return false
		}
		s, ok := parseSnapshot(file)
		if ok && s.at.Index == index && f.follows(s.at) {
			f.Start, f.Members, f.Snapshot = s.at, s.members, s.body
			f.Entries = slices.DeleteFunc(f.Entries, func(e Entry) bool { return e.Index <= index })
			return true
		}
	}
	if f.Start.Index > 1 {
		r.corrupt("%s is missing or damaged", snapshotName(f.Start.Index))
		return false
	}
	return true
}

// follows says whether the log can go on from a snapshot at this position.
func (r *Recovered) follows(at Position) bool {
	if at.Index == r.Start.Index {
		return at.Term == r.Start.Term
	}
	i := at.Index - r.Start.Index - 1
	return i < uint64(len(r.Entries)) && r.Entries[i].Term == at.Term
}

// readFile reads a whole file.
func readFile(disk env.Disk, path env.Path) ([]byte, env.Errno) {
	f, err := disk.Open(path, env.OpenRead)
	if err != env.OK {
		return nil, err
	}
	b, err := readAll(f)
	f.Close()
	return b, err
}

func readAll(f env.File) ([]byte, env.Errno) {
	size, err := f.Size()
	if err != env.OK {
		return nil, err
	}
	b := make([]byte, size)
	for n := 0; n < len(b); {
		got, err := f.ReadAt(b[n:], int64(n))
		if err != env.OK {
			return nil, err
		}
		if got == 0 {
			return b[:n], env.OK
		}
		n += got
	}
	return b, env.OK
}
