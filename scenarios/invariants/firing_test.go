package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"
)

func TestATruthfulTwinPasses(t *testing.T) {
	r := newRig(t)
	v, _ := r.twin(2)
	r.cluster.Controller(v)
	require.Empty(t, r.texts)
}

func TestTwoLeadersOfATermFireQ1(t *testing.T) {
	r := newRig(t)
	v, _ := r.twin(2)
	v.Status.Role = quorum.Leader
	r.firing(t, "Q1", v)
}

func TestAnotherEntryFiresQ2(t *testing.T) {
	r := newRig(t)
	for name, lie := range map[string]func(e *quorum.Entry){
		"data": func(e *quorum.Entry) { e.Data = []byte("x") },
		"term": func(e *quorum.Entry) { e.Term++ },
		"kind": func(e *quorum.Entry) { e.Kind = quorum.EntryConfChangeV2 },
	} {
		v, l := r.twin(2)
		lie(&l.entries[1])
		r.cluster.Wiped(2)
		t.Run(name, func(t *testing.T) { r.firing(t, "Q2", v) })
	}
}

func TestALeaderWithoutWhatWasCommittedFiresQ3(t *testing.T) {
	r := newRig(t)
	v, l := r.twin(2)
	last := r.cluster.Ledger.Last()
	v.Status.Role, v.Status.Hard.Term = quorum.Leader, last.Term+1
	l.terms[last.Index] = last.Term - 1
	r.firing(t, "Q3", v)
}

func TestWhatIsAppliedAndNotDurableFiresQ4(t *testing.T) {
	r := newRig(t)
	v, l := r.twin(2)
	v.Status.Members.Voters = []uint64{99}
	r.next(v, l, nil)
	r.firing(t, "Q4", v)
	require.Len(t, r.failed, 2, "neither on its own medium nor on a majority's")
}

func TestEntriesOutOfOrderFireQ6(t *testing.T) {
	r := newRig(t)
	v, _ := r.twin(2)
	r.cluster.Controller(v)
	back, _ := r.twin(2)
	back.Status.Applied = r.cluster.Ledger.at(3).position()
	back.Image = r.cluster.Ledger.Image(3)
	r.firing(t, "Q6", back)

	r.cluster.Wiped(2)
	gap, l := r.twin(2)
	l.entries = append(l.entries[:1:1], l.entries[2:]...)
	r.firing(t, "Q6", gap)

	r.cluster.Wiped(2)
	stale, _ := r.twin(2)
	stale.Image = r.cluster.Ledger.Image(3)
	r.firing(t, "Q6", stale)
}

// Of what is applied in the turn in which a snapshot takes its place only the image is left.
func TestEntriesThatASnapshotReplacesInTheSameTurnAreJudgedByTheImage(t *testing.T) {
	r := newRig(t)
	v, l := r.twin(2)
	last := v.Status.Last
	v.Status.Start, l.first, l.entries = last, last.Index+1, nil
	v.Status.Applied = r.cluster.Ledger.at(last.Index - 1).position()
	v.Image = r.cluster.Ledger.Image(last.Index - 1)
	r.cluster.checkApplied(v, &seen{applied: founding})
	require.Empty(t, r.texts)
	v.Image = r.cluster.Ledger.Image(last.Index - 2)
	r.cluster.checkApplied(v, &seen{applied: founding})
	require.Equal(t, []string{"Q6"}, r.failed)
}

func TestASnapshotThatSaysSomethingElseFiresQ7(t *testing.T) {
	r := newRig(t)
	files := r.machine.Disk.Entries(raftDirectory())
	at := quorum.Position{}
	for _, f := range files {
		if quorum.IsSnapshotName(f.Name) {
			b, _ := r.machine.Disk.Bytes(env.Path{Name: quorum.Directory + "/" + f.Name})
			at, _, _, _ = quorum.InspectSnapshot(f.Name, b)
		}
	}
	require.Greater(t, at.Index, founding.Index, "the node has made a snapshot")
	v, l := r.twin(2)
	v.Status.Start, l.first = at, at.Index+1
	r.cluster.Controller(v)
	require.Empty(t, r.texts)

	r.cluster.Wiped(2)
	v.Status.Start.Term++
	r.firing(t, "Q7", v)

	r.cluster.Wiped(2)
	v.Status.Start = at
	e := r.cluster.Ledger.at(at.Index)
	e.Image, _ = metadata.Empty().Apply(metadata.Index(at.Index), &metadata.ClusterRecord{ID: "another"})
	r.firing(t, "Q7", v)
}

