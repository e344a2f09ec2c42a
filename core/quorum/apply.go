package quorum

import (
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/invariant"
)

// applying is what raft has committed and is not applied yet.
type applying struct {
	entries []*pb.Entry
	awaited uint64 // the change of the membership that a sync was asked for
}

func (a *applying) queue(m *pb.Message) { a.entries = append(a.entries, m.Entries...) }

// applyNext passes committed entries on and tells raft.
//
// A change of the membership is applied, and so known to whoever asked for it, only when a crash
// would not take back that it is committed. Else a voter that was removed, and switched off, could
// be needed by the one who forgot.
func (q *Quorum) applyNext() {
	a := &q.applying
	n := 0
	for n < len(a.entries) && q.mayApply(a.entries[n]) {
		q.apply(a.entries[n])
		n++
	}
	if n == 0 {
		return
	}
	// This is raft's own response, for as much as was applied.
	q.step(&pb.Message{
		Type: pb.MsgStorageApplyResp.Enum(), To: new(q.voter), From: new(raft.LocalApplyThread),
		Term: new(uint64(0)), Entries: a.entries[:n:n],
	})
	a.entries = a.entries[n:]
}

// mayApply says whether an entry can be applied now; if not, a sync is on its way.
func (q *Quorum) mayApply(p *pb.Entry) bool {
	index := p.GetIndex()
	if EntryKind(p.GetType()) == EntryNormal || index <= q.writer.durableHard.Commit {
		return true
	}
	if q.applying.awaited < index {
		q.applying.awaited = index
		q.writer.await(nil, q.storage) // raft asks for no sync of a commit index alone
	}
	return false
}

func (q *Quorum) apply(p *pb.Entry) {
	e := entryOf(p)
	invariant.Always(e.Index == q.applied.Index+1, "entries are applied out of order")
	invariant.Always(e.Index <= q.writer.durable.Index, "an entry is applied before it is durable")
	q.applied = Position{e.Index, e.Term}
	q.applyMembers(p)
	q.progress.Committed = append(q.progress.Committed, e)
}
