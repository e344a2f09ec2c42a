package logtest

import (
	"math/rand/v2"
	"slices"

	"stet/core/env"
	"stet/core/record"
)

// World performs effects on a Disk, one at a time: those of one file in order, everything else in
// the order that its random stream says.
type World struct {
	Disk *Disk
	rand *rand.Rand

	queues []*queue
	jobs   []env.JobStart
	// Closed lists the files for which FileClose was performed.
	Closed []env.FileID
}

type queue struct {
	id     env.FileID
	path   env.Path
	file   env.File
	ops    []env.FileOp
	inline [][]byte
	fenced bool
}

// NewWorld returns a world with an empty disk.
func NewWorld(r *rand.Rand) *World { return &World{Disk: NewDisk(r), rand: r} }

// Perform takes over the effects of a turn and resets them.
func (w *World) Perform(out *env.Effects) {
	for _, op := range out.File {
		q := w.queueOf(op.File)
		q.ops = append(q.ops, op)
		q.inline = append(q.inline, slices.Clone(out.Bytes[op.Inline.Start:op.Inline.End]))
	}
	w.jobs = append(w.jobs, out.Jobs...)
	out.Reset()
}

func (w *World) queueOf(id env.FileID) *queue {
	for _, q := range w.queues {
		if q.id == id {
			return q
		}
	}
	q := &queue{id: id}
	w.queues = append(w.queues, q)
	return q
}

// Outstanding is the number of effects that wait to be performed.
func (w *World) Outstanding() int {
	n := len(w.jobs)
	for _, q := range w.queues {
		n += len(q.ops)
	}
	return n
}

// Jobs is the number of jobs that wait to be performed.
func (w *World) Jobs() int { return len(w.jobs) }

// Step performs one effect and returns its event. ok is false when nothing waits. The event's
// Token is zero when nobody asked for it.
func (w *World) Step() (ev env.Event, ok bool) {
	var ready []*queue
	for _, q := range w.queues {
		if len(q.ops) > 0 {
			ready = append(ready, q)
		}
	}
	if len(ready)+len(w.jobs) == 0 {
		return ev, false
	}
	i := w.rand.IntN(len(ready) + len(w.jobs))
	if i < len(ready) {
		return w.performOne(ready[i]), true
	}
	i -= len(ready)
	job := w.jobs[i]
	w.jobs = slices.Delete(w.jobs, i, i+1)
	return env.Event{Kind: env.EventJobDone, Token: job.Token, Res: job.Job.Run(w.Disk)}, true
}

func (w *World) performOne(q *queue) env.Event {
	op, inline := q.ops[0], q.inline[0]
	q.ops, q.inline = q.ops[1:], q.inline[1:]
	err := env.EFenced
	if !q.fenced || op.Op == env.FileClose {
		err = w.perform(q, &op, inline)
	}
	q.fenced = q.fenced || err != env.OK
	return env.Event{
		Kind: env.EventFileDone, FileOp: op.Op, File: op.File, Token: op.Token, N: op.N, Err: err,
	}
}

func (w *World) perform(q *queue, op *env.FileOp, inline []byte) (err env.Errno) {
	switch op.Op {
	case env.FileCreate, env.FileOpen:
		q.path = env.Path{Dir: op.File.Dir(), Name: op.Path}
		flag := env.OpenWrite
		if op.Op == env.FileCreate {
			flag = env.OpenCreate
		}
		q.file, err = w.Disk.Open(q.path, flag)
		return err
	case env.FileSync:
		return q.file.Sync()
	case env.FileSyncDir:
		return w.Disk.SyncDir(q.path.Parent())
	case env.FileClose:
		w.Closed = append(w.Closed, q.id)
		if q.file != nil {
			q.file.Close()
		}
		return env.OK
	case env.FileWrite:
		payload := inline
		if op.Buf.Data != nil {
			payload = slices.Clone(op.Buf.Data)
			record.Stamp(payload, op.Patch)
		}
		_, err = q.file.WriteAt([][]byte{payload}, op.Off)
		return err
	}
	return env.EOther
}

// Crash forgets what waits and what is open, as the end of the process does.
func (w *World) Crash() { w.queues, w.jobs, w.Disk.OpenFiles = nil, nil, nil }

// Attempt runs f and says whether it came to its end before the disk's fuse burned down.
func Attempt(f func()) (finished bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, crashed := r.(Crashed); !crashed {
				panic(r)
			}
		}
	}()
	f()
	return true
}
