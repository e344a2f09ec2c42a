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

// Name names the job for traces.
func (*CreateJob) Name() string { return "create-log" }

// Run makes the directory.
func (j *CreateJob) Run(disk env.Disk) any {
	if err := j.create(disk); err != nil {
		return err
	}
	return nil
}

// create writes the topic id before there is a segment, so that no log is without one.
func (j *CreateJob) create(disk env.Disk) error {
	if errno := disk.Mkdir(j.Path); errno != env.OK && errno != env.EEXIST {
		return failed("create directory", j.Path, errno)
	}
	if err := SyncDirectory(disk, j.Path.Parent()); err != nil {
		return err
	}
	metadata := AppendPartitionMetadata(nil, j.TopicID)
	if err := ReplaceFile(disk, child(j.Path, PartitionMetadataName), metadata); err != nil {
		return err
	}
	epochs := AppendEpochCheckpoint(nil, nil)
	if err := ReplaceFile(disk, child(j.Path, epochCheckpointName), epochs); err != nil {
		return err
	}
	if err := createSegment(disk, j.Path, j.Start); err != nil {
		return err
	}
	return SyncDirectory(disk, j.Path)
}

// createSegment makes the empty files of a segment; they may exist.
func createSegment(disk env.Disk, dir env.Path, base kafka.Offset) error {
	for _, suffix := range []string{logSuffix, indexSuffix, timeIndexSuffix} {
		name := child(dir, FileName(base, suffix))
		f, errno := disk.Open(name, env.OpenOrNew)
		if errno == env.OK {
			errno = f.Close()
		}
		if errno != env.OK {
			return failed("create", name, errno)
		}
	}
	return nil
}
