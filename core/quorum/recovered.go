package quorum

import "errors"

// Recovered is what RecoverJob found: plain data. The log goes on from it in a new file.
type Recovered struct {
	// Err says why the directory can not be used: a failure of the disk, after which trying again
	// later may help, or with Corrupt that something durable is not there any more. Then trying
	// again does not help, and nothing was changed.
	Err     error
	Corrupt bool

	Fresh    bool   // the directory held no log: a new voter
	Voter    uint64 // the raft id of the directory
	Hard     HardState
	Start    Position // of the snapshot; index 1 is the empty state that a new voter starts from
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
	if r.Corrupt && r.Err == nil { // a recording keeps no errors
		return errors.New("the raft log is corrupt")
	}
	return r.Err
}

// freshStart is the state that a new quorum of one starts from. Index 1 is taken by an empty
// snapshot that holds the membership, as the raft package advises: a later voter gets it with the
// snapshot and not by replaying a log that it was no part of.
func freshStart(voter uint64) Recovered {
	return Recovered{
		Fresh: true, Voter: voter, Hard: HardState{Term: 1, Commit: 1}, Start: Position{1, 1},
		Members: ConfState{Voters: []uint64{voter}},
	}
}
