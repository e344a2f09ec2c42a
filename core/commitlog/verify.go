package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// verify checks the structure of a segment below the recovery point, or of any after a clean
// close: from the last index entry, headers lead to the end of the file and to the offset at
// which the next segment begins. Indexes that can not be used are built again from headers.
func (r *recovery) verify(i int) error {
	s := &r.segments[i]
	name := child(r.job.Path, FileName(s.base, logSuffix))
	file, errno := r.disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	err := r.verifyFile(s, newScanner(file, s.fileBytes, walkBlock))
	if errno := file.Close(); err == nil {
		err = failed("close", name, errno)
	}
	if err != nil || i+1 == len(r.segments) {
		return err
	}
	if next := r.segments[i+1].base; s.end > next || s.end < next && !r.job.Config.AllowGaps {
		return fmt.Errorf("%w: segment %d ends at %d, the next begins at %d",
			errCorrupt, s.base, s.end, next)
	}
	return nil
}

func (r *recovery) verifyFile(s *foundSegment, scan *scanner) error {
	if err := r.firstBatch(s, scan); err != nil {
		return err
	}
	last, usable, err := r.readSummary(s, scan)
	if err != nil {
		return err
	}
	if !usable {
		return r.rebuildIndexes(s, scan)
	}
	x := structure{next: s.base, gaps: true, epoch: -1}
	s.end = s.base
	err = walkHeaders(scan, last, &x, func(v record.View, position int64) {
		x.gaps = r.job.Config.AllowGaps
		s.end = v.NextOffset()
		if v.MaxTimestamp() > s.index.max.Timestamp {
			s.index.max = TimeEntry{v.MaxTimestamp(), v.LastOffset()}
		}
	})
	s.bytes = s.fileBytes
	return r.corrupt(s, err)
}

// firstBatch reads the timestamp by which the segment's age goes.
func (r *recovery) firstBatch(s *foundSegment, scan *scanner) error {
	s.firstTimestamp, s.end = kafka.NoTimestamp, s.base
	if s.fileBytes == 0 {
		return nil
	}
	x := structure{next: s.base, gaps: r.job.Config.AllowGaps, epoch: -1}
	v, errno, bad := scan.header(0, &x)
	if errno != env.OK {
		return errno
	}
	if bad != nil {
		return r.corrupt(s, bad)
	}
	s.firstTimestamp = v.MaxTimestamp()
	return nil
}

func (r *recovery) corrupt(s *foundSegment, why error) error {
	if why == nil {
		return nil
	}
	if errno, ok := why.(env.Errno); ok {
		return fmt.Errorf("read segment %d: %w", s.base, errno)
	}
	return fmt.Errorf("%w: segment %d: %w", errCorrupt, s.base, why)
}

// rebuildIndexes derives the indexes of a segment from its headers.
func (r *recovery) rebuildIndexes(s *foundSegment, scan *scanner) error {
	b := newIndexBuilder(s.base, r.job.Config)
	x := structure{next: s.base, gaps: r.job.Config.AllowGaps, epoch: -1}
	err := walkHeaders(scan, 0, &x, b.add)
	s.end, s.bytes = x.next, s.fileBytes
	s.index, s.rebuilt = b.finish()
	return r.corrupt(s, err)
}

// walkHeaders visits the batches from position to the end of the file. An env.Errno is a failure
// of the disk, any other error one of the structure.
func walkHeaders(scan *scanner, position int64, x *structure,
	visit func(v record.View, position int64),
) error {
	for position < scan.size {
		v, errno, bad := scan.header(position, x)
		if errno != env.OK {
			return errno
		}
		if bad != nil {
			return fmt.Errorf("position %d: %w", position, bad)
		}
		next, epoch, size := v.NextOffset(), v.LeaderEpoch(), v.SizeBytes()
		visit(v, position)
		x.next, x.epoch, position = next, epoch, position+size
	}
	return nil
}

// readSummary reads the last entries of both index files. It returns the position of the last
// indexed batch, and whether the files can be used as they are.
func (r *recovery) readSummary(s *foundSegment, scan *scanner) (int64, bool, error) {
	none := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: s.base}
	s.index = indexSummary{lastTime: kafka.NoTimestamp, max: none}
	if !s.hasIndex || !s.hasTimeIndex {
		return 0, false, nil
	}
	var entry [indexEntrySize]byte
	count, ok, err := r.lastEntry(s, indexSuffix, entry[:])
	if err != nil || !ok {
		return 0, false, err
	}
	position := int64(0)
	if count > 0 {
		e := indexEntryAt(entry[:], s.base)
		if position = e.Position; position <= 0 || position >= s.fileBytes {
			return 0, false, nil
		}
		v, errno, bad := scan.header(position, &structure{next: s.base, gaps: true, epoch: -1})
		if errno != env.OK {
			return 0, false, errno
		}
		if bad != nil || v.LastOffset() != e.Offset {
			return 0, false, nil
		}
	}
	s.index.entryCount, s.index.lastEntryAt = count, position
	ok, err = r.readTimeSummary(s)
	return position, ok, err
}

func (r *recovery) readTimeSummary(s *foundSegment) (bool, error) {
	var entry [timeEntrySize]byte
	count, ok, err := r.lastEntry(s, timeIndexSuffix, entry[:])
	if err != nil || !ok || count == 0 {
		return ok && (count > 0 || s.fileBytes == 0), err
	}
	e := timeEntryAt(entry[:], s.base)
	if allZero(entry[:]) && count > 1 || e.Offset < s.base {
		return false, nil
	}
	s.index.timeCount, s.index.lastTime, s.index.max = count, e.Timestamp, e
	return true, nil
}

// lastEntry reads the last entry of an index file and returns the number of entries. It is not
// usable if the size does not fit.
func (r *recovery) lastEntry(s *foundSegment, suffix string, entry []byte) (int, bool, error) {
	name := child(r.job.Path, FileName(s.base, suffix))
	file, errno := r.disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return 0, false, failed("open", name, errno)
	}
	size, errno := file.Size()
	if errno == env.OK && size > 0 && size%int64(len(entry)) == 0 {
		_, errno = file.ReadAt(entry, size-int64(len(entry)))
	}
	if closeErr := file.Close(); errno == env.OK {
		errno = closeErr
	}
	return int(size / int64(len(entry))), size%int64(len(entry)) == 0, failed("read", name, errno)
}
