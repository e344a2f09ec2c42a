package controller

import (
	"slices"
	"testing"
	"time"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// call asks a machine and returns the answer.
func (m *machine) call(body kmsg.Request) (answer kmsg.Response) {
	m.ask(body, func(res kmsg.Response) { answer = res })
	require.True(m.cluster.t, m.cluster.until(20*time.Second, func() bool { return answer != nil }))
	return answer
}

func additionRequest(m *machine) *kmsg.AddRaftVoterRequest {
	r := kmsg.NewPtrAddRaftVoterRequest()
	r.Version, r.AckWhenCommitted, r.TimeoutMillis = 1, true, 10_000
	r.VoterID, r.VoterDirectoryID = int32(m.node), m.c.directory
	l := kmsg.NewAddRaftVoterRequestListener()
	l.Name, l.Host, l.Port = controllerListener, address(m.node)[:2], 9093
	r.Listeners = append(r.Listeners, l)
	return r
}

func removalRequest(node int, directory [16]byte) *kmsg.RemoveRaftVoterRequest {
	r := kmsg.NewPtrRemoveRaftVoterRequest()
	r.VoterID, r.VoterDirectoryID = int32(node), directory
	return r
}

// voters returns the nodes of the quorum's voters and observers, as the leader tells them.
func (s *cluster) voters() (voters, observers []int32) {
	p := s.leader().quorum(0).Topics[0].Partitions[0]
	for i := range p.CurrentVoters {
		voters = append(voters, p.CurrentVoters[i].ReplicaID)
	}
	for i := range p.Observers {
		observers = append(observers, p.Observers[i].ReplicaID)
	}
	return voters, observers
}

func TestVotersAreAddedAndRemoved(t *testing.T) {
	s := newCluster(t, 1, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	fourth := s.add(4, 3)
	fourth.config.AutoJoin = false
	fourth.start()
	s.run(time.Second)
	add := func(r *kmsg.AddRaftVoterRequest) kafka.ErrorCode {
		return kafka.ErrorCode(s.leader().call(r).(*kmsg.AddRaftVoterResponse).ErrorCode)
	}
	remove := func(r *kmsg.RemoveRaftVoterRequest) kafka.ErrorCode {
		return kafka.ErrorCode(s.leader().call(r).(*kmsg.RemoveRaftVoterResponse).ErrorCode)
	}
	directory := fourth.c.directory
	require.Equal(t, kafka.VoterNotFound, remove(removalRequest(4, directory)))
	require.Equal(t, kafka.None, add(additionRequest(fourth)))
	voters, observers := s.voters()
	require.ElementsMatch(t, []int32{1, 2, 3, 4}, voters)
	require.Empty(t, observers)
	require.Equal(t, kafka.DuplicateVoter, add(additionRequest(fourth)))
	require.Equal(t, kafka.VoterNotFound, remove(removalRequest(4, [16]byte{1})), "another directory")
	require.Equal(t, kafka.VoterNotFound, remove(removalRequest(3, directory)), "another node")
	require.NotEqual(t, fourth, s.leader())
	require.Equal(t, kafka.None, remove(removalRequest(4, directory)))
	voters, _ = s.voters()
	require.ElementsMatch(t, []int32{1, 2, 3}, voters)
	require.Equal(t, kafka.VoterNotFound, remove(removalRequest(4, directory)))
}

func TestRequestsForVotersThatCanNotBeAreRefused(t *testing.T) {
	s := newCluster(t, 2, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	leader := s.leader()
	other := s.machines[leader.node%3]
	wrong := "another"
	for _, x := range []struct {
		change func(*kmsg.AddRaftVoterRequest)
		code   kafka.ErrorCode
	}{
		{func(r *kmsg.AddRaftVoterRequest) { r.ClusterID = &wrong }, kafka.InconsistentClusterID},
		{func(r *kmsg.AddRaftVoterRequest) { r.VoterDirectoryID = [16]byte{} }, kafka.InvalidRequest},
		{func(r *kmsg.AddRaftVoterRequest) { r.VoterID = -1 }, kafka.InvalidRequest},
		{func(*kmsg.AddRaftVoterRequest) {}, kafka.DuplicateVoter},
		{func(r *kmsg.AddRaftVoterRequest) { r.VoterID, r.VoterDirectoryID[0] = int32(leader.node), 9 }, kafka.DuplicateVoter},
	} {
		r := additionRequest(other)
		x.change(r)
		require.EqualValues(t, x.code, leader.call(r).(*kmsg.AddRaftVoterResponse).ErrorCode)
	}
	require.EqualValues(t, kafka.NotController, other.call(additionRequest(other)).(*kmsg.AddRaftVoterResponse).ErrorCode)
	r := removalRequest(other.node, other.c.directory)
	require.EqualValues(t, kafka.NotController, other.call(r).(*kmsg.RemoveRaftVoterResponse).ErrorCode)
	r = removalRequest(other.node, other.c.directory)
	r.ClusterID = &wrong
	require.EqualValues(t, kafka.InconsistentClusterID, leader.call(r).(*kmsg.RemoveRaftVoterResponse).ErrorCode)
	voters, _ := s.voters()
	require.ElementsMatch(t, []int32{1, 2, 3}, voters)
}

// A leader that is to be removed hands over; whoever asks its successor removes it.
func TestLeaderCanBeRemoved(t *testing.T) {
	s := newCluster(t, 3, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	s.run(time.Second)
	old := s.leader()
	old.config.AutoJoin = false
	old.c.config.AutoJoin = false
	code := old.call(removalRequest(old.node, old.c.directory)).(*kmsg.RemoveRaftVoterResponse).ErrorCode
	require.EqualValues(t, kafka.NotController, code)
	require.True(t, s.until(2*time.Second, func() bool { return s.leader() != nil && s.leader() != old }))
	code = s.leader().call(removalRequest(old.node, old.c.directory)).(*kmsg.RemoveRaftVoterResponse).ErrorCode
	require.EqualValues(t, kafka.None, code)
	voters, _ := s.voters()
	require.Len(t, voters, 2)
	require.NotContains(t, voters, int32(old.node))
}

// The leader joined after the list of the newcomer was written: the others say where it listens.
func TestNewcomerFindsALeaderThatItsListLacks(t *testing.T) {
	s := newCluster(t, 4, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	fourth := s.add(4, 3)
	fourth.start()
	member := func(node int32) func() bool {
		return func() bool {
			voters, _ := s.voters()
			return slices.Contains(voters, node)
		}
	}
	require.True(t, s.until(20*time.Second, member(4)))
	s.leader().c.life.quorum.Transfer(fourth.c.voter)
	require.True(t, s.until(20*time.Second, func() bool { return s.leader() == fourth }))
	s.add(5, 3).start()
	require.True(t, s.until(20*time.Second, member(5)))
}

// A leader that joined while a member was down finds it, and is not found by it: whom the member has
// asked before named another leader.
func TestMemberFindsALeaderThatJoinedWhileItWasDown(t *testing.T) {
	s := newCluster(t, 6, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	old := s.leader()
	followers := slices.DeleteFunc(slices.Clone(s.machines), func(m *machine) bool { return m == old })
	behind, other := followers[0], followers[1]
	behind.crash(false)
	newcomers := []*machine{s.add(4, 3), s.add(5, 3)}
	for _, m := range newcomers {
		m.start()
		require.True(t, s.until(20*time.Second, func() bool {
			voters, _ := s.voters()
			return slices.Contains(voters, int32(m.node))
		}))
	}
	s.isolate([]int{behind.node}, false)
	delete(s.cut, [2]int{behind.node, other.node})
	delete(s.cut, [2]int{other.node, behind.node})
	behind.start()
	asked := func() bool {
		p := behind.c.peers.ofNode(kafka.BrokerID(other.node))
		return p.hello != nil && p.hello.LeaderID == int32(old.node)
	}
	require.True(t, s.until(2*time.Second, asked))
	old.c.life.quorum.Transfer(newcomers[0].c.voter)
	require.True(t, s.until(5*time.Second, func() bool { return s.leader() == newcomers[0] }))
	require.True(t, asked())
	old.crash(false)
	s.heal()
	require.True(t, s.until(5*time.Second, func() bool {
		return behind.c.image.Index() == newcomers[0].c.image.Index()
	}))
}

// Nobody tells a member that it was removed while it was down: it asks.
func TestMemberThatWasRemovedWhileItWasDownComesBack(t *testing.T) {
	for name, learns := range map[string]bool{"voter": false, "learner": true} {
		t.Run(name, func(t *testing.T) {
			s := newCluster(t, 5, 3)
			s.startAll()
			require.True(t, s.until(10*time.Second, s.formed))
			gone := s.add(4, 3)
			gone.start()
			member := func() bool {
				m := s.leader().c.life.quorum.Members()
				own := gone.c.life.quorum
				if own == nil || !m.Contains(gone.c.voter) {
					return false
				}
				known := own.Members()
				return known.Contains(gone.c.voter) && slices.Contains(m.Learners, gone.c.voter) == learns
			}
			require.True(t, s.until(20*time.Second, member))
			leader, removal := s.leader(), removalRequest(4, gone.c.directory)
			gone.crash(false)
			code := leader.call(removal).(*kmsg.RemoveRaftVoterResponse).ErrorCode
			require.EqualValues(t, kafka.None, code)
			term := leader.c.term
			gone.start()
			require.True(t, s.until(time.Second, func() bool { return gone.c.life.quorum != nil }))
			own := gone.c.life.quorum.Members()
			require.True(t, own.Contains(gone.c.voter), "it does not know")
			require.True(t, s.until(10*time.Second, func() bool {
				return slices.Contains(leader.c.life.quorum.Members().Voters, gone.c.voter)
			}))
			require.Equal(t, term, leader.c.term, "it disturbs nobody")
		})
	}
}