func TestALogThatWentBackFiresQ8(t *testing.T) {
	for name, lie := range map[string]func(v *Voter, l *liar){
		"shorter": func(v *Voter, _ *liar) { v.Status.Last.Index-- },
		"term":    func(v *Voter, _ *liar) { v.Status.Hard.Term-- },
		"ghost":   func(v *Voter, l *liar) { l.terms[v.Status.Last.Index]--; v.Status.Start = founding },
		"vote":    func(v *Voter, _ *liar) { v.Status.Hard.Vote = 5 },
		"voter":   func(v *Voter, _ *liar) { v.Status.Voter = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			v, _ := r.twin(2)
			v.Status.Hard.Vote = 99
			r.cluster.Controller(v)
			require.Empty(t, r.texts)
			again, l := r.twin(2)
			again.Life, again.Status.Hard.Vote = 2, 99
			again.Status.Applied, again.Image = founding, metadata.Empty()
			lie(again, l)
			r.firing(t, "Q8", again)
		})
	}
}

func TestAnEntryThatWasNotSyncedMayBeMissing(t *testing.T) {
	r := newRig(t)
	v, _ := r.twin(2)
	r.cluster.Controller(v)
	longer, l := r.twin(2)
	longer.Status.Last.Index++
	l.terms[longer.Status.Last.Index] = longer.Status.Last.Term
	longer.Status.FileBytes += 50 // not synced
	r.cluster.Controller(longer)
	for life, lost := range []bool{false, true} {
		again, l := r.twin(2)
		again.Life = life + 2
		again.Status.Applied, again.Image, again.Status.Generation = founding, metadata.Empty(), uint64(life+2)
		if !lost {
			again.Status.Last.Index++
			l.terms[again.Status.Last.Index] = again.Status.Last.Term
		}
		again.Status.SyncedBytes = 0
		r.cluster.Controller(again)
	}
	require.Empty(t, r.texts)
}

func TestAControllerThatActsTooEarlyFiresQ10(t *testing.T) {
	r := newRig(t)
	v, l := r.twin(2)
	l.entries = l.entries[:2]
	v.Status.Hard.Term++
	v.Ready = true
	v.Status.Applied = r.cluster.Ledger.at(3).position()
	v.Image = r.cluster.Ledger.Image(3)
	r.firing(t, "Q10", v)
}

func TestABrokerThatKnowsSomethingElseFiresQ10(t *testing.T) {
	r := newRig(t)
	last := metadata.Index(r.cluster.Ledger.Last().Index)
	ahead, err := r.cluster.Ledger.Image(uint64(last)).Apply(last + 1)
	require.NoError(t, err)
	other, err := metadata.Empty().Apply(last, &metadata.ClusterRecord{ID: "another"})
	require.NoError(t, err)
	for _, image := range []*metadata.Image{ahead, other} {
		r.failed = nil
		r.cluster.Broker(2, metadata.BuildLevels(), image)
		require.Equal(t, []string{"Q10"}, r.failed)
	}
}

func TestAnImageThatTheLogDoesNotMakeFiresR12(t *testing.T) {
	r := newRig(t)
	v, _ := r.twin(2)
	last := metadata.Index(r.cluster.Ledger.Last().Index)
	image, err := metadata.Empty().Apply(last, &metadata.ClusterRecord{ID: "another"})
	require.NoError(t, err)
	v.Image = image
	r.firing(t, "R12", v)
}

