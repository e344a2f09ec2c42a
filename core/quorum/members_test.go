package quorum

import (
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
)

func TestChangeThatDoesNotFitIsRefused(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		fresh := c.addPlace()
		fresh.boot()
		other := c.others(m)[0].id
		for name, change := range map[string]MemberChange{
			"nothing":                    {},
			"a member is added":          {AddLearner: []uint64{other}},
			"nobody is added":            {AddLearner: []uint64{0}},
			"raft's own id is added":     {AddLearner: []uint64{1 << 63}},
			"a stranger is promoted":     {Promote: []uint64{fresh.id}},
			"a voter is promoted":        {Promote: []uint64{other}},
			"a stranger is removed":      {Remove: []uint64{fresh.id}},
			"one is named twice":         {AddLearner: []uint64{fresh.id, fresh.id}},
			"the leader removes itself":  {Remove: []uint64{m.id}},
			"one is added and removed":   {AddLearner: []uint64{fresh.id}, Remove: []uint64{fresh.id}},
			"two changes, one of no use": {AddLearner: []uint64{fresh.id}, Promote: []uint64{other}},
		} {
			_, ok := m.q.ProposeMembers(change)
			require.False(t, ok, name)
		}
		_, ok := c.others(m)[0].q.ProposeMembers(MemberChange{AddLearner: []uint64{fresh.id}})
		require.False(t, ok, "only a leader changes anything")

		index, ok := m.q.ProposeMembers(MemberChange{AddLearner: []uint64{fresh.id}})
		require.True(t, ok)
		_, ok = m.q.ProposeMembers(MemberChange{Remove: []uint64{other}})
		require.False(t, ok, "one at a time")
		m.turn()
		require.True(t, c.calm(100), c)
		require.GreaterOrEqual(t, m.q.Applied().Index, index)
		require.Equal(t, []uint64{fresh.id}, m.q.Members().Learners)
	})
}

// TestChangeIsAppliedOnlyWhenNoCrashForgetsThatItIsCommitted: whoever is told that a voter is removed
// may switch it off.
func TestChangeIsAppliedOnlyWhenNoCrashForgetsThatItIsCommitted(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 2)
		other := c.others(m)[0]
		index, ok := m.q.ProposeMembers(MemberChange{Remove: []uint64{other.id}})
		require.True(t, ok)
		m.turn()
		for m.q.Applied().Index < index {
			require.Equal(t, []uint64{1, 2}, m.q.Members().Voters)
			if len(c.network) > 0 {
				c.deliver(0, false)
			}
			m.work(false)
			other.work(false)
		}
		require.GreaterOrEqual(t, m.q.writer.durableHard.Commit, index)
		other.stop(true)
		m.stop(true)
		m.boot()
		c.among([]*member{m}, nil)
		require.True(t, m.q.Leading(), "it is the only one, and knows it")
	})
}

// TestRemovedVoterDisturbsNobody: it does not know that it is removed, and goes on standing.
func TestRemovedVoterDisturbsNobody(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		gone := c.others(m)[0]
		c.cut[gone.place] = true
		_, ok := m.q.ProposeMembers(MemberChange{Remove: []uint64{gone.id}})
		require.True(t, ok)
		m.turn()
		require.True(t, func() bool {
			for range 20 {
				c.drain()
				c.tick(m)
			}
			return len(m.q.Members().Voters) == 2
		}())
		c.cut[gone.place] = false
		term := m.q.Term()
		for range 100 {
			for _, n := range c.nodes {
				c.tick(n)
			}
			c.drain()
		}
		require.True(t, m.q.Leading())
		require.Equal(t, term, m.q.Term())
		known := gone.q.Members()
		require.True(t, known.Contains(gone.id), "nobody has told it")
	})
}

// TestWhatAChangeSaysOfTheOneBefore: a change in the log proves that the one before is in force.
func TestWhatAChangeSaysOfTheOneBefore(t *testing.T) {
	kinds := func(kinds ...EntryKind) (r Recovered) {
		for i, k := range kinds {
			r.Entries = append(r.Entries, Entry{Index: uint64(11 + i), Term: 1, Kind: k})
		}
		return r
	}
	for want, r := range map[uint64]Recovered{
		0:  kinds(EntryNormal, EntryConfChangeV2, EntryNormal),
		11: kinds(EntryConfChange, EntryNormal, EntryConfChangeV2),
		13: kinds(EntryConfChange, EntryNormal, EntryConfChangeV2, EntryConfChangeV2, EntryNormal),
	} {
		require.Equal(t, want, r.settled())
	}
}

