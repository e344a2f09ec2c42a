package commitlog

import "stet/core/env"

// CheckpointJob writes the offset checkpoints at the root of a data directory, each by writing
// a temporary file, syncing it and renaming it. A nil slice leaves its file alone. Entries are
// sorted by topic and partition. The result is an error or nil.
type CheckpointJob struct {
	Dir            env.DirID
	RecoveryPoints []CheckpointEntry // recovery-point-offset-checkpoint
	LogStarts      []CheckpointEntry // log-start-offset-checkpoint
	HighWatermarks []CheckpointEntry // replication-offset-checkpoint
}

// Name names the job for traces.
func (*CheckpointJob) Name() string { return "write-checkpoints" }

// Run writes the files.
func (j *CheckpointJob) Run(disk env.Disk) any {
	root := env.Path{Dir: j.Dir}
	for _, file := range []struct {
		name    string
		entries []CheckpointEntry
	}{
		{RecoveryPointCheckpointName, j.RecoveryPoints},
		{LogStartCheckpointName, j.LogStarts},
		{HighWatermarkCheckpointName, j.HighWatermarks},
	} {
		if file.entries == nil {
			continue
		}
		content := AppendCheckpoint(nil, file.entries)
		if err := ReplaceFile(disk, child(root, file.name), content); err != nil {
			return err
		}
	}
	if err := SyncDirectory(disk, root); err != nil {
		return err
	}
	return nil
}
