package broker

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/partition"
)

// sessionPair is both sides of a fetch session, without anything in between.
type sessionPair struct {
	t        *testing.T
	follower leaderSession
	leader   *sessionCache
}

func newSessionPair(t *testing.T, slots int) *sessionPair {
	return &sessionPair{t, newLeaderSession(), newSessionCache(slots, rand.New(rand.NewPCG(1, 1)))}
}

func sessionKey(id int32) hostKey {
	return hostKey{kafka.TopicID{byte(id % 2)}, kafka.PartitionID(id)}
}

// exchange has the follower ask and the leader answer. It returns the partitions that were named and
// forgotten, and what the leader goes by then.
func (s *sessionPair) exchange() (named, forgotten int, leader map[fetchKey]kafka.Offset) {
	s.t.Helper()
	m := kmsg.NewPtrFetchRequest()
	request := s.follower.ask(m, 100)
	id, code := int32(0), kafka.None
	leader = map[fetchKey]kafka.Offset{}
	session, code := s.leader.begin(0, sessionRequest{
		id: m.SessionID, epoch: m.SessionEpoch, usesIDs: true, privileged: true, partitions: 1,
	})
	for _, t := range m.Topics {
		named += len(t.Partitions)
	}
	for _, t := range m.ForgottenTopics {
		forgotten += len(t.Partitions)
	}
	if code == kafka.None {
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				session.put(fetchKey{id: t.TopicID, partition: kafka.PartitionID(p.Partition)},
					fetchWant{offset: kafka.Offset(p.FetchOffset)})
			}
		}
		for _, t := range m.ForgottenTopics {
			for _, p := range t.Partitions {
				session.remove(fetchKey{id: t.TopicID, partition: kafka.PartitionID(p)})
			}
		}
		for key, p := range session.members {
			leader[key] = p.want.offset
		}
		id = session.id
	}
	require.Equal(s.t, code == kafka.None, s.follower.answered(request, id, code))
	return named, forgotten, leader
}

func at(offset kafka.Offset) partition.Position { return partition.Position{Offset: offset} }

func TestFetchNamesOnlyWhatChanged(t *testing.T) {
	s := newSessionPair(t, 10)
	for id := range int32(5) {
		s.follower.put(sessionKey(id), at(0))
	}
	named, _, leader := s.exchange()
	require.Equal(t, 5, named)
	require.Len(t, leader, 5)

	named, forgotten, leader := s.exchange()
	require.Zero(t, named+forgotten, "nothing changed")
	require.Len(t, leader, 5)

	s.follower.put(sessionKey(1), at(7))
	s.follower.put(sessionKey(2), at(0))
	s.follower.drop(sessionKey(3))
	s.follower.drop(sessionKey(4))
	s.follower.put(sessionKey(4), at(9)) // it was away for a moment only
	named, forgotten, leader = s.exchange()
	require.Equal(t, 2, named)
	require.Equal(t, 1, forgotten)
	require.Equal(t, map[fetchKey]kafka.Offset{
		{id: kafka.TopicID{0}, partition: 0}: 0, {id: kafka.TopicID{1}, partition: 1}: 7,
		{id: kafka.TopicID{0}, partition: 2}: 0, {id: kafka.TopicID{0}, partition: 4}: 9,
	}, leader)
}

func TestSessionThatTheLeaderLostBeginsAnew(t *testing.T) {
	for _, lose := range []func(s *sessionPair){
		func(s *sessionPair) { s.leader.drop(s.leader.order[0]) },     // FETCH_SESSION_ID_NOT_FOUND
		func(s *sessionPair) { s.leader.order[0].epoch++ },            // INVALID_FETCH_SESSION_EPOCH
		func(s *sessionPair) { s.leader.order[0].usesIDs = false },    // FETCH_SESSION_TOPIC_ID_ERROR
		func(s *sessionPair) { s.leader.order[0].privileged = false }, // it is somebody else's by now
	} {
		s := newSessionPair(t, 10)
		s.follower.put(sessionKey(1), at(5))
		s.exchange()
		lose(s)
		_, _, leader := s.exchange()
		require.Empty(t, leader)
		require.Empty(t, s.follower.members, "everything has to be put again")
		s.follower.put(sessionKey(1), at(5))
		named, _, leader := s.exchange()
		require.Equal(t, 1, named)
		require.Len(t, leader, 1)
	}
}

func TestAnswerIsAboutThePositionThatTheLeaderHad(t *testing.T) {
	s := newLeaderSession()
	key := sessionKey(1)
	s.put(key, at(5))
	first := s.ask(kmsg.NewPtrFetchRequest(), 100)
	require.True(t, s.answered(first, 77, kafka.None))
	_, ok := s.at(key, first)
	require.True(t, ok)

	second := s.ask(kmsg.NewPtrFetchRequest(), 100)
	s.put(key, at(6))
	third := s.ask(kmsg.NewPtrFetchRequest(), 100)
	_, ok = s.at(key, second)
	require.False(t, ok, "the leader had the old position when it answered")
	position, ok := s.at(key, third)
	require.True(t, ok)
	require.Equal(t, at(6), position)

	s.restart()
	s.put(key, at(6))
	require.False(t, s.answered(third, 77, kafka.None), "of a former session")
	_, ok = s.at(key, third)
	require.False(t, ok)
}

// A leader without room for a session is asked in full each time.
func TestLeaderWithoutRoomIsAskedInFull(t *testing.T) {
	s := newSessionPair(t, 0)
	for range 3 {
		s.follower.put(sessionKey(1), at(5))
		named, _, _ := s.exchange()
		require.Equal(t, 1, named)
		require.Equal(t, noSession, s.follower.id)
		s.follower.restart() // as the fetcher does
	}
}

// Random steps: whatever the follower puts and drops, and whatever gets lost, the leader goes by exactly
// what the follower has.
func TestBothSidesOfASessionAgree(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newSessionPair(t, 10)
		has := map[hostKey]kafka.Offset{}
		for range 200 {
			key := sessionKey(random.Int32N(8))
			switch random.IntN(10) {
			case 0, 1, 2:
				has[key] = kafka.Offset(random.IntN(3))
				s.follower.put(key, at(has[key]))
			case 3:
				delete(has, key)
				s.follower.drop(key)
			case 4:
				if len(s.leader.order) > 0 && random.IntN(4) == 0 {
					s.leader.drop(s.leader.order[0])
				}
			default:
				_, _, leader := s.exchange()
				if len(s.follower.members) == 0 && len(has) > 0 { // lost
					for key, offset := range has {
						s.follower.put(key, at(offset))
					}
					continue
				}
				want := map[fetchKey]kafka.Offset{}
				for key, offset := range has {
					want[fetchKey{id: key.topic, partition: key.partition}] = offset
				}
				require.Equal(t, want, leader)
			}
		}
	}
}
