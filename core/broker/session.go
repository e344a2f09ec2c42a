package broker

import (
	"math/rand/v2"
	"strings"
	"time"

	"stet/core/env"
	"stet/core/invariant"
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
	maxBytes           int32
	currentLeaderEpoch kafka.LeaderEpoch
	lastFetchedEpoch   kafka.LeaderEpoch
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
		p = &fetchPartition{key: key, session: s, place: len(s.list),
			toldHighWatermark: -1, toldLogStartOffset: -1}
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

// sessionCache holds the sessions that outlive a request.
type sessionCache struct {
	slots int
	byID  map[int32]*fetchSession
	order []*fetchSession // in order of creation, for scans
	rand  *rand.Rand

	Evicted int64 // sessions that had to make room
}

func newSessionCache(slots int, source *rand.Rand) *sessionCache {
	return &sessionCache{slots: slots, byID: map[int32]*fetchSession{}, rand: source}
}

// sessionRequest is the part of a fetch request that chooses its session.
type sessionRequest struct {
	id, epoch  int32
	usesIDs    bool
	privileged bool
	partitions int // named in the request
}

// begin finds or opens the session of a request, and moves its epoch on. The caller then puts and
// removes partitions. A session that is full answers with every partition.
func (c *sessionCache) begin(now env.Mono, r sessionRequest) (*fetchSession, kafka.ErrorCode) {
	if r.epoch == initialSessionEpoch || r.epoch == finalSessionEpoch {
		if s := c.byID[r.id]; s != nil && r.id != noSession {
			c.drop(s)
		}
		return c.open(now, r), kafka.None
	}
	s := c.byID[r.id]
	switch {
	case s == nil || r.id == noSession:
		return nil, kafka.FetchSessionIDNotFound
	case s.epoch != r.epoch:
		return nil, kafka.InvalidFetchSessionEpoch
	case s.usesIDs != r.usesIDs:
		return nil, kafka.FetchSessionTopicIDError
	}
	s.epoch, s.used, s.full = nextSessionEpoch(s.epoch), now, false
	return s, kafka.None
}

func nextSessionEpoch(epoch int32) int32 {
	if epoch == 1<<31-1 {
		return 1
	}
	return epoch + 1
}

// open makes a session and caches it if the client wants one and there is room.
func (c *sessionCache) open(now env.Mono, r sessionRequest) *fetchSession {
	s := &fetchSession{id: noSession, epoch: 1, usesIDs: r.usesIDs, privileged: r.privileged,
		full: true, created: now, used: now, members: make(map[fetchKey]*fetchPartition, r.partitions)}
	if r.epoch == finalSessionEpoch || r.partitions == 0 || !c.makeRoom(now, r) {
		return s
	}
	for s.id == noSession || c.byID[s.id] != nil {
		s.id = c.rand.Int32N(1<<31-1) + 1
	}
	c.byID[s.id] = s
	c.order = append(c.order, s)
	return s
}

// makeRoom follows FetchSessionCache.tryEvict: a session unused for two minutes goes first, else
// the least (consumers before followers, then small before large) that is older than two minutes,
// or of any age when a follower asks and it is a consumer's, unless the new one is less still.
func (c *sessionCache) makeRoom(now env.Mono, r sessionRequest) bool {
	if len(c.byID) < c.slots {
		return true
	}
	victim := c.stale(now)
	if victim == nil {
		victim = c.least(now, r)
	}
	if victim == nil {
		return false
	}
	c.Evicted++
	invariant.Sometimes(true, invariant.MarkSessionEvicted)
	c.drop(victim)
	return true
}

func (c *sessionCache) stale(now env.Mono) *fetchSession {
	var oldest *fetchSession
	for _, s := range c.order {
		if s.wait == nil && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	if oldest != nil && now >= oldest.used.Add(sessionStaleAfter) {
		return oldest
	}
	return nil
}

func (c *sessionCache) least(now env.Mono, r sessionRequest) *fetchSession {
	var least *fetchSession
	for _, s := range c.order {
		aged := now >= s.created.Add(sessionStaleAfter)
		if !aged && !(r.privileged && !s.privileged) || s.wait != nil {
			continue
		}
		if least == nil || lessWorth(s.privileged, len(s.list), least.privileged, len(least.list)) {
			least = s
		}
	}
	if least == nil || lessWorth(r.privileged, r.partitions, least.privileged, len(least.list)) {
		return nil
	}
	return least
}

// lessWorth orders sessions for eviction: a consumer's before a follower's, then by size.
func lessWorth(privileged bool, size int, otherPrivileged bool, otherSize int) bool {
	if privileged != otherPrivileged {
		return !privileged
	}
	return size < otherSize
}

// drop forgets a cached session.
func (c *sessionCache) drop(s *fetchSession) {
	s.close()
	delete(c.byID, s.id)
	for i := range c.order {
		if c.order[i] == s {
			c.order = append(c.order[:i], c.order[i+1:]...)
			break
		}
	}
	s.id = noSession
}