func TestChangesAreDescribedForPeople(t *testing.T) {
	for want, change := range map[string]MemberChange{
		"l4": {AddLearner: []uint64{4}}, "v4 r3": {Promote: []uint64{4}, Remove: []uint64{3}}, "": {},
	} {
		kind, data, err := pb.MarshalConfChange(change.proto())
		require.NoError(t, err)
		got, err := DescribeChange(&Entry{Kind: EntryKind(kind), Data: data})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := DescribeChange(&Entry{Data: []byte("x")})
	require.Error(t, err)
	_, err = DescribeChange(&Entry{Kind: EntryConfChangeV2, Data: []byte("x")})
	require.Error(t, err)
}

func TestRecoveryBelievesWhatTheEntriesProve(t *testing.T) {
	world := newWorld(1)
	require.NoError(t, recoverAs(world, 1, 10).Failure()) // makes the directory
	s := newStorage(&Recovered{
		Hard: HardState{Term: 2, Commit: 1}, Start: Position{1, 1},
		Members: ConfState{Voters: []uint64{5}},
		Entries: []Entry{
			{Index: 2, Term: 1, Kind: EntryConfChangeV2},
			{Index: 3, Term: 1},
			{Index: 4, Term: 2, Kind: EntryConfChangeV2},
			{Index: 5, Term: 3},
		},
	})
	w := writer{generation: 1}
	world.Disk.SetContent(logName(1), w.appendBase(nil, VoterOf([16]byte{10}), s))
	found := recoverAs(world, 1, 10)
	require.NoError(t, found.Failure())
	require.Equal(t, HardState{Term: 3, Commit: 2}, found.Hard, "a change proves the one before")
}

// TestLeaderSendsNothingThatItCouldForgetWhileAChangeIsUnderWay: see sendOrHold.
func TestLeaderSendsNothingThatItCouldForgetWhileAChangeIsUnderWay(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		entries := func() (n int) {
			for _, p := range c.network {
				n += len(decode(p.data).GetEntries())
			}
			return n
		}
		require.True(t, c.propose(m))
		require.Equal(t, 2, entries(), "one for each of the others, before it is durable here")
		c.drain()
		_, ok := m.q.ProposeMembers(MemberChange{Remove: []uint64{c.others(m)[0].id}})
		require.True(t, ok)
		require.True(t, c.propose(m))
		require.Zero(t, entries())
		for m.world.Outstanding() > 0 {
			require.Less(t, m.q.writer.durable.Index, m.q.storage.last().Index)
			require.Zero(t, entries())
			m.work(false)
		}
		require.Equal(t, 4, entries())
	})
}

// TestLeaderThatWasRemovedHandsOver: it is elected with its own removal in the log, which it commits.
func TestLeaderThatWasRemovedHandsOver(t *testing.T) {
	mustRun(t, 1, func() {
		c, _ := steady(t, 3)
		a, b, third := c.nodes[0], c.nodes[1], c.nodes[2]
		c.elect(t, a, []*member{b, third}, nil)
		c.drain()
		c.cut[third.place] = true
		index, ok := a.q.ProposeMembers(MemberChange{Remove: []uint64{b.id}})
		require.True(t, ok)
		a.turn()
		for b.q.storage.last().Index < index { // b has it, and a does not know that
			a.work(false)
			if len(c.network) > 0 {
				c.deliver(0, false)
			}
			require.Less(t, a.q.storage.hard.Commit, index)
		}
		c.network = nil
		a.stop(true)
		c.cut[third.place] = false
		c.among([]*member{b}, nil)
		led := false
		for range 100 {
			c.tick(b)
			c.tick(third)
			c.drain()
			led = led || b.record.led
			require.False(t, b.q.Leading(), "it may not propose anything")
		}
		require.True(t, led)
		require.Equal(t, []uint64{a.id, third.id}, third.q.Members().Voters)
		a.boot()
		require.True(t, c.calm(100), c)
		require.NotEqual(t, Leader, b.q.Role())
	})
}
