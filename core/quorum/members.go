package quorum

import (
	"encoding/binary"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/invariant"
)

// VoterOf returns the raft id of a data directory. Ids belong to directories, not to nodes, so that
// a node which lost its directory comes back as somebody else, who promised nothing. The top bit is
// raft's, which marks messages to a node's own threads with it, and zero is nobody.
func VoterOf(directory [16]byte) uint64 {
	id := binary.LittleEndian.Uint64(directory[:]) ^ binary.LittleEndian.Uint64(directory[8:])
	return max(id>>1, 1)
}

// FirstEntry is the index of the first entry of every log: see Form.
const FirstEntry = 2

// Form gives a fresh directory the membership of a founding quorum. All founders are given the same.
// Index 1 is taken by an empty snapshot that holds the membership, as the raft package advises: a
// later voter gets it with a snapshot and not by replaying a log that it was no part of.
func Form(r *Recovered, voters []uint64) {
	invariant.Always(r.Fresh && r.Failure() == nil, "a directory that holds a log is formed")
	invariant.Always(slices.Contains(voters, r.Voter), "a quorum is formed without its founder")
	r.Hard, r.Start = HardState{Term: 1, Commit: 1}, Position{FirstEntry - 1, 1}
	r.Members = ConfState{Voters: slices.Sorted(slices.Values(voters))}
}

// MemberChange is a change of the membership. Lists are disjoint.
type MemberChange struct {
	AddLearner []uint64 // strangers that begin to follow
	Promote    []uint64 // learners that become voters
	Remove     []uint64 // members
}

// ProposeMembers proposes a change, as Propose does. ok is false also while another change is under
// way, or if this one does not fit the membership as of now or would leave no voter.
//
// Nor does a leader remove itself; it has to Transfer the lead first. What it proposed behind its own
// removal could be in its log alone. If it went before the other of two voters knew that the removal
// is in force, that one would need its vote, and not get it for the shorter log, for ever.
func (q *Quorum) ProposeMembers(c MemberChange) (index uint64, ok bool) {
	if !q.Leading() || slices.Contains(c.Remove, q.voter) || q.changing > q.applied.Index || q.members.joint() || !q.members.admit(&c) {
		return 0, false
	}
	if q.node.ProposeConfChange(c.proto()) != nil {
		return 0, false
	}
	q.proposed++
	q.changing = q.proposed
	return q.proposed, true
}

func (c *MemberChange) proto() *pb.ConfChangeV2 {
	change := &pb.ConfChangeV2{}
	add := func(kind pb.ConfChangeType, ids []uint64) {
		for _, id := range ids {
			change.Changes = append(change.Changes,
				&pb.ConfChangeSingle{Type: kind.Enum(), NodeId: new(id)})
		}
	}
	add(pb.ConfChangeAddLearnerNode, c.AddLearner)
	add(pb.ConfChangeAddNode, c.Promote)
	add(pb.ConfChangeRemoveNode, c.Remove)
	return change
}

// joint says whether the membership is between two.
func (c *ConfState) joint() bool { return len(c.VotersOutgoing) > 0 }

// admit says whether a change fits: raft panics when it applies one that does not.
func (c *ConfState) admit(m *MemberChange) bool {
	voters := len(c.Voters) + len(m.Promote)
	var seen []uint64
	for _, id := range slices.Concat(m.AddLearner, m.Promote, m.Remove) {
		if id == 0 || id>>63 != 0 || slices.Contains(seen, id) {
			return false
		}
		seen = append(seen, id)
	}
	for _, id := range m.AddLearner {
		if c.Contains(id) {
			return false
		}
	}
	for _, id := range m.Promote {
		if !slices.Contains(c.Learners, id) {
			return false
		}
	}
	for _, id := range m.Remove {
		if !c.Contains(id) {
			return false
		}
		if slices.Contains(c.Voters, id) {
			voters--
		}
	}
	return len(seen) > 0 && voters > 0
}

// Contains says whether the id is a member of any kind.
func (c *ConfState) Contains(id uint64) bool {
	return slices.Contains(c.Voters, id) || slices.Contains(c.Learners, id) ||
		slices.Contains(c.VotersOutgoing, id) || slices.Contains(c.LearnersNext, id)
}

// only says whether the voter is the only one that counts.
func (c *ConfState) only(voter uint64) bool {
	return len(c.Voters) == 1 && c.Voters[0] == voter && !c.joint()
}

// applyMembers changes the membership if that is what the entry says.
func (q *Quorum) applyMembers(p *pb.Entry) {
	var change pb.ConfChangeI
	switch EntryKind(p.GetType()) {
	case EntryConfChange:
		c := &pb.ConfChange{}
		q.must(proto.Unmarshal(p.GetData(), c))
		change = c
	case EntryConfChangeV2:
		c := &pb.ConfChangeV2{}
		q.must(proto.Unmarshal(p.GetData(), c))
		change = c
	default:
		return
	}
	q.setMembers(confStateOf(q.node.ApplyConfChange(change)))
}

// setMembers notes the membership as of the last applied entry.
func (q *Quorum) setMembers(c ConfState) {
	q.members = c
	known := &q.storage.members
	q.storage.strangers = slices.ContainsFunc(
		slices.Concat(c.Voters, c.Learners, c.VotersOutgoing, c.LearnersNext),
		func(id uint64) bool { return !known.Contains(id) })
}

// removed says whether this voter leads a quorum that it is no voter of any more: it was elected with
// its own removal in the log. It proposes nothing, and goes on until another can take over: if it
// just stepped down, those who are left might not know for a while that it is gone.
func (q *Quorum) removed() bool {
	return !slices.Contains(q.members.Voters, q.voter) && q.Role() == Leader
}

// lastChange returns the index of the last change of the membership among entries, or 0.
func lastChange(entries []*pb.Entry) uint64 {
	for _, e := range slices.Backward(entries) {
		if EntryKind(e.GetType()) != EntryNormal {
			return e.GetIndex()
		}
	}
	return 0
}
