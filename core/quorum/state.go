package quorum

import (
	pb "go.etcd.io/raft/v3/raftpb"
)

// EntryKind says what an entry holds.
type EntryKind uint8

const (
	EntryNormal       EntryKind = 0 // what was proposed; empty when raft made it itself
	EntryConfChange   EntryKind = 1
	EntryConfChangeV2 EntryKind = 2
)

// Entry is an entry of the log. Data is read only.
type Entry struct {
	Index, Term uint64
	Kind        EntryKind
	Data        []byte
}

// HardState is what a voter must never forget.
type HardState struct {
	Term, Vote, Commit uint64
}

// ConfState is the membership of the quorum as of some index.
type ConfState struct {
	Voters, Learners, VotersOutgoing, LearnersNext []uint64
	AutoLeave                                      bool
}

// Position is an entry's index and term.
type Position struct{ Index, Term uint64 }

func (e *Entry) proto() *pb.Entry {
	return &pb.Entry{
		Index: new(e.Index), Term: new(e.Term), Type: pb.EntryType(e.Kind).Enum(), Data: e.Data,
	}
}

func entryOf(e *pb.Entry) Entry {
	return Entry{e.GetIndex(), e.GetTerm(), EntryKind(e.GetType()), e.GetData()}
}

func (h *HardState) proto() *pb.HardState {
	return &pb.HardState{Term: new(h.Term), Vote: new(h.Vote), Commit: new(h.Commit)}
}

func (c *ConfState) proto() *pb.ConfState {
	return &pb.ConfState{
		Voters: c.Voters, Learners: c.Learners, VotersOutgoing: c.VotersOutgoing,
		LearnersNext: c.LearnersNext, AutoLeave: new(c.AutoLeave),
	}
}

func confStateOf(c *pb.ConfState) ConfState {
	return ConfState{
		c.GetVoters(), c.GetLearners(), c.GetVotersOutgoing(), c.GetLearnersNext(), c.GetAutoLeave(),
	}
}
