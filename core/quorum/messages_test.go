package quorum

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/env"
	"stet/core/invariant"
)

func encode(m *pb.Message) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

func TestMessageThatIsNoneOfAPeerIsRefused(t *testing.T) {
	mustRun(t, 1, func() {
		_, m := steady(t, 2)
		other := uint64(3) - m.id
		good := func() *pb.Message {
			return &pb.Message{
				Type: pb.MsgApp.Enum(), From: new(other), To: new(m.id), Term: new(uint64(1)),
				Index: new(uint64(4)), LogTerm: new(uint64(1)),
			}
		}
		entry := func(index, term uint64) *pb.Entry { return &pb.Entry{Index: new(index), Term: new(term)} }
		require.NoError(t, m.q.Receive(encode(good())))
		for why, spoil := range map[string]func(*pb.Message){
			"to voter 9":          func(m *pb.Message) { m.To = new(uint64(9)) },
			"from 0":              func(m *pb.Message) { m.From = new(uint64(0)) },
			"this is voter":       func(p *pb.Message) { p.From = new(m.id) },
			"from 922337203685":   func(m *pb.Message) { m.From = new(uint64(1 << 63)) },
			"of type MsgProp":     func(m *pb.Message) { m.Type = pb.MsgProp.Enum() },
			"of type MsgHup":      func(m *pb.Message) { m.Type = pb.MsgHup.Enum() },
			"MsgTransferLeader":   func(m *pb.Message) { m.Type = pb.MsgTransferLeader.Enum() },
			"MsgStorageAppend":    func(m *pb.Message) { m.Type = pb.MsgStorageAppend.Enum() },
			"of term 0":           func(m *pb.Message) { m.Term = nil },
			"snapshot of index 0": func(m *pb.Message) { m.Type = pb.MsgSnap.Enum() },
			"entry 7 of term 1":   func(m *pb.Message) { m.Entries = []*pb.Entry{entry(5, 1), entry(7, 1)} },
			"entry 5 of term 2":   func(m *pb.Message) { m.Entries = []*pb.Entry{entry(5, 2)} },
			"entry 5 of term 0":   func(m *pb.Message) { m.Entries = []*pb.Entry{entry(5, 0)} },
		} {
			bad := good()
			spoil(bad)
			before := m.q.Status()
			require.ErrorContains(t, m.q.Receive(encode(bad)), why)
			require.Equal(t, before, m.q.Status())
		}
		require.ErrorContains(t, m.q.Receive([]byte{1}), "a raft message")
	})
}

func TestLeadIsHandedOverWithoutAPause(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		term := m.q.Term()
		m.q.Transfer(0)
		m.turn()
		c.drain()
		heir := c.pick(leading)
		require.NotNil(t, heir)
		require.NotSame(t, m, heir)
		require.Equal(t, term+1, heir.q.Term())
		require.Equal(t, heir.id, m.q.Leader())
		require.Equal(t, Follower, m.q.Role())
	})
}

// TestReadIsConfirmedByAMajorityOnly: who was cut off must not answer from what it knew.
func TestReadIsConfirmedByAMajorityOnly(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		follower := c.others(m)[0]
		require.False(t, follower.q.Read(1))
		c.read(m)
		c.drain()
		require.Equal(t, 1, c.count.Reads)
		require.Empty(t, m.asked)

		c.cut[m.place] = true
		c.read(m)
		for range 3 * c.config.ElectionTicks {
			c.tick(m)
			c.drain()
		}
		require.Equal(t, 1, c.count.Reads)
		require.False(t, m.q.Read(99), "it has stepped down")
	})
}

// TestNothingHappensBeforeTheFirstSync: what recovery has read may have been in memory alone.
func TestNothingHappensBeforeTheFirstSync(t *testing.T) {
	mustRun(t, 1, func() {
		c, m := steady(t, 3)
		m.stop(false)
		m.boot()
		require.False(t, m.q.Begun())
		require.Equal(t, Status{}.DurableHard, m.q.Status().DurableHard)
		require.Equal(t, m.q.storage.start, m.q.Applied())
		for range 10 * c.config.ElectionTicks {
			c.tick(m)
		}
		require.Empty(t, c.network)
		c.among([]*member{m}, nil)
		require.True(t, m.q.Begun())
		require.Greater(t, m.q.Applied().Index, m.q.storage.start.Index)
	})
}

func TestFailedQuorumIsSilent(t *testing.T) {
	mustRun(t, 1, func() {
		_, m := steady(t, 3)
		q, out := m.q, &m.out
		q.Handle(&env.Event{Kind: env.EventFileDone, FileOp: env.FileWrite, Err: env.EIO}, out)
		require.Equal(t, env.EIO, q.Failed())
		out.Reset()
		q.Tick()
		q.Transfer(0)
		q.Unreachable(2)
		q.SnapshotFailed(2)
		q.SnapshotChunk(SnapshotChunk{}, out)
		_, ok := q.ReadSnapshot(q.storage.start, 0, 1, out)
		require.False(t, ok || q.Read(1) || q.Leading())
		require.NoError(t, q.Receive(nil))
		require.Equal(t, Progress{}, q.Advance(out))
		require.Empty(t, out.File)
		require.Empty(t, out.Jobs)
	})
}

// FuzzReceive gives a voter whatever there is. It may find that raft's rules are broken, and must not
// break otherwise.
func FuzzReceive(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		c := newCluster(r.Uint64(), 3)
		for range 400 {
			c.step([]int{0, 1, 2, 3}[r.IntN(4)])
			if n := len(c.network); n > 0 && c.network[n-1].data != nil && r.IntN(20) == 0 {
				f.Add(c.network[n-1].data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCluster(1, 3)
		m := c.nodes[0]
		c.among([]*member{m}, nil)
		defer func() {
			if r := recover(); r != nil {
				if _, known := r.(invariant.Violation); !known {
					panic(r)
				}
			}
		}()
		if m.q.Receive(data) == nil {
			m.q.Advance(&m.out)
		}
	})
}
