// Package quorum drives etcd's raft from a deterministic loop: a RawNode with asynchronous storage
// writes, whose storage is a log of its own.
//
// Nothing here blocks. Propose, Handle and Advance are called from turns; writes and syncs leave as
// effects, and what raft wants to say only after something is durable travels with that write and
// is stepped when the sync that covers it has been reported: persist before you answer is structure
// here, not discipline (see the raft package, "Asynchronous Storage Writes").
//
// The log since the last snapshot is kept in memory (storage.go) and in one file of frames
// (format.go, writer.go). A file is never repaired in place: recovery (recover.go) reads the old
// one and the log goes on in a new one, which starts with all that is still needed. Snapshots are
// files of their own, written by a job (snapshot.go), after which the log moves to a new file.
//
// The package knows nothing of what the entries mean.
package quorum