func TestAssignmentsThatContradictThemselvesFireR7(t *testing.T) {
	r := newRig(t)
	good := metadata.Partition{Replicas: []kafka.BrokerID{1, 2, 3}}
	good.ISR, good.Leader, good.LastKnownLeader = []kafka.BrokerID{1, 3}, 1, kafka.NoBroker
	for name, c := range map[string]struct {
		fires bool
		lie   func(p *metadata.Partition)
	}{
		"sound":             {false, func(*metadata.Partition) {}},
		"none in sync":      {false, func(p *metadata.Partition) { p.ISR, p.Leader = nil, kafka.NoBroker }},
		"few in sync":       {false, func(p *metadata.Partition) { p.ISR, p.ELR = p.ISR[:1], p.ISR[1:] }},
		"no leader":         {true, func(p *metadata.Partition) { p.Leader = kafka.NoBroker }},
		"stranger in ISR":   {true, func(p *metadata.Partition) { p.ISR = append(p.ISR, 7) }},
		"stranger in ELR":   {true, func(p *metadata.Partition) { p.ISR, p.ELR = p.ISR[:1], []kafka.BrokerID{7} }},
		"in both":           {true, func(p *metadata.Partition) { p.ISR, p.ELR = p.ISR[:1], p.ISR[:1] }},
		"fenced in ISR":     {true, func(p *metadata.Partition) { p.ISR = append(p.ISR, 2) }},
		"leader not in ISR": {true, func(p *metadata.Partition) { p.Leader = 2 }},
		"needless ELR":      {true, func(p *metadata.Partition) { p.ELR = []kafka.BrokerID{2} }},
	} {
		p := good
		c.lie(&p)
		id := kafka.TopicID{5}
		after, err := metadata.Empty().Apply(3,
			&metadata.ClusterRecord{ID: "x"},
			&metadata.BrokerRecord{Broker: metadata.Broker{ID: 1, Epoch: 3}},
			&metadata.BrokerRecord{Broker: metadata.Broker{ID: 2, Epoch: 3, Fenced: true}},
			&metadata.BrokerRecord{Broker: metadata.Broker{ID: 3, Epoch: 3}},
			&metadata.TopicRecord{ID: id, Name: "orders"},
			&metadata.PartitionRecord{TopicID: id, Partition: p})
		require.NoError(t, err)
		r.failed = nil
		r.cluster.checkAssignment(metadata.Empty(), after)
		require.Equal(t, c.fires, len(r.failed) > 0, "%s: %v", name, r.texts)
	}
}

// frameOf is a request with one raft message.
func frameOf(m *raftpb.Message) []byte {
	data, _ := proto.Marshal(m)
	return wire.AppendRequest(nil, 1, "n", &wire.QuorumMessagesRequest{
		FromVoter: int64(m.GetFrom()), ToVoter: int64(m.GetTo()), Messages: [][]byte{data},
	})
}

func TestPromisesThatAreNotDurableFireQ5(t *testing.T) {
	r := newRig(t)
	state := r.cluster.medium(1)
	require.NotZero(t, state.voter)
	last := state.last()
	message := func(t raftpb.MessageType, term, index, logTerm uint64) *raftpb.Message {
		return &raftpb.Message{
			Type: &t, From: &state.voter, To: new(uint64(5)), Term: &term, Index: &index, LogTerm: &logTerm,
		}
	}
	term := state.term()
	for _, c := range []struct {
		fires bool
		m     *raftpb.Message
	}{
		{false, message(raftpb.MsgApp, term, last.Index, last.Term)},
		{true, message(raftpb.MsgApp, term+1, last.Index, last.Term)},
		{false, message(raftpb.MsgAppResp, term, last.Index, 0)},
		{true, message(raftpb.MsgAppResp, term, last.Index+1, 0)},
		{true, message(raftpb.MsgVoteResp, term, 0, 0)}, // it has voted for itself
		{true, message(raftpb.MsgVoteResp, term+1, 0, 0)},
		{false, message(raftpb.MsgPreVoteResp, term+1, 0, 0)},
		{false, message(raftpb.MsgPreVote, term+1, last.Index, last.Term)},
		{false, message(raftpb.MsgVote, term, last.Index, last.Term)},
		{true, message(raftpb.MsgVote, term+1, last.Index, last.Term)},
		{true, message(raftpb.MsgVote, term, last.Index+1, last.Term)},
	} {
		r.failed, r.texts, r.cluster.votes = nil, nil, votes{}
		r.cluster.Sent(1, frameOf(c.m))
		require.Equal(t, c.fires, len(r.failed) > 0, "%v: %v", c.m.GetType(), r.texts)
	}
}

