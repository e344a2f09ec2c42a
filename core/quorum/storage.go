package quorum

import (
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/invariant"
)

// storage is the log since the last snapshot, in memory, as raft reads it. Whether an entry is
// durable is the writer's business: raft reads entries here only after it was told that they are.
type storage struct {
	hard    HardState // as last written
	members ConfState // as of start
	start   Position  // of the snapshot: the entry before entries[0]
	entries []*pb.Entry
	bytes   int64 // of the data of entries

	strangers bool // there are members that the snapshot does not know
	wanted    bool // one of them needs a snapshot
}

var _ raft.Storage = (*storage)(nil)

func newStorage(r *Recovered) *storage {
	s := &storage{hard: r.Hard, members: r.Members, start: r.Start}
	for i := range r.Entries {
		s.entries = append(s.entries, r.Entries[i].proto())
		s.bytes += int64(len(r.Entries[i].Data))
	}
	return s
}

func (s *storage) last() Position {
	if len(s.entries) == 0 {
		return s.start
	}
	e := s.entries[len(s.entries)-1]
	return Position{e.GetIndex(), e.GetTerm()}
}

// append adds entries, which replace what the log has from the first one's index on.
func (s *storage) append(entries []*pb.Entry) {
	first := entries[0].GetIndex()
	invariant.Always(first > s.start.Index, "an entry below the snapshot was appended")
	invariant.Always(first <= s.last().Index+1, "appended entries leave a gap in the log")
	keep := first - s.start.Index - 1
	for _, e := range s.entries[keep:] {
		s.bytes -= int64(len(e.GetData()))
	}
	if keep == uint64(len(s.entries)) {
		s.entries = append(s.entries, entries...)
	} else {
		// Slices of the old entries may still be in use.
		s.entries = append(s.entries[:keep:keep], entries...)
	}
	for _, e := range entries {
		s.bytes += int64(len(e.GetData()))
	}
}

// compact drops the entries up to index, which a snapshot with these members covers.
func (s *storage) compact(at Position, members ConfState) {
	invariant.Always(at.Index > s.start.Index && at.Index <= s.last().Index,
		"the log is compacted to an entry that it does not have")
	n := at.Index - s.start.Index
	invariant.Always(s.entries[n-1].GetTerm() == at.Term, "a snapshot has another term than its entry")
	for _, e := range s.entries[:n] {
		s.bytes -= int64(len(e.GetData()))
	}
	s.entries = append([]*pb.Entry(nil), s.entries[n:]...)
	s.start, s.members = at, members
}

// reset makes the log start with a snapshot, with nothing behind it.
func (s *storage) reset(at Position, members ConfState) {
	invariant.Always(at.Index > s.start.Index, "a snapshot is installed that is older than the log's")
	s.entries, s.bytes = nil, 0
	s.start, s.members, s.wanted = at, members, false
}

// InitialState implements raft.Storage.
func (s *storage) InitialState() (*pb.HardState, *pb.ConfState, error) {
	return s.hard.proto(), s.members.proto(), nil
}

// Entries implements raft.Storage.
func (s *storage) Entries(lo, hi, maxSize uint64) ([]*pb.Entry, error) {
	if lo <= s.start.Index {
		return nil, raft.ErrCompacted
	}
	invariant.Always(hi <= s.last().Index+1, "raft reads past the end of its log")
	if len(s.entries) == 0 {
		return nil, raft.ErrUnavailable
	}
	entries := s.entries[lo-s.start.Index-1 : hi-s.start.Index-1]
	var size uint64
	for i, e := range entries {
		size += uint64(len(e.GetData())) + frameFixed
		if i > 0 && size > maxSize {
			entries = entries[:i]
			break
		}
	}
	return entries[:len(entries):len(entries)], nil
}

// Term implements raft.Storage.
func (s *storage) Term(i uint64) (uint64, error) {
	switch {
	case i < s.start.Index:
		return 0, raft.ErrCompacted
	case i == s.start.Index:
		return s.start.Term, nil
	case i > s.last().Index:
		return 0, raft.ErrUnavailable
	}
	return s.entries[i-s.start.Index-1].GetTerm(), nil
}

// LastIndex implements raft.Storage.
func (s *storage) LastIndex() (uint64, error) { return s.last().Index, nil }

// FirstIndex implements raft.Storage.
func (s *storage) FirstIndex() (uint64, error) { return s.start.Index + 1, nil }

// Snapshot implements raft.Storage. The message that raft makes of it is a handle: its body stays
// in the file, and a job moves it. A member that came later would refuse it as none of its own, so
// for it a newer one has to be made first.
func (s *storage) Snapshot() (*pb.Snapshot, error) {
	if s.strangers {
		s.wanted = true
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	return &pb.Snapshot{Metadata: &pb.SnapshotMetadata{
		ConfState: s.members.proto(), Index: new(s.start.Index), Term: new(s.start.Term),
	}}, nil
}
