package broker

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaderSession is a follower's side of a fetch session (KIP-227; the leader's is fetchSession). It
// knows what the leader was told, so that a request names only what has changed. A partition without a
// position leaves the session, as nothing that the leader has for it could be taken.
type leaderSession struct {
	id       int32  // noSession: none yet, and the next request is full
	epoch    int32  // of the next request
	requests uint64 // sent, over all sessions
	began    uint64 // requests before this session: an answer to one of them is late
	members  map[hostKey]*toldPosition
	changed  []hostKey // members that the next request names
	// forgotten were members when the leader was last told, and are no more.
	forgotten map[hostKey]struct{}
}

// toldPosition is where the leader is to go on with a partition.
type toldPosition struct {
	partition.Position
	since uint64 // the first request that says so
}

func newLeaderSession() leaderSession {
	var s leaderSession
	s.restart()
	return s
}

// restart forgets the session: the next request begins another, once every partition is put again.
func (s *leaderSession) restart() {
	s.id, s.epoch, s.began = noSession, initialSessionEpoch, s.requests
	s.members, s.forgotten = map[hostKey]*toldPosition{}, map[hostKey]struct{}{}
	s.changed = s.changed[:0]
}

// put has the leader go on with a partition at a position, unless it was told so.
func (s *leaderSession) put(key hostKey, at partition.Position) {
	told := s.members[key]
	switch {
	case told == nil:
		told = &toldPosition{}
		s.members[key] = told
		delete(s.forgotten, key)
	case told.Position == at:
		return
	}
	if told.since <= s.requests {
		s.changed = append(s.changed, key)
	}
	told.Position, told.since = at, s.requests+1
}

// drop takes a partition out.
func (s *leaderSession) drop(key hostKey) {
	told := s.members[key]
	if told == nil {
		return
	}
	delete(s.members, key)
	if told.since > s.requests {
		s.changed = slices.DeleteFunc(s.changed, func(k hostKey) bool { return k == key })
	}
	if s.id != noSession {
		s.forgotten[key] = struct{}{} // which the leader passes over if it never knew it
	}
}

// at returns the position that an answer to the request is about; ok is false if the leader had another
// when it answered.
func (s *leaderSession) at(key hostKey, request uint64) (partition.Position, bool) {
	if told := s.members[key]; told != nil && told.since <= request {
		return told.Position, true
	}
	return partition.Position{}, false
}

// ask fills in what the next request says of the session and of partitions, and returns its number.
func (s *leaderSession) ask(m *kmsg.FetchRequest, partitionBytes int32) uint64 {
	m.SessionID, m.SessionEpoch = s.id, s.epoch
	slices.SortFunc(s.changed, compareKeys)
	var topic *kmsg.FetchRequestTopic
	for _, key := range s.changed {
		if topic == nil || topic.TopicID != key.topic {
			m.Topics = append(m.Topics, kmsg.FetchRequestTopic{TopicID: key.topic})
			topic = &m.Topics[len(m.Topics)-1]
		}
		topic.Partitions = append(topic.Partitions, s.members[key].ask(key.partition, partitionBytes))
	}
	m.ForgottenTopics = s.forget()
	s.changed = s.changed[:0]
	s.requests++
	if s.id != noSession {
		s.epoch = nextSessionEpoch(s.epoch)
	}
	return s.requests
}

func (p *toldPosition) ask(id kafka.PartitionID, bytes int32) kmsg.FetchRequestTopicPartition {
	out := kmsg.NewFetchRequestTopicPartition()
	out.Partition, out.PartitionMaxBytes = int32(id), bytes
	out.CurrentLeaderEpoch, out.LastFetchedEpoch = int32(p.LeaderEpoch), int32(p.LastFetchedEpoch)
	out.FetchOffset, out.LogStartOffset = int64(p.Offset), int64(p.LogStart)
	out.HighWatermark = int64(p.HighWatermark)
	if p.Synced {
		out.UnknownTags.Set(wire.TagSynced, []byte{})
	}
	return out
}

func (s *leaderSession) forget() []kmsg.FetchRequestForgottenTopic {
	if len(s.forgotten) == 0 {
		return nil
	}
	var out []kmsg.FetchRequestForgottenTopic
	for _, key := range slices.SortedFunc(maps.Keys(s.forgotten), compareKeys) {
		if n := len(out); n == 0 || out[n-1].TopicID != key.topic {
			out = append(out, kmsg.FetchRequestForgottenTopic{TopicID: key.topic})
		}
		last := &out[len(out)-1]
		last.Partitions = append(last.Partitions, int32(key.partition))
	}
	clear(s.forgotten)
	return out
}

func compareKeys(a, b hostKey) int {
	return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.partition, b.partition))
}

// answered takes what an answer says of the session, and says whether the rest of it counts. If not,
// everything has to be put again. A leader that has no room for sessions is asked in full each time.
func (s *leaderSession) answered(request uint64, id int32, code kafka.ErrorCode) bool {
	switch {
	case request <= s.began:
		return false // of a former session
	case code != kafka.None:
		s.restart()
		return false
	case s.id == noSession && id != noSession:
		s.id, s.epoch = id, 1
	}
	return true
}