func TestTwoVotesInATermFireQ5(t *testing.T) {
	r := newRig(t)
	r.cluster.checkVote(1, ballot{3, 8}, 4)
	r.cluster.checkVote(1, ballot{3, 9}, 5)
	r.cluster.checkVote(1, ballot{3, 8}, 4)
	require.Empty(t, r.failed)
	r.cluster.checkVote(1, ballot{3, 8}, 5)
	require.Equal(t, []string{"Q5"}, r.failed)
}

func TestAJointMembershipNeedsBothMajorities(t *testing.T) {
	in := map[uint64]bool{1: true, 2: true}
	require.True(t, isQuorum(&quorum.ConfState{Voters: []uint64{1, 2, 3}}, in))
	require.False(t, isQuorum(&quorum.ConfState{Voters: []uint64{1, 3, 4}}, in))
	require.False(t, isQuorum(&quorum.ConfState{Voters: []uint64{1, 2, 3}, VotersOutgoing: []uint64{1, 3, 4}}, in))
	require.False(t, isQuorum(&quorum.ConfState{}, in))
}

func TestANodeThatActsOnALevelItDoesNotSupportFiresM4(t *testing.T) {
	r := newRig(t)
	old := metadata.Levels{Min: metadata.LevelFirst, Max: metadata.LevelFirst}
	v, _ := r.twin(2)
	v.Levels = old
	r.firing(t, "M4", v)

	r.failed = nil
	r.cluster.Broker(2, old, v.Image)
	require.Equal(t, []string{"M4"}, r.failed)
}

func TestALevelThatANodeDoesNotSupportFiresM4(t *testing.T) {
	old := metadata.Levels{Min: metadata.LevelFirst, Max: metadata.LevelFirst}.Features()
	for name, r := range map[string]metadata.Record{
		"broker": &metadata.BrokerRecord{Broker: metadata.Broker{ID: 5, Epoch: -1, Features: old}},
		"voter":  &metadata.VoterRecord{Voter: metadata.Voter{ID: 5, Features: old}},
	} {
		c, f := forced(t, metadata.LevelTopicsDated, r)
		c.checkForce(2, c.Ledger.at(3))
		require.Equal(t, []string{"M4"}, f.failed, name)
	}
}

func TestARecordOfALevelThatIsNotInForceFiresM4(t *testing.T) {
	c, f := forced(t, metadata.LevelFirst, &metadata.TopicRecord{ID: kafka.TopicID{1}, Name: "t", Created: 7})
	c.checkForce(2, c.Ledger.at(3))
	require.Equal(t, []string{"M4"}, f.failed)
}

// forced is a ledger with a level in force from entry 2 on, and an entry 3 with a record.
func forced(t *testing.T, level int16, r metadata.Record) (*Cluster, *found) {
	f := &found{checked: map[string]int{}}
	c := New(f, func() int64 { return 0 })
	image := metadata.Empty()
	for _, r := range []metadata.Record{&metadata.ClusterRecord{ID: "c", Features: metadata.Features{Level: level}}, r} {
		e := quorum.Entry{Index: c.Ledger.Last().Index + 1, Term: 1, Data: metadata.AppendEntry(nil, r)}
		var err error
		image, err = image.Apply(metadata.Index(e.Index), r)
		require.NoError(t, err)
		c.Ledger.entries = append(c.Ledger.entries, Committed{e, image, 0, needOf(0, &e, image)})
	}
	c.checkForce(2, c.Ledger.at(2))
	require.Empty(t, f.failed)
	return c, f
}
