package quorum

import (
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
)

// writer appends to the log file in force and knows what of it is durable.
//
// At most one sync is under way; what is written meanwhile shares the next one. That is the group
// commit: under load a sync covers whatever came in during the last.
type writer struct {
	dir   env.DirID
	owner env.Owner

	generation uint64
	fileCount  uint32 // of file ids given
	file       env.FileID
	end        int64 // where the next frame goes

	// Invariant: synced <= syncing <= end. Without a sync under way syncing equals synced.
	synced  int64
	syncing int64
	token   env.Token // of the sync under way, zero for none

	waiting     []waiter // ascending by end
	durable     Position // the last entry known to be durable
	durableHard HardState
	whole       uint64 // the newest generation that is durable from its beginning; zero for none
}

// waiter is what happens when the file is durable up to end.
type waiter struct {
	end       int64
	last      Position // of the log that ends there
	hard      HardState
	responses []*pb.Message
	begun     uint64 // the generation whose base ends here: older files are not needed any more

	installed *Installed // the snapshot that the file starts with, if it was another voter's
	members   ConfState  // as of it
}

// begin starts a new file with everything that storage has: header, hard state and entries. What
// waits for the old file waits for the new one instead, which holds the same and more.
func (w *writer) begin(voter uint64, s *storage, out *env.Effects) {
	w.abandon(out)
	w.generation++
	w.fileCount++
	w.file = env.MakeFileID(w.dir, w.owner, w.fileCount)
	out.File = append(out.File,
		env.FileOp{Op: env.FileCreate, File: w.file, Path: logName(w.generation)},
		env.FileOp{Op: env.FileSyncDir, File: w.file})
	w.end, w.synced, w.syncing, w.token = 0, 0, 0, 0

	start := out.Mark()
	out.Bytes = w.appendBase(out.Bytes, voter, s)
	w.write(start, out)
	for i := range w.waiting {
		w.waiting[i].end, w.waiting[i].last, w.waiting[i].hard = w.end, s.last(), s.hard
	}
	w.waiting = append(w.waiting, waiter{
		end: w.end, last: s.last(), hard: s.hard, begun: w.generation,
	})
}

// standing says whether the file in force is durable from its beginning.
func (w *writer) standing() bool { return w.whole == w.generation }

// installs has the file that was begun last report the snapshot that it starts with.
func (w *writer) installs(s *Installed, members ConfState) {
	begun := &w.waiting[len(w.waiting)-1]
	begun.installed, begun.members = s, members
}

// abandon closes the old file.
func (w *writer) abandon(out *env.Effects) {
	if w.file != 0 {
		out.File = append(out.File, env.FileOp{Op: env.FileClose, File: w.file})
		w.file = 0
	}
}

func (w *writer) appendBase(dst []byte, voter uint64, s *storage) []byte {
	h := header{generation: w.generation, voter: voter, start: s.start, members: s.members}
	h.baseEnd = headerSize(&h.members) + frameFixed + 8
	for _, e := range s.entries {
		h.baseEnd += frameFixed + int64(len(e.GetData()))
	}
	origin := len(dst)
	dst = appendHeader(dst, &h)
	dst = appendHardStateFrame(dst, w.generation, int64(len(dst)-origin), 0, &s.hard)
	for _, p := range s.entries {
		e := entryOf(p)
		dst = appendEntryFrame(dst, w.generation, int64(len(dst)-origin), 0, &e)
	}
	return dst
}

// write emits the bytes of out from start on as a write at the end of the file.
func (w *writer) write(start uint32, out *env.Effects) {
	span := out.SpanFrom(start)
	if span.Len() == 0 {
		return
	}
	n := int64(span.Len())
	out.File = append(out.File, env.FileOp{
		Op: env.FileWrite, File: w.file, Off: w.end, N: n, Inline: span,
	})
	w.end += n
}

// append writes entries, and the hard state that raft wants remembered with them: behind the entries
// that it commits, and before all others. So a hard state never commits what is not before it, and
// an entry is not on the disk without what was known to be committed when it came.
func (w *writer) append(entries []*pb.Entry, hard *HardState, out *env.Effects) {
	start := out.Mark()
	at := func() int64 { return w.end + int64(out.SpanFrom(start).Len()) }
	write := func(entries []*pb.Entry) {
		for _, p := range entries {
			e := entryOf(p)
			out.Bytes = appendEntryFrame(out.Bytes, w.generation, at(), w.synced, &e)
		}
	}
	if hard != nil {
		n := 0
		for n < len(entries) && entries[n].GetIndex() <= hard.Commit {
			n++
		}
		write(entries[:n])
		out.Bytes = appendHardStateFrame(out.Bytes, w.generation, at(), w.synced, hard)
		entries = entries[n:]
	}
	write(entries)
	w.write(start, out)
}

// await delivers the responses once all that was written so far is durable.
func (w *writer) await(responses []*pb.Message, s *storage) {
	w.waiting = append(w.waiting, waiter{
		end: w.end, last: s.last(), hard: s.hard, responses: responses,
	})
}

// truncate notes that the log is replaced behind an entry: what comes there is not durable.
func (w *writer) truncate(last Position) {
	if w.durable.Index > last.Index {
		w.durable = last
	}
	for i := range w.waiting {
		if w.waiting[i].last.Index > last.Index {
			w.waiting[i].last = last
		}
	}
}

// sync emits a sync if something waits for one and none is under way.
func (w *writer) sync(token func() env.Token, out *env.Effects) {
	if w.token != 0 || len(w.waiting) == 0 {
		return
	}
	w.syncing, w.token = w.end, token()
	out.File = append(out.File, env.FileOp{Op: env.FileSync, File: w.file, Token: w.token})
}

// onSynced returns the waiters whose turn has come, after the sync under way has succeeded.
func (w *writer) onSynced() []waiter {
	w.synced, w.token = w.syncing, 0
	n := 0
	for n < len(w.waiting) && w.waiting[n].end <= w.synced {
		n++
	}
	due := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	if n > 0 {
		w.durable, w.durableHard = due[n-1].last, due[n-1].hard
	}
	for i := range due {
		w.whole = max(w.whole, due[i].begun)
	}
	return due
}
