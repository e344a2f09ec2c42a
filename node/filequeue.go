package node

import (
	"sync"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/record"
)

// Bounds of one coalesced write.
const (
	maxCoalescedOps   = 64
	maxCoalescedBytes = 4 << 20
)

// FileQueue performs the effects on one file, one at a time, in the order the turns emitted them.
// Whoever finds it idle drains it. Adjacent writes become one.
//
// After a failed or short write, or a failed sync, create or truncate, everything but FileClose
// fails with EFenced: what the file holds is unknown until it has been recovered. After a failed sync
// no range of it is sent any more, either: the kernel counts the pages as clean that it could not
// write, and may forget them at any moment.
type FileQueue struct {
	loop *Loop
	id   env.FileID

	mu     sync.Mutex
	ops    []queuedOp
	busy   bool      // somebody drains the queue
	fenced env.Errno // the first failure
	lost   bool      // a sync has failed, or was refused after another failure
	refs   int       // 1 for the table, 1 for each range being sent
	path   env.Path
	file   env.File // opened at first use, and closed while it rests
	opened bool
	recent bool // used since OpenFiles looked
	dirty  bool // written since the last good sync; the one who drains sets it
	gone   bool // from the table: what references are left are leases

	// Scratch of the one who drains.
	batch  []queuedOp
	bufs   [][]byte
	events []env.Event
}

type queuedOp struct {
	env.FileOp
	inline []byte
}

func newFileQueue(l *Loop, id env.FileID) *FileQueue {
	return &FileQueue{loop: l, id: id, refs: 1}
}

// push appends an effect. The queue takes a reference of the payload's buffer until it is done.
func (q *FileQueue) push(w Worker, op *env.FileOp, inline []byte) {
	if op.Buf.Owner != nil {
		op.Buf.Owner.Retain()
	}
	q.mu.Lock()
	q.ops = append(q.ops, queuedOp{*op, inline})
	if op.Op == env.FileCreate || op.Op == env.FileOpen {
		q.path = env.Path{Dir: op.File.Dir(), Name: op.Path}
	}
	idle := !q.busy
	q.busy = true
	q.mu.Unlock()
	if idle {
		w.Ready(q)
	}
}

// Kind looks at the first effect that waits.
func (q *FileQueue) Kind() WorkKind {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ops) > 0 {
		switch q.ops[0].Op {
		case env.FileWrite, env.FileOpen, env.FileClose:
			return WorkWrite
		}
	}
	return WorkSlow
}

// Run performs the next effect, or a run of adjacent writes, and reports what is done. The queue
// counts as busy until the events are submitted, so that its scratch stays its own.
func (q *FileQueue) Run(w Worker) {
	q.take()
	q.perform()
	q.loop.Submit(w, q.events...)
	q.mu.Lock()
	more := len(q.ops) > 0
	q.busy = more
	q.mu.Unlock()
	if more {
		w.Ready(q)
	}
}

// take moves the next batch out of the queue: one effect, or adjacent writes.
func (q *FileQueue) take() {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 1, q.ops[0].N
	if q.ops[0].Op == env.FileWrite {
		for n < len(q.ops) && n < maxCoalescedOps && q.adjacent(n) &&
			bytes+q.ops[n].N <= maxCoalescedBytes {
			bytes += q.ops[n].N
			n++
		}
	}
	q.batch = append(q.batch[:0], q.ops[:n]...)
	rest := copy(q.ops, q.ops[n:])
	clear(q.ops[rest:])
	q.ops = q.ops[:rest]
	q.events = q.events[:0]
}

// adjacent says whether op n is a write that starts where op n-1 ends.
func (q *FileQueue) adjacent(n int) bool {
	prev, next := &q.ops[n-1], &q.ops[n]
	return next.Op == env.FileWrite && next.Off == prev.Off+prev.N
}

// perform carries out the batch and collects its events.
func (q *FileQueue) perform() {
	first := &q.batch[0]
	if first.Op == env.FileWrite {
		q.write()
		return
	}
	err := q.fenced
	if err == env.OK || first.Op == env.FileClose || first.Op == env.FileRemove {
		err = q.performOne(&first.FileOp)
	} else {
		err = env.EFenced
	}
	if err != env.OK && first.Op != env.FileClose &&
		!(first.Op == env.FileSync && invariant.CanaryAppendAfterFailedSync.On()) {
		q.fence(first.Op, err)
	}
	q.report(&first.FileOp, first.N, err)
}

