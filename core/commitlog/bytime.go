package commitlog

import (
	"fmt"
	"sort"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// TimeFound is the result of a FindByTime job.
type TimeFound struct {
	Offset    kafka.Offset // kafka.NoOffset: no such record
	Timestamp int64
	Epoch     kafka.LeaderEpoch // of the record's batch
	Err       error             // the files could not be read
}

func notFound() TimeFound {
	return TimeFound{
		Offset:    kafka.NoOffset,
		Timestamp: kafka.NoTimestamp,
		Epoch:     kafka.NoLeaderEpoch,
	}
}

// FindByTime returns the job that looks for the first record at or above LogStartOffset and below
// upTo with a timestamp of at least timestamp, or, for kafka.MaxTimestamp, for the first record
// with the largest timestamp. The owner starts it under its own token; it yields a TimeFound.
func (l *Log) FindByTime(timestamp int64, upTo kafka.Offset, maxDecompressed int64) env.Job {
	j := &findByTimeJob{
		dir:             env.Path{Dir: l.handles.Dir(), Name: l.path},
		timestamp:       timestamp,
		from:            l.logStart,
		upTo:            min(upTo, l.written),
		maxDecompressed: maxDecompressed,
	}
	for i, s := range l.segments {
		if s.base < j.upTo && s.writtenEnd > j.from {
			j.segments = append(j.segments, l.segments.view(i))
		}
	}
	return j
}

// findByTimeJob looks a timestamp up. Timestamps are not monotonic, so the time index holds the
// running maximum: it tells where a timestamp can not be yet, and the log is read from there.
type findByTimeJob struct {
	dir             env.Path
	segments        []segmentView
	timestamp       int64
	from, upTo      kafka.Offset
	maxDecompressed int64
}

// Name names the job for traces.
func (*findByTimeJob) Name() string { return "find-by-time" }

// Run looks the timestamp up.
func (j *findByTimeJob) Run(disk env.Disk) any {
	found := notFound()
	var err error
	if j.timestamp == kafka.MaxTimestamp {
		err = j.findLargest(disk, &found)
	} else {
		err = j.findFirst(disk, &found)
	}
	found.Err = err
	return found
}

// findFirst finds the first record that is young enough.
func (j *findByTimeJob) findFirst(disk env.Disk, found *TimeFound) error {
	for i := range j.segments {
		s := &j.segments[i]
		times, err := loadTimes(disk, j.dir, s)
		if err != nil {
			return err
		}
		if s.sealed && len(times) > 0 && times[len(times)-1].Timestamp < j.timestamp {
			continue // the last entry of a sealed segment is its maximum
		}
		// Up to the last entry below the timestamp every record is too old.
		start := s.base
		n := sort.Search(len(times), func(i int) bool { return times[i].Timestamp >= j.timestamp })
		if n > 0 {
			start = times[n-1].Offset + 1
		}
		err = j.visit(disk, s, max(start, j.from),
			func(scan *scanner, v record.View, at int64) (bool, error) {
				if v.MaxTimestamp() < j.timestamp {
					return true, nil
				}
				return j.firstIn(scan, v, at, found)
			})
		if err != nil || found.Offset >= 0 {
			return err
		}
	}
	return nil
}

// firstIn looks for the record inside a batch, and says whether to go on with the next batch.
func (j *findByTimeJob) firstIn(scan *scanner, v record.View, at int64,
	found *TimeFound,
) (bool, error) {
	epoch := v.LeaderEpoch()
	err := j.records(scan, v, at, func(r record.Record) bool {
		if r.Timestamp < j.timestamp || r.Offset < j.from {
			return true
		}
		if r.Offset < j.upTo {
			*found = TimeFound{Offset: r.Offset, Timestamp: r.Timestamp, Epoch: epoch}
		}
		return false
	})
	return found.Offset < 0, err
}

// findLargest finds the first record with the largest timestamp below upTo (KIP-734).
func (j *findByTimeJob) findLargest(disk env.Disk, found *TimeFound) error {
	best, segment := TimeEntry{Timestamp: kafka.NoTimestamp}, -1
	for i := range j.segments {
		top, err := j.largestOf(disk, &j.segments[i])
		if err != nil {
			return err
		}
		if top.Timestamp > best.Timestamp {
			best, segment = top, i
		}
	}
	if segment < 0 {
		return nil
	}
	return j.visit(disk, &j.segments[segment], best.Offset,
		func(scan *scanner, v record.View, at int64) (bool, error) {
			epoch := v.LeaderEpoch()
			err := j.records(scan, v, at, func(r record.Record) bool {
				if r.Timestamp != best.Timestamp || r.Offset < j.from {
					return true
				}
				*found = TimeFound{Offset: r.Offset, Timestamp: r.Timestamp, Epoch: epoch}
				return false
			})
			return false, err
		})
}

// largestOf returns the largest timestamp of the batches of a segment that end in [from, upTo),
// and the last offset of the first batch that has it.
func (j *findByTimeJob) largestOf(disk env.Disk, s *segmentView) (TimeEntry, error) {
	times, err := loadTimes(disk, j.dir, s)
	if err != nil {
		return TimeEntry{}, err
	}
	top, start := TimeEntry{Timestamp: kafka.NoTimestamp}, max(s.base, j.from)
	n := sort.Search(len(times), func(i int) bool { return times[i].Offset >= j.upTo })
	if n > 0 && times[n-1].Offset >= j.from {
		top, start = times[n-1], max(start, times[n-1].Offset+1)
		if s.sealed && n == len(times) && s.end <= j.upTo {
			return top, nil // the last entry of a sealed segment is its maximum
		}
	}
	err = j.visit(disk, s, start, func(_ *scanner, v record.View, _ int64) (bool, error) {
		if v.MaxTimestamp() > top.Timestamp {
			top = TimeEntry{v.MaxTimestamp(), v.LastOffset()}
		}
		return true, nil
	})
	return top, err
}

// visit walks the batches of a segment from the one that holds start, while they end below upTo
// and yield says so.
func (j *findByTimeJob) visit(disk env.Disk, s *segmentView, start kafka.Offset,
	yield func(*scanner, record.View, int64) (bool, error),
) error {
	if start >= s.end || s.bytes == 0 {
		return nil
	}
	name := child(j.dir, FileName(s.base, logSuffix))
	index, err := indexWindow(disk, j.dir, s, start)
	if err != nil {
		return err
	}
	file, errno := disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	err = j.walk(newScanner(file, s.bytes, locateBlock), s.base, startFor(index, start), start, yield)
	if errno := file.Close(); err == nil {
		err = failed("close", name, errno)
	}
	return err
}

func (j *findByTimeJob) walk(scan *scanner, base kafka.Offset, position int64, start kafka.Offset,
	yield func(*scanner, record.View, int64) (bool, error),
) error {
	x := structure{next: base, gaps: true, epoch: -1}
	for position < scan.size {
		v, errno, bad := scan.header(position, &x)
		if errno != env.OK {
			bad = errno
		}
		if bad != nil {
			return fmt.Errorf("segment %d position %d: %w", base, position, bad)
		}
		next, size := v.NextOffset(), v.SizeBytes()
		if next > j.upTo {
			return nil
		}
		if next > start {
			if more, err := yield(scan, v, position); !more || err != nil {
				return err
			}
		}
		x.next, position = next, position+size
	}
	return nil
}

// records iterates over the records of the batch at position whose header is v.
func (j *findByTimeJob) records(scan *scanner, v record.View, position int64,
	yield func(record.Record) bool,
) error {
	b, errno := scan.bytes(position, int(v.SizeBytes()))
	if errno != env.OK {
		return errno
	}
	var scratch record.Scratch
	if problem := record.Check(b); problem != record.NoProblem {
		return fmt.Errorf("position %d: %s", position, problem)
	}
	if problem := scratch.Records(b, j.maxDecompressed, yield); problem != record.NoProblem {
		return fmt.Errorf("position %d: %s", position, problem)
	}
	return nil
}

// loadTimes returns the time index of a segment, from the file and from memory.
func loadTimes(disk env.Disk, dir env.Path, s *segmentView) ([]TimeEntry, error) {
	var times []TimeEntry
	if s.sealed || s.fileTimes > 0 {
		name := child(dir, FileName(s.base, timeIndexSuffix))
		b, errno := ReadFile(disk, name)
		if errno != env.OK && errno != env.ENOENT {
			return nil, failed("read", name, errno)
		}
		var err error
		if times, err = DecodeTimeIndex(b, s.base); err != nil && s.sealed {
			return nil, nil // without its last entry it tells nothing
		}
	}
	if !s.sealed {
		times = append(times[:min(len(times), s.fileTimes)], s.times...)
	}
	return times, nil
}
