package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
)

// CreateJob makes the directory of a new replica, with its first segment, durably. It may be run
// again after a crash at any point. The result is an error or nil.
type CreateJob struct {
	Path    env.Path // directory of the replica: topic-partition
	TopicID kafka.TopicID
	Start   kafka.Offset // base offset of the first segment
}

// RecoverJob reads the directory of a replica and makes it fit to be opened. The result is a
// *Recovered. It may be run again after a crash at any point.
type RecoverJob struct {
	Path    env.Path      // directory of the replica
	TopicID kafka.TopicID // must equal the directory's; zero accepts any
	Config  *Config
	WallMs  int64 // producers idle for longer than ProducerExpirationMs are left out
	// Clean: the node's clean-start marker holds for this directory, so nothing is scanned.
	Clean bool
	// RecoveryPoint and LogStart are the replica's entries in the checkpoints, 0 without one.
	RecoveryPoint kafka.Offset
	LogStart      kafka.Offset
	// TruncateTo cuts the log to end at the batch boundary at or below this offset; set it to
	// kafka.NoOffset for a plain recovery.
	TruncateTo kafka.Offset
}

// Recovered is what RecoverJob found. Hand it to Open, once.
type Recovered struct {
	// Missing: there is no such directory.
	Missing bool
	// Corrupt: structure below the recovery point is broken. Nothing was changed. The replica
	// must not serve what the directory holds.
	Corrupt bool
	// WrongTopic: the directory belongs to another topic id.
	WrongTopic bool
	Err        error // why, for Corrupt and WrongTopic; otherwise an I/O failure

	Scanned   int64 // bytes verified
	Cut       int64 // bytes cut from the end, deleted segments included
	LogStart  kafka.Offset
	End       kafka.Offset // all below is written and synced
	TopicID   kafka.TopicID
	Snapshot  kafka.Offset // offset of the producer snapshot that was used, or kafka.NoOffset
	Snapshots int          // unusable snapshots that were passed over
}

// Usable says whether the result can be opened.
func (r *Recovered) Usable() bool {
	return !r.Missing && !r.Corrupt && !r.WrongTopic && r.Err == nil
}

// DeleteJob removes a replica's directory: it renames it first, so that a crash leaves either the
// replica or a directory that RemoveDeletedJob recognises. The result is an error or nil.
type DeleteJob struct {
	Path env.Path
	UUID [16]byte // of the deletion; any fresh random value
}

// RemoveDeletedJob finishes a DeleteJob that was interrupted. IsDeletedName holds for the name of the
// directory. The result is an error or nil.
type RemoveDeletedJob struct {
	Path env.Path
}

// IsDeletedName says whether a directory's name is one that DeleteJob gives.
func IsDeletedName(name string) bool { panic("not yet") }

// CheckpointJob writes the offset checkpoints at the root of a data directory, each by writing
// a temporary file, syncing it and renaming it. A nil slice leaves its file alone. Entries are
// sorted by topic and partition. The result is an error or nil.
type CheckpointJob struct {
	Dir            env.DirID
	RecoveryPoints []CheckpointEntry // recovery-point-offset-checkpoint
	LogStarts      []CheckpointEntry // log-start-offset-checkpoint
	HighWatermarks []CheckpointEntry // replication-offset-checkpoint
}

// CheckpointEntry is a line of an offset checkpoint.
type CheckpointEntry struct {
	Partition kafka.TopicPartition
	Offset    kafka.Offset
}

// Name names the job for traces.
func (*CreateJob) Name() string { return "create-log" }

// Name names the job for traces.
func (*RecoverJob) Name() string { return "recover-log" }

// Name names the job for traces.
func (*DeleteJob) Name() string { return "delete-log" }

// Name names the job for traces.
func (*RemoveDeletedJob) Name() string { return "remove-deleted-log" }

// Name names the job for traces.
func (*CheckpointJob) Name() string { return "write-checkpoints" }

// Run makes the directory.
func (j *CreateJob) Run(disk env.Disk) any { panic("not yet") }

// Run recovers the directory.
func (j *RecoverJob) Run(disk env.Disk) any { panic("not yet") }

// Run removes the directory.
func (j *DeleteJob) Run(disk env.Disk) any { panic("not yet") }

// Run removes the directory.
func (j *RemoveDeletedJob) Run(disk env.Disk) any { panic("not yet") }

// Run writes the files.
func (j *CheckpointJob) Run(disk env.Disk) any { panic("not yet") }
