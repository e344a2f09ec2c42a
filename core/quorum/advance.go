package quorum

import (
	"encoding/binary"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
	"stet/core/invariant"
)

// Advance lets raft run until it has nothing to do, and returns what that brought.
func (q *Quorum) Advance(out *env.Effects) Progress {
	if q.failed != env.OK {
		return Progress{}
	}
	if !q.Begun() {
		// What recovery has read may not be on the disk, and raft takes it for durable.
		q.writer.sync(q.token, out)
		return Progress{}
	}
	q.drain(out)
	if q.members.only(q.voter) && q.node.BasicStatus().RaftState == raft.StateFollower {
		// Nobody else can lead, and nobody's vote is missing.
		q.must(q.node.Campaign())
		q.drain(out)
	}
	if q.removed() && q.node.BasicStatus().LeadTransferee == 0 {
		q.Transfer(0)
		q.drain(out)
	}
	q.install(out)
	q.writer.sync(q.token, out)
	if invariant.CanaryRaftAckBeforeSync.On() ||
		invariant.CanaryRaftAloneBeforeSync.On() && q.members.only(q.voter) {
		q.synced()
	}
	q.noteLeading()
	q.nextJob(out)
	q.progress.Fetch = q.fetch.want()
	q.reach = q.proposed
	done := q.progress
	q.progress = Progress{}
	return done
}

// drain carries out what raft asks for.
func (q *Quorum) drain(out *env.Effects) {
	for q.node.HasReady() {
		ready := q.node.Ready()
		// What is to be stored comes first, so that what waits for it can.
		for _, m := range ready.Messages {
			if m.GetTo() == raft.LocalAppendThread {
				q.store(m, out)
			}
		}
		for _, m := range ready.Messages {
			switch m.GetTo() {
			case raft.LocalAppendThread:
			case raft.LocalApplyThread:
				q.apply(m)
			default:
				q.sendOrHold(m)
			}
		}
		for _, r := range ready.ReadStates {
			q.progress.Reads = append(q.progress.Reads,
				Read{binary.LittleEndian.Uint64(r.RequestCtx), r.Index})
		}
	}
}

// sendOrHold sends a message that raft would let go at once, but for two that wait for a sync.
//
// A candidate's request tells of its term and of the end of its log. If both were forgotten in a
// crash, votes given to what it was would count for what it is: it could lead the term twice, or
// lead without an entry that a vote was given for. And no other message speaks of a term that could
// be forgotten.
func (q *Quorum) sendOrHold(m *pb.Message) {
	early := m.GetTerm() > q.writer.durableHard.Term && m.GetType() != pb.MsgPreVote
	if early || m.GetType() == pb.MsgVote {
		q.writer.await([]*pb.Message{m}, q.storage)
		return
	}
	q.send(m)
}

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
		term, err := s.Term(first - 1)
		q.must(err)
		q.writer.truncate(Position{first - 1, term})
	}
	s.append(entries)
}

// apply passes committed entries on and tells raft at once.
func (q *Quorum) apply(m *pb.Message) {
	for _, p := range m.Entries {
		e := entryOf(p)
		invariant.Always(e.Index == q.applied.Index+1, "entries are applied out of order")
		invariant.Always(e.Index <= q.writer.durable.Index, "an entry is applied before it is durable")
		q.applied = Position{e.Index, e.Term}
		q.applyMembers(p)
		q.progress.Committed = append(q.progress.Committed, e)
	}
	for _, r := range m.Responses {
		q.step(r)
	}
}

// noteLeading: a leader knows all that was ever committed once it has committed an entry of its own
// term, the empty one that raft appends at an election. One that was removed may not propose, and
// raft would confirm its reads without asking if a single voter is left.
func (q *Quorum) noteLeading() {
	s := q.node.BasicStatus()
	q.leading = s.RaftState == raft.StateLeader && q.applied.Term == s.HardState.GetTerm() &&
		!q.removed()
}
