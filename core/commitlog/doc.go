// Package commitlog is a replica's log: segments with offset and time index, the four ends less
// one (the high watermark lives in core/partition), the leader-epoch cache, producer state, and
// recovery, in Kafka's on-disk format.
//
// A Log is a deterministic state machine. Calls change its state and append effects (env.FileOp,
// env.JobStart) to an env.Effects; the completions come back through OnFileDone and OnJobDone. It
// never reads record bytes: it sees record.Facts and hands env.BufRefs on.
//
// Long work is a Job with a straight-line Run: CreateJob makes a replica's directory, RecoverJob
// reads it and repairs it, sealJob makes a rolled segment's companions durable, LocateJob and
// FindByTimeJob look things up in files, DeleteJob removes a replica, CheckpointJob writes the
// offset checkpoints of a data directory.
//
// # Life of a log
//
//	CreateJob, RecoverJob        run by the owner; the result is a *Recovered
//	Open(...)                    emits FileOpen for each segment; Ready once all have completed
//	Append, Find, Locate ...     while Ready and not Fenced
//	a failed effect              Fenced; every batch in [Written, Assigned) has failed
//	Abandon                      once Quiescent: forgets the files; then RecoverJob, Open again
//	Close                        a clean close instead; Closed once complete
//
// # Order on disk
//
// Within a file the file's queue keeps the order of effects. Between files a Log waits for a
// completion. Across a roll: the old segment's sync, then the sync of the directory that holds
// the new file; only then can a sync of the new file move Synced. A recovery point moves over a
// segment only when its log, both indexes, the producer snapshot and the epoch checkpoint are
// durable.
//
// # Files of one replica
//
//	<base>.log .index .timeindex  Kafka's segment and indexes; <base> has 20 digits
//	<offset>.snapshot             Kafka's producer snapshot: what precedes offset
//	<offset>.sequences            the five-batch windows that do not fit into it
//	leader-epoch-checkpoint       Kafka's
//	partition.metadata            Kafka's
package commitlog
