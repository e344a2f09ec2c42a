package controller

import (
	"testing"
	"time"

	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A voter comes back where no list has it. It tells the leader, which could not reach it, and the
// others find it by the metadata; after the next move they find it again.
func TestVoterThatMovesTellsWhereItListens(t *testing.T) {
	s := newCluster(t, 11, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	s.run(time.Second)
	moved := s.machines[s.leader().node%3]
	for _, addr := range []string{"m1:9093", "m2:9093", address(moved.node)} {
		moved.crash(false)
		moved.addr, moved.config.Advertise = addr, addr
		moved.start()
		require.True(t, s.until(20*time.Second, func() bool {
			q := moved.c.life.quorum
			if q == nil || s.leader() == nil || q.Silence() > 2*moved.config.Quorum.HeartbeatTicks {
				return false
			}
			v := s.leader().c.image.Voter(moved.c.voter)
			return v != nil && addressOf(v.Endpoints) == addr && moved.c.image.Index() == s.leader().c.image.Index()
		}), "%s", addr)
	}
	s.leader().c.life.quorum.Transfer(moved.c.voter)
	require.True(t, s.until(10*time.Second, func() bool { return s.leader() == moved }))
}

func updateRequest(m *machine, term uint64) *kmsg.UpdateRaftVoterRequest {
	r := kmsg.NewPtrUpdateRaftVoterRequest()
	r.CurrentLeaderEpoch = int32(term)
	r.VoterID, r.VoterDirectoryID = int32(m.node), m.c.directory
	l := kmsg.NewUpdateRaftVoterRequestListener()
	l.Name, l.Host, l.Port = controllerListener, "elsewhere", 9095
	r.Listeners = append(r.Listeners, l)
	return r
}

func TestUpdatesOfVotersThatCanNotBeAreRefused(t *testing.T) {
	s := newCluster(t, 12, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	leader := s.leader()
	other := s.machines[leader.node%3]
	wrong := "another"
	ask := func(m *machine, r *kmsg.UpdateRaftVoterRequest) *kmsg.UpdateRaftVoterResponse {
		return m.call(r).(*kmsg.UpdateRaftVoterResponse)
	}
	for name, x := range map[string]struct {
		change func(*kmsg.UpdateRaftVoterRequest)
		code   kafka.ErrorCode
	}{
		"cluster":   {func(r *kmsg.UpdateRaftVoterRequest) { r.ClusterID = &wrong }, kafka.InconsistentClusterID},
		"old term":  {func(r *kmsg.UpdateRaftVoterRequest) { r.CurrentLeaderEpoch-- }, kafka.FencedLeaderEpoch},
		"next term": {func(r *kmsg.UpdateRaftVoterRequest) { r.CurrentLeaderEpoch++ }, kafka.UnknownLeaderEpoch},
		"directory": {func(r *kmsg.UpdateRaftVoterRequest) { r.VoterDirectoryID[0]++ }, kafka.VoterNotFound},
		"node":      {func(r *kmsg.UpdateRaftVoterRequest) { r.VoterID = int32(leader.node) }, kafka.VoterNotFound},
		"nowhere":   {func(r *kmsg.UpdateRaftVoterRequest) { r.Listeners = nil }, kafka.InvalidRequest},
		"no port":   {func(r *kmsg.UpdateRaftVoterRequest) { r.Listeners[0].Port = 0 }, kafka.InvalidRequest},
		"no range":  {func(r *kmsg.UpdateRaftVoterRequest) { r.KRaftVersionFeature.MinSupportedVersion = 1 }, kafka.InvalidRequest},
	} {
		r := updateRequest(other, leader.c.term)
		x.change(r)
		require.EqualValues(t, x.code, ask(leader, r).ErrorCode, name)
	}
	refused := ask(other, updateRequest(other, leader.c.term))
	require.EqualValues(t, kafka.NotController, refused.ErrorCode)
	require.EqualValues(t, leader.node, refused.CurrentLeader.LeaderID)
	require.EqualValues(t, leader.c.term, refused.CurrentLeader.LeaderEpoch)

	require.EqualValues(t, kafka.None, ask(leader, updateRequest(other, leader.c.term)).ErrorCode)
	require.Equal(t, []metadata.Endpoint{{Name: controllerListener, Host: "elsewhere", Port: 9095}},
		leader.c.image.Voter(other.c.voter).Endpoints, "committed when it is answered")
	require.True(t, s.until(20*time.Second, func() bool {
		return addressOf(leader.c.image.Voter(other.c.voter).Endpoints) == address(other.node)
	}), "and the voter sets right what somebody else said of it")
}
