package controller

import (
	"testing"
	"time"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// staffed returns a cluster of controllers with brokers 101 and so on, and a topic that all of them
// host.
func staffed(t *testing.T, controllers, brokers int) (*cluster, []*broker) {
	s := newCluster(t, uint64(controllers*10+brokers), controllers)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	var all []*broker
	for i := range brokers {
		all = append(all, s.live(int32(101+i)))
	}
	ready := func() bool {
		for _, b := range all {
			if b.fenced {
				return false
			}
		}
		return true
	}
	require.True(t, s.until(10*time.Second, ready))
	m := creationRequest(12, "orders")
	m.Topics[0].ReplicationFactor = int16(brokers)
	s.leader().ask(m, func(res kmsg.Response) {
		require.Zero(t, res.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
	})
	s.run(time.Second)
	return s, all
}

// leaders returns who leads the partitions of the topic.
func (s *cluster) leaders() map[kafka.BrokerID]int {
	found := map[kafka.BrokerID]int{}
	topic := s.leader().c.Image().Topic("orders")
	for i := range topic.PartitionCount() {
		found[topic.Partition(kafka.PartitionID(i)).Leader]++
	}
	return found
}

func (s *cluster) fenced(b *broker) bool {
	return s.leader().c.Image().Broker(kafka.BrokerID(b.id)).Fenced
}

func TestBrokerThatFallsSilentIsFencedAndComesBack(t *testing.T) {
	for _, controllers := range []int{1, 3} {
		s, brokers := staffed(t, controllers, 2)
		silent := brokers[0]
		silent.down = true
		began := s.now
		require.True(t, s.until(20*time.Second, func() bool { return s.fenced(silent) }))
		after := time.Duration(s.now - began)
		timeout := s.machines[0].config.SessionTimeout
		require.Greater(t, after, timeout-time.Second)
		require.Less(t, after, timeout+time.Second)
		require.Equal(t, map[kafka.BrokerID]int{102: 12}, s.leaders())
		silent.down = false
		require.True(t, s.until(5*time.Second, func() bool { return !s.fenced(silent) }))
	}
}

// The broker in the process of the only controller has no session that could end, even if others
// have: it lives and dies with the controller.
func TestTheBrokerInTheProcessOfTheOnlyControllerIsNotFenced(t *testing.T) {
	s := newCluster(t, 1, 1)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	own, other := s.live(1), s.live(101)
	require.True(t, s.until(10*time.Second, func() bool { return !own.fenced && !other.fenced }))
	own.down, other.down = true, true
	s.run(30 * time.Second)
	require.False(t, s.fenced(own))
	require.True(t, s.fenced(other))
	require.Equal(t, env.Never, s.machines[0].c.sessions.deadline())
}

func TestBrokersThatFallSilentTogetherDoNotInheritFromEachOther(t *testing.T) {
	s, brokers := staffed(t, 3, 3)
	require.Len(t, s.leaders(), 3)
	until := func(b *broker) env.Mono {
		all := &s.leader().c.sessions
		i, ok := all.find(kafka.BrokerID(b.id))
		require.True(t, ok)
		return all.all[i].until
	}
	brokers[0].down, brokers[1].down = true, true
	s.run(100 * time.Millisecond)
	s.leader().c.sessions.all[0].until = until(brokers[1]) // in one turn
	require.True(t, s.until(20*time.Second, func() bool { return s.fenced(brokers[0]) }))
	require.True(t, s.fenced(brokers[1]))
	require.Equal(t, map[kafka.BrokerID]int{103: 12}, s.leaders())
}

func TestSecondProcessWithTheIDOfALiveBrokerIsRefused(t *testing.T) {
	s, brokers := staffed(t, 3, 2)
	second := &broker{cluster: s, id: 101, incarnation: 2, directory: 2, fenced: true}
	second.beat()
	s.run(5 * time.Second)
	require.EqualValues(t, kafka.DuplicateBrokerRegistration, second.refusal)
	require.Zero(t, second.epoch)
	first := brokers[0]
	first.down = true
	require.True(t, s.until(20*time.Second, func() bool { return second.epoch != 0 }))
	require.True(t, second.epoch > first.epoch)
	require.NotContains(t, s.leaders(), kafka.BrokerID(101))
}

func TestBrokerThatShutsDownGivesUpItsPartitionsFirst(t *testing.T) {
	s, brokers := staffed(t, 3, 2)
	leaving := brokers[0]
	leaving.stopping = true
	require.True(t, s.until(5*time.Second, func() bool { return leaving.down }))
	require.Equal(t, map[kafka.BrokerID]int{102: 12}, s.leaders())
	require.True(t, s.fenced(leaving))
	next := s.live(101) // its next life need not wait for the end of a session
	next.incarnation = 2
	s.run(time.Second)
	require.NotZero(t, next.epoch)
}

// A controller that begins to lead does not know when its predecessor heard of a broker.
func TestElectionBeginsSessionsAnew(t *testing.T) {
	s, brokers := staffed(t, 3, 2)
	silent := brokers[0]
	silent.down = true
	timeout := s.machines[0].config.SessionTimeout
	s.run(timeout - time.Second)
	old := s.leader()
	old.crash(true)
	require.True(t, s.until(5*time.Second, func() bool { return s.leader() != nil }))
	began := s.now
	require.True(t, s.until(20*time.Second, func() bool { return s.fenced(silent) }))
	require.Greater(t, time.Duration(s.now-began), timeout-time.Second)
	require.False(t, s.fenced(brokers[1]))
}

func (s *cluster) session(b *broker) *session {
	all := &s.leader().c.sessions
	i, _ := all.find(kafka.BrokerID(b.id))
	return &all.all[i]
}

// A process that is killed leaves its connection. One that lives is back at once.
func TestBrokerWhoseConnectionEndsHasTheGraceToComeBack(t *testing.T) {
	s, brokers := staffed(t, 3, 2)
	hangUp := func(b *broker) {
		s.leader().turn(env.Event{Kind: env.EventConnClosed, Conn: s.session(b).conn})
	}
	hangUp(brokers[0])
	s.run(5 * time.Second)
	require.False(t, s.fenced(brokers[0]), "it was back within the grace")

	brokers[0].down = true
	s.run(500 * time.Millisecond)
	hangUp(brokers[0])
	began := s.now
	require.True(t, s.until(20*time.Second, func() bool { return s.fenced(brokers[0]) }))
	after := time.Duration(s.now - began)
	require.Greater(t, after, 900*time.Millisecond)
	require.Less(t, after, 1500*time.Millisecond)
	require.False(t, s.fenced(brokers[1]))
}

// Whoever did not run itself can not tell who was silent meanwhile.
func TestAControllerThatWasKeptFromRunningLetsSessionsBeginAnew(t *testing.T) {
	s, brokers := staffed(t, 3, 2)
	c := s.leader().c
	until := s.session(brokers[0]).until
	for _, on := range []env.Mono{c.sessions.deadline(), c.sessions.deadline().Add(lateness)} {
		c.now.Mono = on
		require.False(t, c.sessions.late(c))
		require.Equal(t, until, s.session(brokers[0]).until)
	}
	c.now.Mono = c.sessions.deadline().Add(3 * time.Second)
	require.True(t, c.sessions.late(c))
	require.Equal(t, c.now.Mono.Add(c.config.SessionTimeout), s.session(brokers[0]).until)
}
