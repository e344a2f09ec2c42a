package quorum

import (
	"fmt"

	"stet/core/env"
)

// Recovered is what RecoverJob found: plain data. The log goes on from it in a new file.
type Recovered struct {
	// Err is a failure of the disk: try again later. Corrupt, if not empty, says which file is
	// damaged and how: trying again does not help, and nothing was changed.
	Err     env.Errno
	Corrupt string

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

// Failure makes a failed recovery a Go error; nil if it succeeded.
func (r *Recovered) Failure() error {
	if r.Corrupt != "" {
		return fmt.Errorf("the raft log is corrupt: %s", r.Corrupt)
	}
	if r.Err != env.OK {
		return fmt.Errorf("recover the raft log: %w", r.Err)
	}
	return nil
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
