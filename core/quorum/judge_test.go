package quorum

import (
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// judge knows what every voter did, and holds it against what raft promises: checks Q1 to Q8.
type judge struct {
	leaders map[uint64]life     // by term
	votes   map[ballot]uint64   // candidate
	chains  map[Position]uint64 // of the log up to an entry

	// What was committed: terms and chains by index. Index 1 is the empty state.
	terms  []uint64
	chain  []uint64
	atMost uint64 // the last index that is committed
}

// life is one run of a voter.
type life struct{ voter, owner uint64 }

type ballot struct{ voter, term uint64 }

func (j *judge) init() {
	j.leaders, j.votes, j.chains = map[uint64]life{}, map[ballot]uint64{}, map[Position]uint64{}
	j.terms, j.chain, j.atMost = []uint64{0, 1}, []uint64{0, 0}, 1
}

// record is what a voter has promised, in all of its lives.
type record struct {
	hard    HardState
	stable  []uint64 // terms of what it has durably, by index; 0 where a snapshot covers it
	applied uint64
	led     bool
}

func (r *record) init() { r.stable = []uint64{0} }

// follow takes over what is durable now.
func (r *record) follow(q *Quorum) {
	s := q.storage
	for i := min(uint64(len(r.stable)), s.last().Index+1) - 1; i > s.start.Index; i-- {
		if term, _ := s.Term(i); term != r.stable[i] {
			r.stable = r.stable[:i] // replaced, or about to be
		}
	}
	if uint64(len(r.stable)) > s.last().Index+1 {
		r.stable = r.stable[:s.last().Index+1]
	}
	for i := uint64(len(r.stable)); i <= q.writer.durable.Index; i++ {
		term, _ := s.Term(i) // 0 below the snapshot
		r.stable = append(r.stable, term)
	}
	if hard := q.writer.durableHard; hard != (HardState{}) {
		if hard.Term < r.hard.Term ||
			hard.Term == r.hard.Term && r.hard.Vote != 0 && hard.Vote != r.hard.Vote {
			violate("Q5", "voter %d had %v durably and goes on with %v", q.voter, r.hard, hard)
		}
		r.hard = hard
	}
}

func (r *record) dies(m *member) { r.follow(m.q) }

// holds says whether the voter has this entry durably.
func (r *record) holds(at Position) bool {
	return at.Index < uint64(len(r.stable)) &&
		(r.stable[at.Index] == at.Term || r.stable[at.Index] == 0)
}

// recovered checks Q8 and Q5: nothing durable is forgotten, and nothing comes back.
func (j *judge) recovered(m *member, found *Recovered) {
	if err := found.Failure(); err != nil {
		violate("Q8", "voter %d: %v", m.id, err)
	}
	r := &m.record
	if found.Hard.Term < r.hard.Term ||
		found.Hard.Term == r.hard.Term && r.hard.Vote != 0 && found.Hard.Vote != r.hard.Vote {
		violate("Q5", "voter %d had %v durably and comes back with %v", m.id, r.hard, found.Hard)
	}
	if last := found.Last().Index; last+1 < uint64(len(r.stable)) {
		violate("Q8", "voter %d had entry %d durably; its log ends at %d", m.id, len(r.stable)-1, last)
	}
	term := found.Start.Term
	for i := range found.Entries {
		e := &found.Entries[i]
		if e.Index < uint64(len(r.stable)) && r.stable[e.Index] != 0 && r.stable[e.Index] != e.Term {
			violate("Q8", "voter %d had entry %d of term %d durably and comes back with term %d",
				m.id, e.Index, r.stable[e.Index], e.Term)
		}
		if e.Term < term {
			violate("Q8", "voter %d comes back with entry %d of term %d behind term %d",
				m.id, e.Index, e.Term, term)
		}
		term = e.Term
	}
	r.led = false
	j.body(m, found.Start, parseState(found.Snapshot, found.Start))
}

// body checks Q7: a snapshot is what a replay makes.
func (j *judge) body(m *member, at Position, s state) {
	if at.Index == 0 {
		return
	}
	if at.Index > j.atMost || s.index != at.Index || s.chain != j.chain[at.Index] ||
		at.Term != j.terms[at.Index] {
		violate("Q7", "voter %d: the snapshot at %v holds %v, which is not what was committed",
			m.id, at, s)
	}
}

func (j *judge) installed(m *member, s *Installed) {
	if m.q.Leading() {
		violate("Q7", "voter %d leads and loads a snapshot", m.id)
	}
	if s.At.Index <= m.record.applied {
		violate("Q6", "voter %d goes back to %d", m.id, s.At.Index)
	}
	j.body(m, s.At, m.state)
	m.record.applied = s.At.Index
}

// applied checks Q6: each entry once, in order, and the same everywhere.
func (j *judge) applied(m *member, e *Entry) {
	if e.Index != m.record.applied+1 {
		violate("Q6", "voter %d applies %d after %d", m.id, e.Index, m.record.applied)
	}
	m.record.applied = e.Index
	if e.Index <= j.atMost && (e.Term != j.terms[e.Index] ||
		link(m.state.chain, e) != j.chain[e.Index]) {
		violate("Q6", "voter %d applies another entry %d", m.id, e.Index)
	}
	if e.Index > m.q.storage.hard.Commit {
		violate("Q6", "voter %d applies %d, which is not committed", m.id, e.Index)
	}
	if durable := m.q.writer.durable.Index; e.Index > durable {
		violate("Q4", "voter %d applies %d and is durable up to %d", m.id, e.Index, durable)
	}
}

// look judges a voter after a turn. before is the membership that it began the turn with.
func (j *judge) look(m *member, before *ConfState) {
	j.log(m, before)
	m.record.follow(m.q)
	j.lead(m)
}

// log checks Q2, log matching, and takes what is newly committed.
func (j *judge) log(m *member, before *ConfState) {
	s := m.q.storage
	if s.start.Index > j.atMost || s.start.Index > 0 && s.start.Term != j.terms[s.start.Index] {
		violate("Q2", "voter %d begins at %v, which was never committed", m.id, s.start)
	}
	if s.hard.Commit > s.last().Index {
		violate("Q2", "voter %d knows of %d committed entries and has %d",
			m.id, s.hard.Commit, s.last().Index)
	}
	chain := j.chain[s.start.Index]
	for _, p := range s.entries {
		e := entryOf(p)
		chain = link(chain, &e)
		at := Position{e.Index, e.Term}
		if old, seen := j.chains[at]; seen && old != chain {
			violate("Q2", "voter %d has another log up to entry %d of term %d", m.id, e.Index, e.Term)
		}
		j.chains[at] = chain
		if e.Index > s.hard.Commit {
			continue
		}
		if e.Index <= j.atMost {
			if j.chain[e.Index] != chain {
				violate("Q2", "voter %d has another committed entry %d", m.id, e.Index)
			}
			continue
		}
		j.commit(m, before, at, chain)
	}
}

// commit checks Q4 when an entry is first seen to be committed: a quorum has it durably.
func (j *judge) commit(m *member, before *ConfState, at Position, chain uint64) {
	now := m.q.Members()
	m.record.follow(m.q)
	if !m.c.hasQuorum(&now, at) && !m.c.hasQuorum(before, at) {
		violate("Q4", "voter %d commits entry %d, which no quorum of %v has durably", m.id, at.Index, now)
	}
	j.terms, j.chain = append(j.terms, at.Term), append(j.chain, chain)
	j.atMost = at.Index
	m.c.count.Committed++
}

// hasQuorum says whether a majority of each half has the entry durably.
func (c *cluster) hasQuorum(conf *ConfState, at Position) bool {
	for _, half := range [][]uint64{conf.Voters, conf.VotersOutgoing} {
		have := 0
		for _, id := range half {
			if c.all[id-1].record.holds(at) {
				have++
			}
		}
		if len(half) > 0 && have <= len(half)/2 {
			return false
		}
	}
	return len(conf.Voters) > 0
}

// lead checks Q1, one leader a term, and Q3, a leader has all that was committed.
func (j *judge) lead(m *member) {
	status := m.q.Status()
	led := m.record.led
	m.record.led = status.Role == Leader
	if !m.record.led {
		return
	}
	term, self := m.q.Term(), life{m.id, uint64(m.owner)}
	if other, taken := j.leaders[term]; taken && other != self {
		violate("Q1", "%v and %v lead term %d", other, self, term)
	}
	j.leaders[term] = self
	if led {
		return
	}
	m.c.count.Elections++
	at := Position{j.atMost, j.terms[j.atMost]}
	if have, err := m.q.storage.Term(at.Index); err == nil && have == at.Term ||
		at.Index < m.q.storage.start.Index {
		return
	}
	violate("Q3", "voter %d leads term %d without the committed entry %d of term %d",
		m.id, term, at.Index, at.Term)
}

// leaves checks Q5: no message leaves before what it depends on is durable.
func (j *judge) leaves(m *member, msg Message) {
	var p pb.Message
	if err := proto.Unmarshal(msg.Data, &p); err != nil || p.GetTo() != msg.To || p.GetFrom() != m.id {
		violate("Q5", "voter %d sends nonsense", m.id)
	}
	w := &m.q.writer
	kind, term := p.GetType(), p.GetTerm()
	future := kind == pb.MsgPreVote || kind == pb.MsgPreVoteResp && !p.GetReject()
	if term > w.durableHard.Term && !future {
		violate("Q5", "voter %d sends %s of term %d before that term is durable", m.id, kind, term)
	}
	switch kind {
	case pb.MsgAppResp:
		if !p.GetReject() && p.GetIndex() > w.durable.Index {
			violate("Q5", "voter %d acknowledges %d and is durable up to %d",
				m.id, p.GetIndex(), w.durable.Index)
		}
	case pb.MsgVote:
		if p.GetIndex() > w.durable.Index {
			violate("Q5", "voter %d stands with %d and is durable up to %d",
				m.id, p.GetIndex(), w.durable.Index)
		}
		j.vote(m, term, m.id)
	case pb.MsgVoteResp:
		if !p.GetReject() {
			j.vote(m, term, msg.To)
		}
	}
}

// vote checks Q5: one vote a term, in all lives, and durable before it is told.
func (j *judge) vote(m *member, term, candidate uint64) {
	b := ballot{m.id, term}
	if other, voted := j.votes[b]; voted && other != candidate {
		violate("Q5", "voter %d votes for %d and for %d in term %d", m.id, other, candidate, term)
	}
	j.votes[b] = candidate
	hard := m.q.writer.durableHard
	if hard.Term < term || hard.Term == term && hard.Vote != candidate {
		violate("Q5", "voter %d tells a vote for %d in term %d that is not durable", m.id, candidate, term)
	}
}

// lives says whether the voter's directory is still there.
func (c *cluster) lives(id uint64) bool {
	return slices.ContainsFunc(c.nodes, func(m *member) bool { return m.id == id })
}
