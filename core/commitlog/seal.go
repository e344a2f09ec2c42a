package commitlog

import (
	"sort"

	"stet/core/env"
	"stet/core/kafka"
)

// sealJob makes durable what belongs to a segment that is synced: the producer snapshot at its
// end with its sidecar, and the epoch checkpoint. Its result is an error or nil.
type sealJob struct {
	dir       env.Path
	offset    kafka.Offset // end of the segment
	snapshot  []byte
	sequences []byte
	epochs    []byte
}

func (s *segment) newSealJob(l *Log) *sealJob {
	offset := s.writtenEnd
	if next := l.segments.after(s); next != nil {
		offset = next.base
	}
	entries := l.producers.entries()
	snapshot := AppendSnapshot(nil, entries)
	known := sort.Search(len(l.epochs), func(i int) bool { return l.epochs[i].Start > s.writtenEnd })
	return &sealJob{
		dir:       env.Path{Dir: l.handles.Dir(), Name: l.path},
		offset:    offset,
		snapshot:  snapshot,
		sequences: AppendSequences(nil, entries, snapshot),
		epochs:    AppendEpochCheckpoint(nil, l.epochs[:known]),
	}
}

// Name names the job for traces.
func (*sealJob) Name() string { return "seal-segment" }

// Run writes the files.
func (j *sealJob) Run(disk env.Disk) any {
	if err := j.write(disk); err != nil {
		return err
	}
	return nil
}

// write writes the snapshot last, when all else is durable: that it exists confirms a recovery
// point at its offset.
func (j *sealJob) write(disk env.Disk) error {
	for _, file := range []struct {
		name    string
		content []byte
	}{
		{epochCheckpointName, j.epochs},
		{FileName(j.offset, sequencesSuffix), j.sequences},
	} {
		if err := ReplaceFile(disk, child(j.dir, file.name), file.content); err != nil {
			return err
		}
	}
	if err := SyncDirectory(disk, j.dir); err != nil {
		return err
	}
	snapshot := child(j.dir, FileName(j.offset, snapshotSuffix))
	if err := ReplaceFile(disk, snapshot, j.snapshot); err != nil {
		return err
	}
	return SyncDirectory(disk, j.dir)
}

// OnJobDone consumes the completion of a job that the log has started (sealing, Locate). It
// returns false for one that is not the log's.
func (l *Log) OnJobDone(ev *env.Event, out *env.Effects) bool {
	o, ok := l.ops.take(ev.Token)
	if !ok {
		return false
	}
	switch o.kind {
	case opSeal:
		err, _ := ev.Res.(error)
		l.onSealed(o.segment, err, out)
	case opLocate:
		found, _ := ev.Res.(*located)
		l.onLocated(found)
		l.tryClose(out)
	}
	return true
}
