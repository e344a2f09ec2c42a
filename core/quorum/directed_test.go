package quorum

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// steady returns a cluster of this many voters that has a leader, and that.
func steady(t *testing.T, voters int) (*cluster, *member) {
	t.Helper()
	c := newCluster(1, voters)
	c.config.SnapshotEntries = 1000
	require.True(t, c.calm(100), c)
	return c, c.pick(leading)
}

// others returns the running members but for m.
func (c *cluster) others(m *member) []*member {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(o *member) bool { return o == m || o.q == nil })
}

// among lets some members exchange what they have to say, and loses everything else. edit may change
// or lose a message; nil for neither.
func (c *cluster) among(some []*member, edit func(*pb.Message) bool) {
	has := func(id uint64) bool {
		return slices.ContainsFunc(some, func(m *member) bool { return m.id == id && m.q != nil })
	}
	for range 10_000 {
		for _, m := range some {
			for m.q != nil && m.world.Outstanding() > 0 {
				m.work(false)
			}
		}
		if len(c.network) == 0 {
			return
		}
		p := &c.network[0]
		keep := has(p.from) && has(p.to)
		if keep && edit != nil && p.data != nil {
			m := decode(p.data)
			keep = edit(m)
			p.data, _ = proto.Marshal(m)
		}
		if !keep {
			c.network = c.network[1:]
			continue
		}
		c.deliver(0, false)
	}
	violate("L", "they never come to rest")
}

func decode(data []byte) *pb.Message {
	m := &pb.Message{}
	if err := proto.Unmarshal(data, m); err != nil {
		panic(err)
	}
	return m
}

// elect makes m lead by the votes of some others, and lets it say nothing more: what is edited out is
// lost.
func (c *cluster) elect(t *testing.T, m *member, voters []*member, edit func(*pb.Message) bool) {
	t.Helper()
	all := append([]*member{m}, voters...)
	for range 50 {
		for _, v := range voters {
			for range c.config.ElectionTicks {
				c.tick(v)
			}
		}
		c.network = nil // nobody else stands
		for range 2 * c.config.ElectionTicks {
			c.tick(m)
		}
		c.among(all, edit)
		if m.q.Role() == Leader {
			return
		}
	}
	require.FailNow(t, "not elected", "%v", c)
}

// votesOnly loses everything but votes.
func votesOnly(m *pb.Message) bool {
	switch m.GetType() {
	case pb.MsgVote, pb.MsgVoteResp, pb.MsgPreVote, pb.MsgPreVoteResp:
		return true
	}
	return false
}

// TestEntryOfAnOldTermIsNotCommittedByCounting is figure 8 of the Raft paper: an entry of an old term
// lies on a majority and is still replaced, and therefore must not have been committed.
func TestEntryOfAnOldTermIsNotCommittedByCounting(t *testing.T) {
	mustRun(t, 1, func() {
		c, _ := steady(t, 5)
		s1, s2, s3, s4, s5 := c.nodes[0], c.nodes[1], c.nodes[2], c.nodes[3], c.nodes[4]
		// (a) s1 leads and has an entry on s2 alone.
		c.elect(t, s1, []*member{s2, s3, s4, s5}, nil)
		require.True(t, c.propose(s1))
		c.among([]*member{s1, s2}, nil)
		entry := s1.q.storage.last()
		require.Equal(t, entry, s2.q.storage.last())
		require.Equal(t, entry.Index-1, s1.q.Applied().Index)
		// (b) s1 goes; s5 leads by others, and has another entry at this index.
		s1.stop(true)
		c.elect(t, s5, []*member{s3, s4}, votesOnly)
		c.among([]*member{s5}, nil)
		require.Equal(t, entry.Index, s5.q.storage.last().Index)
		require.Greater(t, s5.q.storage.last().Term, entry.Term)
		// (c) s5 goes; s1 leads again and brings its old entry, and only that, to s3.
		s5.stop(true)
		s1.boot()
		c.among([]*member{s1}, nil)
		oldOnly := func(m *pb.Message) bool {
			if m.GetType() == pb.MsgApp {
				m.Entries = slices.DeleteFunc(m.Entries, func(e *pb.Entry) bool {
					return e.GetTerm() > entry.Term
				})
			}
			return true
		}
		c.elect(t, s1, []*member{s2, s3, s4}, votesOnly)
		for range 3 {
			c.tick(s1)
			c.among([]*member{s1, s2, s3}, oldOnly)
		}
		for _, m := range []*member{s1, s2, s3} {
			term, err := m.q.storage.Term(entry.Index)
			require.NoError(t, err)
			require.Equal(t, entry.Term, term, "it is on a majority")
			require.Less(t, m.q.storage.hard.Commit, entry.Index, "and not committed")
		}
		// (d) s1 goes; s5 leads and replaces it everywhere.
		s1.stop(true)
		s5.boot()
		c.among([]*member{s5}, nil)
		c.elect(t, s5, []*member{s2, s3, s4}, nil)
		require.True(t, c.calm(100), c)
		for _, m := range c.nodes {
			term, err := m.q.storage.Term(entry.Index)
			require.NoError(t, err)
			require.Greater(t, term, entry.Term)
		}
	})
}

