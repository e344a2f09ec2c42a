package quorum

import (
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
	"stet/core/invariant"
)

// store writes what raft wants stored. Its responses wait for a sync; without responses nothing
// depends on the write, and the next sync will cover it.
func (q *Quorum) store(m *pb.Message, out *env.Effects) {
	hard := &HardState{m.GetTerm(), m.GetVote(), m.GetCommit()}
	if *hard == (HardState{}) {
		hard = nil
	} else {
		old := &q.storage.hard
		invariant.Always(hard.Term >= old.Term && hard.Commit >= old.Commit, "a hard state goes back")
		invariant.Always(hard.Term > old.Term || old.Vote == 0 || hard.Vote == old.Vote,
			"a second vote in one term")
		q.storage.hard = *hard
	}
	var installed *Installed
	if m.Snapshot != nil {
		installed = q.take(m.Snapshot)
	}
	if len(m.Entries) > 0 {
		q.append(m.Entries)
	}
	q.proposed = q.storage.last().Index
	if installed != nil {
		q.writer.begin(q.voter, q.storage, out)
		q.writer.installs(installed, q.storage.members)
	} else {
		q.writer.append(m.Entries, hard, out)
	}
	if len(m.Responses) > 0 {
		q.writer.await(m.Responses, q.storage)
	}
}

// append adds entries to the log in memory. What they replace is not durable any more.
func (q *Quorum) append(entries []*pb.Entry) {
	s := q.storage
	if first := entries[0].GetIndex(); first <= s.last().Index {
		invariant.Always(first > q.applied.Index, "an applied entry is replaced")
		invariant.Sometimes(true, invariant.MarkRaftTailReplaced)
		term, err := s.Term(first - 1)
		q.must(err)
		q.writer.truncate(Position{first - 1, term})
		if q.changing >= first {
			q.changing = lastChange(s.entries[:first-s.start.Index-1])
		}
	}
	s.append(entries)
	q.changing = max(q.changing, lastChange(entries))
}
