package invariants

import (
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/quorum"
	"stet/core/wire"
	"stet/sim"
)

// votes has whom a voter has voted for, in each term, as its answers said.
type votes map[ballot]uint64

type ballot struct{ voter, term uint64 }

// Sent is Q5 for a request that leaves a machine, without its length prefix: a message to another
// voter promises nothing that the medium of its sender does not have, at the moment at which it
// leaves. And no voter votes twice in a term, across all its lives.
//
// What a message depends on: its term, but for those of a pre-vote, which ask about a term that
// nobody has entered; a granted vote on the vote; a candidacy on the candidate's own vote and on the
// end of its log; an acceptance on the entry that it names.
func (c *Cluster) Sent(p sim.Place, frame []byte) {
	h, body, err := wire.ParseHeader(wire.ControllerListener, frame)
	if err != nil || h.Key != wire.KeyQuorumMessages {
		return
	}
	r := &wire.QuorumMessagesRequest{}
	r.SetVersion(h.Version)
	if err := r.ReadFrom(body); err != nil {
		c.findings.Fails("Q5", "%s sends messages that do not decode: %v", p, err)
		return
	}
	state := c.medium(p)
	for _, data := range r.Messages {
		m := &raftpb.Message{}
		if err := proto.Unmarshal(data, m); err != nil {
			c.findings.Fails("Q5", "%s sends a message that does not decode: %v", p, err)
			continue
		}
		c.checkMessage(p, m, state)
	}
}

func (c *Cluster) checkMessage(p sim.Place, m *raftpb.Message, state *medium) {
	t := m.GetType()
	if t == raftpb.MsgPreVote || t == raftpb.MsgPreVoteResp {
		return
	}
	c.findings.Checked("Q5")
	fails := func(what string) {
		c.findings.Fails("Q5", "%s sends %s of term %d, index %d to voter %x: %s; its medium has term %d, vote %x, "+
			"entries to %d", p, t, m.GetTerm(), m.GetIndex(), m.GetTo(), what, state.hard.Term, state.hard.Vote,
			state.last().Index)
	}
	if m.GetTerm() > state.term() {
		fails("the term is not durable")
	}
	switch {
	case t == raftpb.MsgVoteResp && !m.GetReject():
		if m.GetTerm() == state.hard.Term && state.hard.Vote != m.GetTo() {
			fails("the vote is not durable")
		}
		c.checkVote(p, ballot{m.GetFrom(), m.GetTerm()}, m.GetTo())
	case t == raftpb.MsgVote:
		if m.GetTerm() == state.hard.Term && state.hard.Vote != m.GetFrom() {
			fails("the vote for itself is not durable")
		}
		if !state.has(quorum.Position{Index: m.GetIndex(), Term: m.GetLogTerm()}) {
			fails("the end of its log is not durable")
		}
		c.checkVote(p, ballot{m.GetFrom(), m.GetTerm()}, m.GetFrom())
	case t == raftpb.MsgAppResp && !m.GetReject():
		if m.GetIndex() > state.last().Index {
			fails("the entry is not durable")
		}
	}
}

func (c *Cluster) checkVote(p sim.Place, b ballot, candidate uint64) {
	if other, voted := c.votes[b]; voted && other != candidate {
		c.findings.Fails("Q5", "%s: voter %x votes for %x in term %d, and has voted for %x", p, b.voter, candidate,
			b.term, other)
	}
	c.votes[b] = candidate
}

// last returns the end of the log.
func (m *medium) last() quorum.Position {
	if n := len(m.entries); n > 0 {
		return quorum.Position{Index: m.entries[n-1].Index, Term: m.entries[n-1].Term}
	}
	return m.start
}

// term is the term that a recovery would start from: entries of a term prove that it was entered.
func (m *medium) term() uint64 { return max(m.hard.Term, m.last().Term) }
