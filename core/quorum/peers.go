package quorum

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"stet/core/env"
	"stet/core/invariant"
)

// Tick moves raft's clock by one step. A quorum of one needs none.
func (q *Quorum) Tick() {
	if q.failed != env.OK {
		return
	}
	q.node.Tick()
	q.silence++
	q.fetch.tick(q.config.ElectionTicks)
	q.tickServing()
	q.offerAgain()
}

// offerAgain repeats offers of snapshots from time to time. Raft sends one and waits; it or what the
// voter answered may be lost, and nobody says so.
func (q *Quorum) offerAgain() {
	if q.ticks++; q.ticks < q.keepTicks() {
		return
	}
	q.ticks = 0
	basic := q.node.BasicStatus()
	for _, p := range q.peers(&basic) {
		if p.Snapshot {
			q.node.ReportSnapshot(p.Voter, raft.SnapshotFailure)
		}
	}
}

// ErrForgotten says that a leader knows of an entry that this voter has acknowledged, and does not
// have: an older copy of the directory was put back, or the disk did not keep what it said it did.
// What else was promised and forgotten nobody knows. The voter has to be replaced.
var ErrForgotten = errors.New("this voter has forgotten what it had acknowledged")

// Receive takes a message of another voter. An error says that it is none, or that its sender lies;
// nothing has changed then.
func (q *Quorum) Receive(data []byte) error {
	if q.failed != env.OK {
		return nil
	}
	m, err := parseMessage(data)
	if err != nil {
		return err
	}
	if m.GetTo() != q.voter || m.GetFrom() == q.voter {
		return fmt.Errorf("a raft message from voter %d to voter %d, this is voter %d",
			m.GetFrom(), m.GetTo(), q.voter)
	}
	if isFromLeader(m.GetType()) && m.GetTerm() >= q.Term() {
		q.silence = 0
	}
	switch m.GetType() {
	case pb.MsgSnap:
		q.fetch.news = m
		return nil
	case pb.MsgApp:
		if m.GetIndex() <= q.reach {
			q.reach = max(q.reach, m.GetIndex()+uint64(len(m.Entries)))
		}
	case pb.MsgHeartbeat:
		if m.GetTerm() >= q.Term() && m.GetCommit() > q.reach {
			return fmt.Errorf("%w: entry %d, and its log ends at %d",
				ErrForgotten, m.GetCommit(), q.storage.last().Index)
		}
	}
	q.step(m)
	return nil
}

// isFromPeer says whether voters send each other messages of this type. Proposals and reads are not
// forwarded, and the rest is a node's own.
func isFromPeer(t pb.MessageType) bool {
	switch t {
	case pb.MsgApp, pb.MsgAppResp, pb.MsgVote, pb.MsgVoteResp, pb.MsgPreVote, pb.MsgPreVoteResp,
		pb.MsgHeartbeat, pb.MsgHeartbeatResp, pb.MsgSnap, pb.MsgTimeoutNow:
		return true
	}
	return false
}

// isFromLeader says whether only leaders send messages of this type.
func isFromLeader(t pb.MessageType) bool {
	return t == pb.MsgApp || t == pb.MsgHeartbeat || t == pb.MsgSnap
}

// parseMessage decodes a message and refuses what raft would not survive.
func parseMessage(data []byte) (*pb.Message, error) {
	m := &pb.Message{}
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("a raft message: %w", err)
	}
	switch {
	case !isFromPeer(m.GetType()):
		return nil, fmt.Errorf("a raft message of type %s", m.GetType())
	case m.GetFrom() == 0 || m.GetFrom()>>63 != 0:
		return nil, fmt.Errorf("a raft message from %d", m.GetFrom())
	case m.GetTerm() == 0:
		return nil, errors.New("a raft message of term 0")
	case m.GetType() == pb.MsgSnap && m.GetSnapshot().GetMetadata().GetIndex() == 0:
		return nil, errors.New("a raft message with a snapshot of index 0")
	}
	for i, e := range m.Entries {
		if e.GetIndex() != m.GetIndex()+1+uint64(i) || e.GetTerm() == 0 ||
			e.GetTerm() > m.GetTerm() {
			return nil, fmt.Errorf("a raft message with entry %d of term %d in place %d behind %d",
				e.GetIndex(), e.GetTerm(), i, m.GetIndex())
		}
	}
	return m, nil
}

// send encodes a message for another voter.
func (q *Quorum) send(m *pb.Message) {
	data, err := proto.Marshal(m)
	invariant.Always(err == nil, "a raft message can not be encoded")
	q.progress.Messages = append(q.progress.Messages, Message{m.GetTo(), data})
}

// Unreachable says that messages to a voter may have been lost. A snapshot that it needs is offered
// again.
func (q *Quorum) Unreachable(voter uint64) {
	if q.failed == env.OK {
		q.node.ReportUnreachable(voter)
		q.node.ReportSnapshot(voter, raft.SnapshotFailure)
	}
}

// SnapshotFailed says that a voter could not be given the snapshot that it needs: it is offered
// another.
func (q *Quorum) SnapshotFailed(voter uint64) {
	if q.failed == env.OK {
		q.node.ReportSnapshot(voter, raft.SnapshotFailure)
	}
}

// Read asks for proof that this voter leads; Progress.Reads brings it. ok is false if it does not
// lead. If it stops leading no answer comes. An id is never used twice in a life.
func (q *Quorum) Read(id uint64) (ok bool) {
	if !q.Leading() {
		return false
	}
	q.node.ReadIndex(binary.LittleEndian.AppendUint64(nil, id))
	return true
}

// Transfer hands the lead over, to the given voter or with 0 to the one whose log is longest. It
// takes messages and may fail; until it is decided nothing can be proposed.
func (q *Quorum) Transfer(to uint64) {
	if q.failed != env.OK || q.node.BasicStatus().RaftState != raft.StateLeader {
		return
	}
	if to == 0 {
		to = q.heir()
	}
	if to != 0 && to != q.voter {
		q.node.TransferLeader(to)
	}
}

// Forget has this voter forget who leads, so that it grants others their elections at once; it is for
// one that has reason to believe that the leader is gone.
func (q *Quorum) Forget() {
	if q.failed == env.OK {
		q.must(q.node.ForgetLeader())
	}
}

// Campaign asks for the votes of the others without waiting for silence. It does nothing to a leader, or
// to a voter that may not campaign.
func (q *Quorum) Campaign() {
	if q.failed == env.OK {
		q.must(q.node.Campaign())
	}
}

// heir returns the other voter that was heard of and has most of the log, or 0.
func (q *Quorum) heir() (best uint64) {
	match := uint64(0)
	q.node.WithProgress(func(id uint64, kind raft.ProgressType, p tracker.Progress) {
		if kind == raft.ProgressTypePeer && id != q.voter && p.RecentActive && p.Match > match {
			best, match = id, p.Match
		}
	})
	return best
}