func (q *FileQueue) performOne(op *env.FileOp) env.Errno {
	disk := q.loop.host.Disk()
	switch op.Op {
	case env.FileCreate:
		return q.open(env.OpenCreate)
	case env.FileOpen:
		return env.OK // opened at first use
	case env.FileClose:
		q.leave()
		return env.OK
	case env.FileRemove:
		if q.leased() { // once the name is gone, a sender could not open it
			q.open(env.OpenWrite)
		}
		err := disk.Remove(q.path)
		q.leave()
		return err
	case env.FileSyncDir:
		return disk.SyncDir(q.path.Parent())
	}
	if err := q.open(env.OpenWrite); err != env.OK {
		return err
	}
	switch op.Op {
	case env.FileSync:
		err := q.file.Sync()
		q.dirty = q.dirty && err != env.OK
		return err
	case env.FileTruncate:
		q.dirty = true
		return q.file.Truncate(op.N)
	}
	invariant.Unreachable("file effect of an unknown kind")
	return env.EOther
}

// write performs a run of adjacent writes as one. Writes that are stored whole are done; the
// first that is not, and all behind it, failed.
func (q *FileQueue) write() {
	var n int64
	err := q.fenced
	if err != env.OK {
		err = env.EFenced
	} else if err = q.open(env.OpenWrite); err == env.OK {
		q.bufs = q.bufs[:0]
		for i := range q.batch {
			q.bufs = append(q.bufs, payload(&q.batch[i]))
		}
		q.dirty = true
		n, err = q.file.WriteAt(q.bufs, q.batch[0].Off)
		clear(q.bufs)
	}
	if invariant.CanaryShortWriteAsSuccess.On() && err == env.OK {
		n = 1 << 62
	}
	for i := range q.batch {
		op := &q.batch[i].FileOp
		switch {
		case n >= op.N:
			n -= op.N
			q.report(op, op.N, env.OK)
			continue
		case err == env.OK:
			err = env.EShort
		}
		q.fence(op.Op, err)
		q.report(op, n, err)
		n, err = 0, env.EFenced
	}
}

// payload returns the bytes of a write, with the header stamped.
func payload(op *queuedOp) []byte {
	if op.Buf.Owner == nil && op.Buf.Data == nil {
		return op.inline
	}
	if op.Patch.Stamp {
		record.Stamp(op.Buf.Data, op.Patch)
	}
	return op.Buf.Data
}

// report adds the event of a finished effect, if anybody wants it, and returns its buffer.
func (q *FileQueue) report(op *env.FileOp, n int64, err env.Errno) {
	if op.Buf.Owner != nil {
		op.Buf.Owner.Release()
	}
	if op.Token == 0 && err == env.OK {
		return
	}
	q.events = append(q.events, env.Event{
		Kind: env.EventFileDone, FileOp: op.Op, File: op.File, Token: op.Token, N: n, Err: err,
	})
}

// fence notes that an effect has failed.
func (q *FileQueue) fence(op env.FileOpKind, err env.Errno) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fenced == env.OK {
		q.fenced = err
	}
	q.lost = q.lost || op == env.FileSync
}

// openToSend opens the file for a sender, who has a reference.
func (q *FileQueue) openToSend() env.Errno {
	q.mu.Lock()
	q.recent = true
	lost, opened := q.lost, q.opened
	q.mu.Unlock()
	switch {
	case lost:
		return env.EFenced
	case opened:
		return env.OK
	}
	return q.open(env.OpenWrite)
}

// open opens the file if it is not open. Only the one who drains, or a sender with a reference,
// calls it: for them the file stays open.
func (q *FileQueue) open(flag env.OpenFlag) env.Errno {
	q.mu.Lock()
	q.recent = true
	opened := q.opened
	q.mu.Unlock()
	if opened {
		return env.OK
	}
	f, err := q.loop.host.Disk().Open(q.path, flag)
	if err != env.OK {
		return err
	}
	q.mu.Lock()
	if q.opened { // a sender was quicker
		q.mu.Unlock()
		f.Close()
		return env.OK
	}
	q.file, q.opened = f, true
	q.mu.Unlock()
	q.loop.openFiles.add(q)
	return env.OK
}

// rest hands over the file for closing, if nobody uses it and nothing depends on it.
func (q *FileQueue) rest() env.File {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.recent || q.busy || q.gone || q.refs != 1 || q.dirty || !q.opened {
		q.recent = false
		return nil
	}
	f := q.file
	q.file, q.opened = nil, false
	return f
}

// leased says whether ranges of the file are to be sent.
func (q *FileQueue) leased() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refs > 1
}

// leave returns the table's reference.
func (q *FileQueue) leave() {
	q.mu.Lock()
	q.gone = true
	q.mu.Unlock()
	q.release()
}

// retain takes a reference for a range that is to be sent.
func (q *FileQueue) retain() {
	q.mu.Lock()
	q.refs++
	q.mu.Unlock()
}

// release returns a reference; the last one closes the file.
func (q *FileQueue) release() {
	q.mu.Lock()
	q.refs--
	invariant.Always(q.refs >= 0, "a file was released more often than retained")
	last := q.refs == 0 && q.opened
	if last {
		q.opened = false
	}
	q.mu.Unlock()
	if last {
		q.loop.openFiles.remove(q)
		q.file.Close()
	}
}
