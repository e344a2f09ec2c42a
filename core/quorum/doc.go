// Package quorum drives etcd's raft from a deterministic loop: a RawNode with asynchronous storage
// writes, whose storage is a log of its own.
//
// Nothing here blocks. Propose, Receive, Tick, Handle and Advance are called from turns; writes, syncs
// and jobs leave as effects, messages to other voters in Progress.
//
// What raft wants to say only after something is durable travels with that write, and is said when
// the sync that covers it has been reported: persist before you answer is structure here, not
// discipline (see the raft package, "Asynchronous Storage Writes"). Four things wait that raft would
// let go earlier: everything, until what recovery has read is in a new file and synced; a candidate's
// request for votes; entries, while a change of the membership is not applied (both in advance.go);
// and that change itself, until the hard state that commits it is durable (apply.go).
//
// # Files
//
// The log since the last snapshot is kept in memory (storage.go) and in one file of frames
// (format.go, writer.go, store.go). A file is never repaired in place: recovery (recover.go,
// readlog.go) reads the old one and the log goes on in a new one, which starts with all that is still
// needed. An entry that replaces the tail of the log is simply written: readers cut what it replaces.
// Snapshots are files of their own, written by a job (snapshot.go, jobs.go), after which the log
// moves to a new file.
//
// The raft id follows from the id of the data directory (directory.go, VoterOf), so that whoever has
// lost what it promised is somebody else.
//
// # Snapshots between voters
//
// Raft's message with a snapshot is a handle. The body is fetched in pieces (fetch.go, serve.go) and
// saved before raft hears of it; raft then makes the log start with it, in a new file, and only when
// that is durable does the application get to see it.
//
// # Members
//
// Learners, promotion and removal are changes of the membership that raft makes, by joint consensus
// where two change at once (members.go). Recovery finds the membership in the header of the log, as
// of its start, and the changes since among the entries.
//
// The package knows nothing of what the entries mean.
package quorum
