package commitlog

import (
	"fmt"
	"slices"

	"stet/core/env"
	"stet/core/kafka"
)

// ResetJob gives a replica's log up for an empty one that begins at Start: the leader does not hold
// anymore what would have to follow (kafka-map rule 5). The result is a *Recovered. It may be run
// again after a crash at any point, which leaves the old log, a prefix of it, or an empty one.
type ResetJob struct {
	Path    env.Path // directory of the replica
	TopicID kafka.TopicID
	Config  *Config
	WallMs  int64
	Start   kafka.Offset
}

// Name names the job for traces.
func (*ResetJob) Name() string { return "reset-log" }

// Run removes what the directory holds and recovers the rest, which is nothing.
func (j *ResetJob) Run(disk env.Disk) any {
	entries, errno := disk.List(j.Path)
	err := failed("list", j.Path, errno)
	if err == nil {
		err = j.removeAll(disk, takeInventory(entries))
	}
	if err != nil {
		return &Recovered{Err: fmt.Errorf("reset %s: %w", j.Path.Name, err)}
	}
	return (&RecoverJob{
		Path: j.Path, TopicID: j.TopicID, Config: j.Config, WallMs: j.WallMs,
		LogStart: j.Start, TruncateTo: kafka.NoOffset,
	}).Run(disk)
}

// removeAll removes the snapshots first, for the reason that recovery does (deleteFiles), then the
// segments from the last to the first and the epochs, which would be those of another log.
func (j *ResetJob) removeAll(disk env.Disk, found inventory) error {
	r := &recovery{job: &RecoverJob{Path: j.Path}, disk: disk}
	if err := r.deleteDurably(namesAbove(found.snapshots, -1, snapshotSuffix)); err != nil {
		return err
	}
	names := namesAbove(found.sidecars, -1, sequencesSuffix)
	for _, s := range slices.Backward(found.segments) {
		for _, suffix := range []string{logSuffix, indexSuffix, timeIndexSuffix, txnIndexSuffix} {
			names = append(names, FileName(s.base, suffix))
		}
	}
	return r.deleteDurably(append(names, epochCheckpointName))
}
