package commitlog

import (
	"errors"
	"fmt"
	"sort"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// Locate starts a job that finds the position of offset, after Find said Locate, and returns the
// job's token. Pass its completion to OnJobDone, which returns true and remembers the positions.
// If the same Find says Locate again after that, the files could not be read. If they hold something
// else than was written, the log is fenced and Damage tells where.
func (l *Log) Locate(offset kafka.Offset, out *env.Effects) env.Token {
	s, i := l.segments.of(offset)
	for s.writtenEnd <= offset && i+1 < len(l.segments) {
		i++
		s = l.segments[i]
	}
	token := l.start(op{kind: opLocate})
	out.Jobs = append(out.Jobs, env.JobStart{Token: token, Job: &locateJob{
		dir:     env.Path{Dir: l.handles.Dir(), Name: l.path},
		segment: l.segments.view(i),
		offset:  offset,
	}})
	return token
}

func (l *Log) onLocated(found *located) {
	if found == nil {
		return
	}
	if found.damaged {
		l.Fence(env.EOther)
		l.damage = &Damage{found.from, found.err}
	}
	if found.err != nil || len(found.refs) == 0 {
		return
	}
	invariant.Sometimes(true, invariant.MarkFetchLocated)
	l.places.runs.add(run{found.segment, found.from, found.refs})
}

// locateJob finds the batch that holds an offset, and boundaries behind it at which reads of the
// usual sizes can end. The result is a *located.
type locateJob struct {
	dir     env.Path
	segment segmentView
	offset  kafka.Offset
}

type located struct {
	segment kafka.Offset
	from    kafka.Offset
	refs    []batchRef
	err     error
	damaged bool // err is about what the files hold, not about reading them
}

// Damage says that no batch holds an offset that was written, and why.
type Damage struct {
	Offset kafka.Offset
	Err    error
}

// Damage returns what a look-up has found to be broken, nil for nothing. The log is fenced. Recovery
// finds it again if it lies above the recovery point, and would not look for it below.
func (l *Log) Damage() *Damage { return l.damage }

const (
	locateBlock  = 16 << 10 // bytes read at once while headers are walked
	boundaryStep = 64 << 10 // bytes between the boundaries that are looked up ahead
	boundarySpan = 16 << 20 // bytes ahead of the batch
)

// Name names the job for traces.
func (*locateJob) Name() string { return "locate" }

// Run looks the offset up.
func (j *locateJob) Run(disk env.Disk) any {
	refs, err := j.locate(disk)
	var errno env.Errno
	return &located{
		segment: j.segment.base, from: j.offset, refs: refs, err: err,
		damaged: err != nil && !errors.As(err, &errno),
	}
}

func (j *locateJob) locate(disk env.Disk) ([]batchRef, error) {
	name := child(j.dir, FileName(j.segment.base, logSuffix))
	file, errno := disk.Open(name, env.OpenRead)
	if errno != env.OK {
		return nil, failed("open", name, errno)
	}
	index, err := indexWindow(disk, j.dir, &j.segment, j.offset)
	if err != nil {
		file.Close()
		return nil, err
	}
	scan := newScanner(file, j.segment.bytes, locateBlock)
	refs, err := j.search(scan, index)
	if errno := file.Close(); err == nil {
		err = failed("close", name, errno)
	}
	return refs, err
}

func (j *locateJob) search(scan *scanner, index []IndexEntry) ([]batchRef, error) {
	first, err := batchHolding(scan, j.segment.base, startFor(index, j.offset), j.offset)
	if err != nil {
		return nil, err
	}
	refs := []batchRef{first}
	next := sort.Search(len(index), func(i int) bool { return index[i].Position > first.position })
	for _, e := range index[next:] {
		last := refs[len(refs)-1]
		if e.Position >= min(j.segment.bytes, first.position+boundarySpan) {
			break
		}
		if e.Position < last.position+boundaryStep && e.Position != last.end() {
			continue
		}
		ref, err := refAt(scan, e.Position, &structure{next: last.last + 1, gaps: true, epoch: -1})
		if err != nil || ref.last != e.Offset {
			break // The index is a hint: without it reads end earlier.
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// startFor returns the position of a batch at or before the one that holds offset.
func startFor(index []IndexEntry, offset kafka.Offset) int64 {
	// An entry has the last offset of its batch. The batch before an entry's may hold the offset
	// too, so only entries that end at or before it are a safe start.
	i := sort.Search(len(index), func(i int) bool { return index[i].Offset > offset })
	if i == 0 {
		return 0
	}
	return index[i-1].Position
}

// batchHolding walks headers from position to the batch that holds offset, or to the first one
// behind it.
func batchHolding(scan *scanner, base kafka.Offset, position int64,
	offset kafka.Offset,
) (batchRef, error) {
	x := structure{next: base, gaps: true, epoch: -1}
	for position < scan.size {
		ref, err := refAt(scan, position, &x)
		if err != nil {
			return batchRef{}, err
		}
		if ref.last >= offset {
			return ref, nil
		}
		x.next, position = ref.last+1, ref.end()
	}
	return batchRef{}, fmt.Errorf("segment %d: no batch holds offset %d", base, offset)
}

func refAt(scan *scanner, position int64, x *structure) (batchRef, error) {
	v, errno, bad := scan.header(position, x)
	if errno != env.OK {
		bad = errno
	}
	if bad != nil {
		return batchRef{}, fmt.Errorf("position %d: %w", position, bad)
	}
	return refOf(v, position), nil
}

func refOf(v record.View, position int64) batchRef {
	return batchRef{v.BaseOffset(), v.LastOffset(), position, int32(v.SizeBytes())}
}
