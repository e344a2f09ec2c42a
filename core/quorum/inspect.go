package quorum

import (
	"errors"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// LogFile is what one log file says, for people.
type LogFile struct {
	Generation, Voter uint64
	Start             Position // of the snapshot that the log follows
	Members           ConfState
	Hard              HardState
	Entries           []Entry // data are views of the file
	InForce           bool    // the file's base is whole; else the one before is in force
	TornBytes         int64   // behind the last whole frame
}

// IsSnapshotName says whether a file of this base name is a snapshot; others are logs.
func IsSnapshotName(name string) bool {
	_, ok := number(name, snapshotPrefix)
	return ok
}

// InspectLog reads a log file, given by its base name and content, as a recovery would. The error
// says why one would not use it.
func InspectLog(name string, file []byte) (LogFile, error) {
	generation, ok := number(name, logPrefix)
	if !ok {
		return LogFile{}, errors.New("the name is not log- and 20 digits")
	}
	l := parseLog(file, generation, 0)
	found := LogFile{
		Generation: generation, Voter: l.header.voter, Start: l.header.start,
		Members: l.header.members, Hard: l.hard, Entries: l.entries,
		InForce: l.whole, TornBytes: l.torn,
	}
	switch {
	case l.problem != "":
		return found, errors.New(l.problem)
	case l.header.voter == 0:
		return found, errors.New("no whole header: it is damaged, or was never in force")
	}
	return found, nil
}

// InspectSnapshot reads a snapshot file, given likewise. The body is the application's, and a view
// of the file.
func InspectSnapshot(name string, file []byte) (
	at Position, members ConfState, body []byte, err error,
) {
	index, _ := number(name, snapshotPrefix)
	s, ok := parseSnapshot(file)
	if !ok || s.at.Index != index {
		return at, members, nil, errors.New("not a whole snapshot of the index in its name")
	}
	return s.at, s.members, s.body, nil
}

// DescribeChange returns what an entry does to the membership, for people: "l4" for a new learner,
// "v4" for one that becomes a voter, "r3" for one that is removed. Without any it ends a joint one.
func DescribeChange(e *Entry) (string, error) {
	switch e.Kind {
	case EntryConfChange:
		c := &pb.ConfChange{}
		err := proto.Unmarshal(e.Data, c)
		return pb.ConfChangesToString(c.AsV2().Changes), err
	case EntryConfChangeV2:
		c := &pb.ConfChangeV2{}
		err := proto.Unmarshal(e.Data, c)
		return pb.ConfChangesToString(c.Changes), err
	}
	return "", errors.New("not a change of the membership")
}
