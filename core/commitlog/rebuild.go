package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// loadEpochs reads the epoch checkpoint. One that is missing or broken is rebuilt from the log.
func (r *recovery) loadEpochs() error {
	name := child(r.job.Path, epochCheckpointName)
	b, errno := ReadFile(r.disk, name)
	if errno != env.OK && errno != env.ENOENT {
		return failed("read", name, errno)
	}
	entries, err := DecodeEpochCheckpoint(b)
	r.epochs, r.epochsBad = entries, errno == env.ENOENT || err != nil
	return nil
}

// rebuildBelow derives the producer state at end from the newest usable snapshot at or below it
// and the headers in between, and the epochs from all headers if their checkpoint is lost.
func (r *recovery) rebuildBelow(end kafka.Offset) error {
	start, err := r.loadSnapshot(end)
	if err != nil {
		return err
	}
	snapshot := start
	if r.epochsBad {
		r.epochs, start = nil, r.segments[0].base
	}
	for i := range r.segments {
		s := &r.segments[i]
		last := i+1 == len(r.segments) || r.segments[i+1].base > start
		if s.base >= end || !last || start >= end {
			continue
		}
		if err := r.replayHeaders(s, snapshot, end); err != nil {
			return err
		}
	}
	return nil
}

// loadSnapshot takes the newest usable snapshot at or below end and returns its offset. Without
// one everything is replayed from the log's first offset.
func (r *recovery) loadSnapshot(end kafka.Offset) (kafka.Offset, error) {
	for i := len(r.snapshots) - 1; i >= 0; i-- {
		at := r.snapshots[i]
		if at > end {
			continue
		}
		entries, err := r.readSnapshot(at)
		if err != nil {
			return 0, err
		}
		if entries == nil {
			r.out.Snapshots++
			continue
		}
		r.producers = producersFrom(entries)
		r.out.Snapshot = at
		return at, nil
	}
	r.producers = newProducers()
	return min(r.segments[0].base, end), nil
}

// readSnapshot returns nil for a snapshot that can not be used.
func (r *recovery) readSnapshot(at kafka.Offset) ([]ProducerEntry, error) {
	name := child(r.job.Path, FileName(at, snapshotSuffix))
	snapshot, errno := ReadFile(r.disk, name)
	if errno != env.OK {
		return nil, failed("read", name, errno)
	}
	entries, err := DecodeSnapshot(snapshot)
	if err != nil {
		return nil, nil
	}
	name = child(r.job.Path, FileName(at, sequencesSuffix))
	sequences, errno := ReadFile(r.disk, name)
	if errno == env.ENOENT {
		return entries, nil // Kafka's own
	}
	if errno != env.OK {
		return nil, failed("read", name, errno)
	}
	// A sidecar of another snapshot of this offset is the trace of a crash between the two
	// renames: the window of one that the snapshot has must do.
	_ = JoinSequences(entries, snapshot, sequences)
	return entries, nil
}

// replayHeaders applies the batches of a segment below end that the snapshot does not cover, and
// their epochs if those are lost.
func (r *recovery) replayHeaders(s *foundSegment, snapshot, end kafka.Offset) error {
	name := child(r.job.Path, FileName(s.base, logSuffix))
	file, errno := r.disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	scan := newScanner(file, s.fileBytes, walkBlock)
	err := r.replayFile(scan, s, snapshot, end)
	if errno := file.Close(); err == nil {
		err = failed("close", name, errno)
	}
	return err
}

func (r *recovery) replayFile(scan *scanner, s *foundSegment, snapshot, end kafka.Offset) error {
	x := structure{next: s.base, gaps: r.job.Config.AllowGaps, epoch: -1}
	for position := int64(0); position < scan.size && x.next < end; {
		v, errno, bad := scan.header(position, &x)
		if errno != env.OK {
			bad = errno
		}
		if bad != nil {
			return r.corrupt(s, bad)
		}
		next, epoch, size := v.NextOffset(), v.LeaderEpoch(), v.SizeBytes()
		if r.epochsBad {
			r.epochs.assign(epoch, v.BaseOffset())
		}
		if v.BaseOffset() >= snapshot {
			if err := r.replayAt(scan, v, position); err != nil {
				return err
			}
		}
		x.next, x.epoch, position = next, epoch, position+size
	}
	return nil
}

// replayAt replays one batch; a marker's record has to be read for it.
func (r *recovery) replayAt(scan *scanner, v record.View, position int64) error {
	if v.ProducerID() >= 0 && v.Attributes().IsControl() {
		b, errno := scan.bytes(position, int(v.SizeBytes()))
		if errno != env.OK {
			return fmt.Errorf("read a marker at %d: %w", position, errno)
		}
		v = record.View(b)
	}
	r.replay(v)
	return nil
}