// TestEntryOfTheOwnTermOnAMajorityStands is the other end of figure 8.
func TestEntryOfTheOwnTermOnAMajorityStands(t *testing.T) {
	mustRun(t, 1, func() {
		c, _ := steady(t, 5)
		s1, s2, s3, s4, s5 := c.nodes[0], c.nodes[1], c.nodes[2], c.nodes[3], c.nodes[4]
		c.elect(t, s1, []*member{s2, s3, s4, s5}, nil)
		require.True(t, c.propose(s1))
		c.among([]*member{s1, s2, s3}, nil)
		entry := s1.q.Applied()
		require.Equal(t, s1.q.storage.last(), entry)
		s1.stop(true)
		all := []*member{s2, s3, s4, s5}
		for range 20 {
			for range 2 * c.config.ElectionTicks {
				c.tick(s5)
			}
			c.among(all, nil)
			require.NotEqual(t, Leader, s5.q.Role(), "it lacks a committed entry")
			for _, m := range all {
				c.tick(m)
			}
		}
		require.True(t, c.calm(100), c)
		term, err := s5.q.storage.Term(entry.Index)
		require.NoError(t, err)
		require.Equal(t, entry.Term, term)
	})
}

// TestWipedVoterReturnsAsSomebodyElse: who lost its directory has forgotten a vote. Under its old id
// it could give another in the same term, and there would be two leaders.
func TestWipedVoterReturnsAsSomebodyElse(t *testing.T) {
	mustRun(t, 1, func() {
		c, _ := steady(t, 3)
		a, b, wiped := c.nodes[0], c.nodes[1], c.nodes[2]
		c.elect(t, a, []*member{wiped}, nil)
		require.True(t, c.propose(a))
		c.among([]*member{a, wiped}, nil)
		term := a.q.Term()
		require.Equal(t, HardState{term, a.id, wiped.record.hard.Commit}, wiped.record.hard)

		wiped.stop(true)
		fresh := c.settle(wiped.place)
		fresh.boot()
		c.among([]*member{fresh}, nil)
		require.NotEqual(t, wiped.id, fresh.id)
		request, err := proto.Marshal(&pb.Message{
			Type: pb.MsgVote.Enum(), From: new(b.id), To: new(wiped.id), Term: new(term),
			Index: new(uint64(99)), LogTerm: new(term),
		})
		require.NoError(t, err)
		require.ErrorContains(t, fresh.q.Receive(request), "this is voter 4")
		fresh.turn()
		require.Empty(t, c.network)
		require.Zero(t, fresh.q.storage.hard)

		// Now the leader takes it in, and the old one leaves in the same change.
		propose := func(change MemberChange) {
			c.drain()
			_, ok := a.q.ProposeMembers(change)
			require.True(t, ok, c)
			a.turn()
			require.True(t, c.calm(100), c)
		}
		propose(MemberChange{AddLearner: []uint64{fresh.id}})
		require.Equal(t, []uint64{fresh.id}, a.q.Members().Learners)
		propose(MemberChange{Promote: []uint64{fresh.id}, Remove: []uint64{wiped.id}})
		require.Equal(t, ConfState{Voters: []uint64{a.id, b.id, fresh.id}}, a.q.Members())
		joint := slices.ContainsFunc(a.q.storage.entries, func(e *pb.Entry) bool {
			return EntryKind(e.GetType()) == EntryConfChangeV2 && len(e.GetData()) == 0
		})
		require.True(t, joint, "two members changed at once, so both memberships had a say for a while")
		b.stop(true)
		require.True(t, c.propose(a))
		before := a.q.Applied().Index
		c.drain()
		require.Greater(t, a.q.Applied().Index, before, "the new voter counts")
	})
}

// TestOlderCopyOfADirectoryIsNoticed: who acknowledged something and does not have it must not vote.
func TestOlderCopyOfADirectoryIsNoticed(t *testing.T) {
	c, leader := steady(t, 3)
	rolled := c.others(leader)[0]
	names := rolled.world.Disk.Names(Directory)
	require.Len(t, names, 1)
	name := Directory + "/" + names[0]
	copied := rolled.world.Disk.Content(name)
	err := attempt(func() {
		require.True(t, c.propose(leader))
		c.drain()
		rolled.stop(true)
		rolled.world.Disk.SetContent(name, copied)
		rolled.record.init()
		rolled.boot()
		for range 10 {
			c.drain()
			c.tick(leader)
		}
	})
	require.ErrorContains(t, err, ErrForgotten.Error())
}
