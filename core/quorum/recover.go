package quorum

import (
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
)

// RecoverJob reads the raft directory and decides what of it stands. It changes nothing but for
// making the directory, so it may be run again after a crash at any point. The result is a
// *Recovered.
//
// The newest log file whose base is whole is in force; an older one is there only because its
// removal was interrupted. Behind the base, frames stand up to the first that is not valid. That
// one is a torn tail unless something behind it says that the place had been durable: then it is
// corruption, and a voter that forgets what it has answered for must not vote. Damage to the very
// last durable frames can not be told from a torn tail; with one voter that is the limit of what
// one file can know.
type RecoverJob struct {
	Config *Config
	Voter  uint64 // the raft id of the directory if it is new; not 0
}

// recovery is a run of a RecoverJob.
type recovery struct {
	disk env.Disk
	dir  env.DirID
}

// Name names the job for traces.
func (*RecoverJob) Name() string { return "recover-raft" }

// Run reads the directory.
func (j *RecoverJob) Run(disk env.Disk) any {
	invariant.Always(j.Voter != 0, "a raft id is not zero")
	r := &recovery{disk, j.Config.Dir}
	found, err := list(disk, r.dir)
	if err == env.ENOENT {
		found, err = listing{}, r.makeDirectory()
	}
	if err != env.OK {
		return failed("list the directory", err)
	}
	result := r.read(found)
	if result == nil { // nothing was ever in force
		result = &Recovered{Voter: j.Voter, Members: ConfState{Voters: []uint64{j.Voter}}}
		result.note(found)
	}
	return result
}

func failed(what string, err env.Errno) *Recovered {
	return &Recovered{Err: fmt.Errorf("raft log: %s: %w", what, err)}
}

// corrupt says that the directory has lost what it once had.
func corrupt(format string, args ...any) *Recovered {
	return &Recovered{Corrupt: true, Err: fmt.Errorf("raft log: "+format, args...)}
}

// makeDirectory makes the raft directory and the one it lies in, durably.
func (r *recovery) makeDirectory() env.Errno {
	for _, name := range []string{"stet", Directory} {
		p := env.Path{Dir: r.dir, Name: name}
		if err := r.disk.Mkdir(p); err != env.OK && err != env.EEXIST {
			return err
		}
		if err := r.disk.SyncDir(p.Parent()); err != env.OK {
			return err
		}
	}
	return env.OK
}

// read finds the log file in force and what it holds, or nil if there never was one.
func (r *recovery) read(found listing) *Recovered {
	for i := len(found.logs) - 1; i >= 0; i-- {
		l, err := r.readLog(found.logs[i])
		switch {
		case err != env.OK:
			return failed("read "+logName(found.logs[i]), err)
		case l.problem != "":
			return corrupt("%s: %s", logName(found.logs[i]), l.problem)
		case l.whole:
			return r.inForce(found, l)
		}
	}
	if len(found.logs) > 1 || len(found.snapshots) > 0 {
		return corrupt("no log file of generations %v is whole", found.logs)
	}
	return nil
}

// inForce makes a result of the log file in force and the snapshot that it follows.
func (r *recovery) inForce(found listing, l *logFile) *Recovered {
	result := &Recovered{
		Voter: l.header.voter, Hard: l.hard, Members: l.header.members, Start: l.header.start,
		Entries: l.entries, TornBytes: l.torn,
	}
	if last := result.Last(); result.Hard.Commit > last.Index {
		return corrupt("entries up to %d were committed, the log ends at %d",
			result.Hard.Commit, last.Index)
	}
	if result.Start.Index > 0 {
		body, err := r.readSnapshot(result.Start)
		if err != nil {
			return &Recovered{Corrupt: true, Err: err}
		}
		result.Snapshot = body
	}
	result.note(found)
	return result
}

// note lists what a new log file will make superfluous.
func (r *Recovered) note(found listing) {
	for _, generation := range found.logs {
		r.LastGeneration = max(r.LastGeneration, generation)
		r.Obsolete = append(r.Obsolete, logName(generation))
	}
	for _, index := range found.snapshots {
		if index != r.Start.Index {
			r.Obsolete = append(r.Obsolete, snapshotName(index))
		}
	}
	if found.tmp {
		r.Obsolete = append(r.Obsolete, snapshotTmp)
	}
}
