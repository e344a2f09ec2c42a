package commitlog

import (
	"bytes"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// repair makes the directory what examine found it to be, durably. Every step leaves a directory
// that a new recovery brings to the same end: what is deleted or cut lies behind the place where
// it would stop again.
func (r *recovery) repair() error {
	invariant.Sometimes(r.interrupted, invariant.MarkRecoveryInterrupted)
	if r.noMetadata && r.job.TopicID != (kafka.TopicID{}) {
		content := AppendPartitionMetadata(nil, r.job.TopicID)
		if err := ReplaceFile(r.disk, child(r.job.Path, PartitionMetadataName), content); err != nil {
			return err
		}
	}
	if r.changedNothing() {
		return nil
	}
	if err := r.markRepair(); err != nil {
		return err
	}
	if err := r.deleteFiles(); err != nil {
		return err
	}
	for i := range r.segments {
		if err := r.repairSegment(&r.segments[i]); err != nil {
			return err
		}
	}
	if err := r.writeCompanions(); err != nil {
		return err
	}
	if err := removeFile(r.disk, child(r.job.Path, recoveryMarkName)); err != nil {
		return err
	}
	return SyncDirectory(r.disk, r.job.Path)
}

// changedNothing says whether the directory already is as it should be and known to be durable.
func (r *recovery) changedNothing() bool {
	if r.from < len(r.segments) || r.epochsBad || r.noMetadata || len(r.stray) > 0 || r.marked {
		return false
	}
	for i := range r.segments {
		if r.segments[i].rebuilt != nil {
			return false
		}
	}
	return true
}

func (r *recovery) markRepair() error {
	r.marked = true
	return leaveMark(r.disk, r.job.Path)
}

// deleteFiles removes the snapshots of states that were lost, then the segments behind the end, from
// the last to the first, and leftovers.
//
// The snapshots go first, and durably. One above the end confirms a recovery point (confirmedPoint),
// and below that the hole that the deletion of two segments passes through is corruption to a
// recovery. And a snapshot whose sidecar is already gone would be believed as far as it goes.
func (r *recovery) deleteFiles() error {
	var names []string
	if r.from < len(r.segments) {
		for i := len(r.segments) - 1; i >= r.deleteFrom; i-- {
			for _, suffix := range []string{logSuffix, indexSuffix, timeIndexSuffix, txnIndexSuffix} {
				names = append(names, FileName(r.segments[i].base, suffix))
			}
		}
		r.segments = r.segments[:r.deleteFrom]
	}
	end := r.segments[len(r.segments)-1].end
	if lost := namesAbove(r.snapshots, end, snapshotSuffix); len(lost) > 0 {
		if err := r.deleteDurably(lost); err != nil {
			return err
		}
	}
	names = append(names, namesAbove(r.sidecars, end, sequencesSuffix)...)
	for _, name := range r.stray {
		if name != recoveryMarkName {
			names = append(names, name)
		}
	}
	return r.deleteDurably(names)
}

func (r *recovery) deleteDurably(names []string) error {
	for _, name := range names {
		if err := removeFile(r.disk, child(r.job.Path, name)); err != nil {
			return err
		}
	}
	return SyncDirectory(r.disk, r.job.Path)
}

func namesAbove(offsets []kafka.Offset, end kafka.Offset, suffix string) []string {
	var names []string
	for _, offset := range offsets {
		if offset > end {
			names = append(names, FileName(offset, suffix))
		}
	}
	return names
}

// repairSegment cuts and syncs a segment that was scanned, and rewrites its indexes. What a
// process wrote before it was killed is durable only after this sync.
func (r *recovery) repairSegment(s *foundSegment) error {
	switch {
	case !s.scanned:
	case r.job.Replace && s.bytes < s.fileBytes:
		if err := r.replaceLog(s); err != nil {
			return err
		}
	default:
		if err := r.cutLog(s); err != nil {
			return err
		}
	}
	if s.rebuilt == nil {
		return nil
	}
	if err := r.rewriteIndex(s.base, indexSuffix, s.rebuilt.index); err != nil {
		return err
	}
	return r.rewriteIndex(s.base, timeIndexSuffix, s.rebuilt.timeIndex)
}

// cutLog cuts a segment in place, if need be, and syncs it.
func (r *recovery) cutLog(s *foundSegment) error {
	name := child(r.job.Path, FileName(s.base, logSuffix))
	f, errno := r.disk.Open(name, env.OpenWrite)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	if s.bytes < s.fileBytes {
		errno = f.Truncate(s.bytes)
	}
	if errno == env.OK {
		errno = f.Sync()
	}
	if closeErr := f.Close(); errno == env.OK {
		errno = closeErr
	}
	return failed("cut and sync", name, errno)
}

// replaceLog puts a copy of what is valid of a segment into its place, durably but for the rename,
// which the sync of the directory that ends the repair covers.
func (r *recovery) replaceLog(s *foundSegment) error {
	name := child(r.job.Path, FileName(s.base, logSuffix))
	from, errno := r.disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	temporary := env.Path{Dir: name.Dir, Name: name.Name + temporarySuffix}
	to, errno := r.disk.Open(temporary, env.OpenOrNew)
	if errno != env.OK {
		from.Close()
		return failed("open", temporary, errno)
	}
	if errno = to.Truncate(0); errno == env.OK {
		errno = copyFile(to, from, s.bytes)
	}
	if errno == env.OK {
		errno = to.Sync()
	}
	for _, f := range []env.File{from, to} {
		if closeErr := f.Close(); errno == env.OK {
			errno = closeErr
		}
	}
	if errno != env.OK {
		return failed("copy", name, errno)
	}
	return failed("rename", temporary, r.disk.Rename(temporary, name))
}

// copyFile copies the first size bytes.
func copyFile(to, from env.File, size int64) env.Errno {
	block := make([]byte, min(size, rewriteBlock))
	for at := int64(0); at < size; {
		n, errno := from.ReadAt(block[:min(size-at, rewriteBlock)], at)
		if errno == env.OK && n == 0 {
			errno = env.EOther // the file is shorter than it was a moment ago
		}
		if errno != env.OK {
			return errno
		}
		if errno = writeAll(to, block[:n], at); errno != env.OK {
			return errno
		}
		at += int64(n)
	}
	return env.OK
}

func (r *recovery) rewriteIndex(base kafka.Offset, suffix string, content []byte) error {
	name := child(r.job.Path, FileName(base, suffix))
	f, errno := r.disk.Open(name, env.OpenOrNew)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	errno = rewrite(f, content)
	if closeErr := f.Close(); errno == env.OK {
		errno = closeErr
	}
	return failed("rewrite", name, errno)
}

// writeCompanions writes the epoch checkpoint if it does not say what the log says.
func (r *recovery) writeCompanions() error {
	name := child(r.job.Path, epochCheckpointName)
	content := AppendEpochCheckpoint(nil, r.epochs)
	if found, errno := ReadFile(r.disk, name); errno == env.OK && bytes.Equal(found, content) {
		return nil // It was renamed into place only after it was synced.
	}
	return ReplaceFile(r.disk, name, content)
}
