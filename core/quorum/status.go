package quorum

// Status is for inspection: by operators, and by the judges of a simulation.
type Status struct {
	Voter       uint64
	Hard        HardState // as last written, not necessarily durable
	Leading     bool
	Start       Position // of the snapshot that the log follows
	Last        Position // of the log
	Durable     Position // the last entry known to be durable
	Applied     Position
	LogBytes    int64 // of the data of all entries in memory
	Generation  uint64
	FileBytes   int64 // of the log file
	SyncedBytes int64 // of the log file, known to be durable
}

// Status returns the state at the moment.
func (q *Quorum) Status() Status {
	return Status{
		Voter: q.voter, Hard: q.storage.hard, Leading: q.Leading(), Start: q.storage.start,
		Last: q.storage.last(), Durable: q.writer.durable, Applied: q.applied,
		LogBytes: q.storage.bytes, Generation: q.writer.generation,
		FileBytes: q.writer.end, SyncedBytes: q.writer.synced,
	}
}

// Term returns the current term.
func (q *Quorum) Term() uint64 { return q.storage.hard.Term }

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
