package quorum

import "errors"

// Recovered is what RecoverJob found: plain data. The log goes on from it in a new file.
type Recovered struct {
	// Err says why the directory can not be used: a failure of the disk, after which trying again
	// later may help, or if Refused that something durable is not there any more, or that the
	// directory is of another node, or its log of another directory or version. Then trying again
	// does not help, and nothing was changed.
	Err     error
	Refused bool

	DirectoryID [16]byte
	ClusterID   string // that the directory is marked with; empty for none
	Voter       uint64 // VoterOf(DirectoryID)

	// Fresh says that the directory holds nothing yet. Then Members is empty: Form makes it one of
	// the founders of a quorum, without it the voter waits to be added to one.
	Fresh    bool
	Hard     HardState
	Start    Position // of the snapshot; index 1 is the empty state that founders start from
	Members  ConfState
	Snapshot []byte // as the application made it; nil for the empty state
	Entries  []Entry

	LastGeneration uint64   // the highest that a file has, damaged ones included
	Obsolete       []string // files that are not needed once a newer log is durable
	TornBytes      int64    // cut off the end of the log
}

// Last returns the position of the last entry.
func (r *Recovered) Last() Position {
	if len(r.Entries) == 0 {
		return r.Start
	}
	e := &r.Entries[len(r.Entries)-1]
	return Position{e.Index, e.Term}
}

// Failure returns why the result can not be used, or nil.
func (r *Recovered) Failure() error {
	if r.Refused && r.Err == nil { // a recording keeps no errors
		return errors.New("the raft directory can not be used")
	}
	return r.Err
}
