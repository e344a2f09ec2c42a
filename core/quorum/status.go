package quorum

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"
)

// Role is what a voter is at the moment.
type Role uint8

const (
	Follower Role = iota
	PreCandidate
	Candidate
	Leader // elected; whether it may propose is Leading
)

// String returns the role as people write it.
func (r Role) String() string {
	return [...]string{"follower", "pre-candidate", "candidate", "leader"}[r]
}

// Status is for inspection: by operators, and by the judges of a simulation.
type Status struct {
	Voter       uint64
	Hard        HardState // as last written
	DurableHard HardState // as last known to be durable
	Leader      uint64    // as far as this voter knows; 0 for none
	Role        Role
	Leading     bool
	Members     ConfState      // as of Applied
	Peers       []PeerProgress // of a leader: all members, itself included, ascending by id
	Start       Position       // of the snapshot that the log follows
	Last        Position       // of the log
	Durable     Position       // the last entry known to be durable
	Applied     Position
	LogBytes    int64 // of the data of all entries in memory
	Generation  uint64
	FileBytes   int64 // of the log file
	SyncedBytes int64 // of the log file, known to be durable
}

// PeerProgress is what a leader knows of a member.
type PeerProgress struct {
	Voter        uint64
	Match        uint64 // the last entry that it is known to have, durably
	Learner      bool
	RecentActive bool // it was heard of since the last check of the quorum
	Snapshot     bool // it needs a snapshot
}

// Status returns the state at the moment.
func (q *Quorum) Status() Status {
	basic := q.node.BasicStatus()
	return Status{
		Voter: q.voter, Hard: q.storage.hard, DurableHard: q.writer.durableHard,
		Leader: basic.Lead, Role: roleOf(basic.RaftState), Leading: q.Leading(),
		Members: q.members, Peers: q.peers(&basic), Start: q.storage.start,
		Last: q.storage.last(), Durable: q.writer.durable, Applied: q.applied,
		LogBytes: q.storage.bytes, Generation: q.writer.generation,
		FileBytes: q.writer.end, SyncedBytes: q.writer.synced,
	}
}

func roleOf(s raft.StateType) Role {
	switch s {
	case raft.StatePreCandidate:
		return PreCandidate
	case raft.StateCandidate:
		return Candidate
	case raft.StateLeader:
		return Leader
	}
	return Follower
}

func (q *Quorum) peers(basic *raft.BasicStatus) []PeerProgress {
	if basic.RaftState != raft.StateLeader {
		return nil
	}
	var all []PeerProgress
	q.node.WithProgress(func(id uint64, kind raft.ProgressType, p tracker.Progress) {
		all = append(all, PeerProgress{
			Voter: id, Match: p.Match, Learner: kind == raft.ProgressTypeLearner,
			RecentActive: p.RecentActive || id == q.voter,
			Snapshot:     p.State == tracker.StateSnapshot,
		})
	})
	return all
}

// Term returns the current term.
func (q *Quorum) Term() uint64 { return q.storage.hard.Term }

// Leader returns the voter that leads as far as this one knows; 0 for none.
func (q *Quorum) Leader() uint64 { return q.node.BasicStatus().Lead }

// Silence returns the ticks since this voter heard a leader of its term or a later one, or led itself.
// It tells more than Leader does, who is remembered by a learner for ever.
func (q *Quorum) Silence() int {
	if q.Role() == Leader {
		return 0
	}
	return q.silence
}

// Role returns what this voter is.
func (q *Quorum) Role() Role { return roleOf(q.node.BasicStatus().RaftState) }

// Begun says whether the log that this life began with is durable: from then on a crash leaves the
// voter a member of what it was formed with.
func (q *Quorum) Begun() bool { return q.writer.whole > 0 }

// Members returns the membership as of the last applied entry.
func (q *Quorum) Members() ConfState { return q.members }

// FirstIndex returns the index of the first entry that Entries can return: older ones are in a
// snapshot.
func (q *Quorum) FirstIndex() uint64 { return q.storage.start.Index + 1 }

// Applied returns the position of the last entry that Advance returned.
func (q *Quorum) Applied() Position { return q.applied }

// Entries returns applied entries from an index on, which is at least FirstIndex: as many as
// maxBytes of data hold, but one if there is one.
func (q *Quorum) Entries(from uint64, maxBytes int64) []Entry {
	var out []Entry
	for i := from; i <= q.applied.Index; i++ {
		e := entryOf(q.storage.entries[i-q.storage.start.Index-1])
		if maxBytes -= int64(len(e.Data)); maxBytes < 0 && len(out) > 0 {
			break
		}
		out = append(out, e)
	}
	return out
}
