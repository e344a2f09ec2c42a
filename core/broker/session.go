package broker

import (
	"strings"
	"time"

	"stet/core/env"
	"stet/core/kafka"
)

// Fetch sessions (KIP-227). A session remembers what a client fetches and what it was told, so
// that request and response name only what changed. Epoch 0 opens one, -1 does without or closes
// one, anything else has to be the epoch that the server expects next.
const (
	finalSessionEpoch   int32 = -1
	initialSessionEpoch int32 = 0
	noSession           int32 = 0

	// sessionStaleAfter is Kafka's min.incremental.fetch.session.eviction.ms.
	sessionStaleAfter = 2 * time.Minute
)

// fetchKey names a partition in a session: by id since Fetch v13, by name before.
type fetchKey struct {
	id        kafka.TopicID
	name      string
	partition kafka.PartitionID
}

// fetchWant is what a client asks of one partition.
type fetchWant struct {
	offset             kafka.Offset
	logStartOffset     kafka.Offset // of a follower
	highWatermark      kafka.Offset // of a follower: what it knows; NoOffset: not told
	maxBytes           int32
	currentLeaderEpoch kafka.LeaderEpoch
	lastFetchedEpoch   kafka.LeaderEpoch
	synced             bool // of a follower: what is below offset is durable
}

// fetchSession is the set of partitions that a client fetches. One that is not in the cache (id
// noSession) lives as long as its one request.
//
// Partitions with something to say are in a queue; looking at a session costs O(queued), however
// many partitions idle. One whose data was sent goes to the queue's end, so that a large
// partition can not starve the others.
type fetchSession struct {
	id         int32
	epoch      int32 // expected in the next request
	usesIDs    bool
	privileged bool // of a follower
	follower   followerLife
	full       bool // the response names every partition
	created    env.Mono
	used       env.Mono
	members    map[fetchKey]*fetchPartition
	list       []*fetchPartition // members; in the order of the request until one is removed
	first      *fetchPartition   // queue
	last       *fetchPartition
	queued     int
	wait       *fetchWait // the request that is parked on the session, or nil
}

// fetchPartition is one partition of a session.
type fetchPartition struct {
	key     fetchKey
	want    fetchWant
	session *fetchSession
	place   int // index in session.list

	next, prev *fetchPartition
	inQueue    bool

	// watched is the replica that reports changes to this partition, at watchers[watchPlace].
	watched    *hosted
	watchPlace int

	// What the client was told last; -1 makes the partition part of the next response.
	toldHighWatermark  kafka.Offset
	toldLogStartOffset kafka.Offset

	tries   int // look-ups of the position of triedAt that gave nothing
	triedAt kafka.Offset

	read fetchRead // of the last evaluation
}

// queue appends p unless it is queued already.
func (s *fetchSession) queue(p *fetchPartition) {
	if p.inQueue {
		return
	}
	p.inQueue, p.prev, p.next = true, s.last, nil
	if s.last == nil {
		s.first = p
	} else {
		s.last.next = p
	}
	s.last = p
	s.queued++
}

// unqueue removes p from the queue if it is in it.
func (s *fetchSession) unqueue(p *fetchPartition) {
	if !p.inQueue {
		return
	}
	if p.prev == nil {
		s.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		s.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.inQueue, p.prev, p.next = false, nil, nil
	s.queued--
}

// put adds or updates the partition with the key, and queues it. A name is copied when it is new.
func (s *fetchSession) put(key fetchKey, want fetchWant) *fetchPartition {
	p := s.members[key]
	if p == nil {
		key.name = strings.Clone(key.name)
		p = &fetchPartition{
			key: key, session: s, place: len(s.list),
			toldHighWatermark: -1, toldLogStartOffset: -1,
		}
		s.members[key] = p
		s.list = append(s.list, p)
	}
	p.want = want
	s.queue(p)
	return p
}

// remove forgets the partition with the key.
func (s *fetchSession) remove(key fetchKey) {
	p := s.members[key]
	if p == nil {
		return
	}
	s.unqueue(p)
	p.unwatch()
	delete(s.members, key)
	last := len(s.list) - 1
	moved := s.list[last]
	s.list[p.place], moved.place = moved, p.place
	s.list[last] = nil
	s.list = s.list[:last]
}

// close lets go of every replica that the session watches.
func (s *fetchSession) close() {
	for _, p := range s.list {
		p.unwatch()
	}
}

// watch makes h report to p instead of what p watched before.
func (p *fetchPartition) watch(h *hosted) {
	if p.watched == h {
		return
	}
	p.unwatch()
	p.watched, p.watchPlace = h, len(h.watchers)
	h.watchers = append(h.watchers, p)
}

func (p *fetchPartition) unwatch() {
	h := p.watched
	if h == nil {
		return
	}
	last := len(h.watchers) - 1
	moved := h.watchers[last]
	h.watchers[p.watchPlace], moved.watchPlace = moved, p.watchPlace
	h.watchers[last] = nil
	h.watchers = h.watchers[:last]
	p.watched = nil
}
