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
	for q.applyNext(); q.node.HasReady(); q.applyNext() {
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
				q.applying.queue(m)
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

// sendOrHold sends a message that raft would let go at once, but for some that wait for a sync.
//
// No message speaks of a term that could be forgotten. Above all a candidate's request does not, which
// tells of its new term and of the end of its log, and waits for the sync that covers both: if they
// were forgotten in a crash, votes given to what it was would count for what it is, and it could lead
// the term twice, or lead without an entry that a vote was given for.
//
// A leader sends entries that it could forget, as raft allows, but not while a change of the
// membership is not applied. Else who is about to join or to leave might have more of the log than
// the leader that comes back from a crash, and might not stand for election itself: its vote could
// be needed and not be given, for ever.
func (q *Quorum) sendOrHold(m *pb.Message) {
	early := m.GetTerm() > q.writer.durableHard.Term && m.GetType() != pb.MsgPreVote
	changes := len(m.Entries) > 0 && q.changing > q.applied.Index
	if early || changes {
		q.writer.await([]*pb.Message{m}, q.storage)
		return
	}
	q.send(m)
}

// noteLeading: a leader knows all that was ever committed once it has committed an entry of its own
// term, the empty one that raft appends at an election. One that was removed may not propose, and
// raft would confirm its reads without asking if a single voter is left.
func (q *Quorum) noteLeading() {
	s := q.node.BasicStatus()
	own := q.applied.Term == s.HardState.GetTerm()
	if invariant.CanaryLeadsBeforeOwnTerm.On() {
		own = true
	}
	q.leading = s.RaftState == raft.StateLeader && own && !q.removed()
}
