package quorum

import "errors"

// Recovered is what RecoverJob found. Hand it to New, once.
type Recovered struct {
	// Err says why the directory can not be used: an I/O failure, or corruption.
	Err error
	// Corrupt: something that was durable is not there any more. Nothing was changed.
	Corrupt bool

	Voter    uint64    // the raft id of this directory
	Hard     HardState // as last written
	Members  ConfState // as of Start
	Start    Position  // of the snapshot; zero without one
	Snapshot []byte    // its body
	Entries  []Entry   // behind Start

	LastGeneration uint64   // the largest that a log file has; the next one begins a new file
	Obsolete       []string // files to remove once the new log file is durable
	TornBytes      int64    // behind the last valid frame of the log in force
}

// Failure returns why the result can not be used, or nil.
func (r *Recovered) Failure() error {
	if r.Corrupt && r.Err == nil {
		return errors.New("raft log: corrupt")
	}
	return r.Err
}

// Last returns the position of the last entry.
func (r *Recovered) Last() Position {
	if n := len(r.Entries); n > 0 {
		return Position{r.Entries[n-1].Index, r.Entries[n-1].Term}
	}
	return r.Start
}
