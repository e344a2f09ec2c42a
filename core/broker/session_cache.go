package broker

import (
	"math/rand/v2"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

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
	follower   followerLife // who asks, if privileged
	partitions int          // named in the request
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
	case s == nil || r.id == noSession,
		s.privileged != r.privileged || s.follower.broker != r.follower.broker:
		return nil, kafka.FetchSessionIDNotFound
	case s.epoch != r.epoch:
		return nil, kafka.InvalidFetchSessionEpoch
	case s.usesIDs != r.usesIDs:
		return nil, kafka.FetchSessionTopicIDError
	}
	s.epoch, s.used, s.full = nextSessionEpoch(s.epoch), now, false
	s.follower = r.follower
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
	s := &fetchSession{
		id: noSession, epoch: 1, usesIDs: r.usesIDs, privileged: r.privileged,
		follower: r.follower, full: true, created: now, used: now, members: make(map[fetchKey]*fetchPartition, r.partitions),
	}
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

// ofFollower returns the sessions of a broker that follows, oldest first.
func (c *sessionCache) ofFollower(id kafka.BrokerID) []*fetchSession {
	var found []*fetchSession
	for _, s := range c.order {
		if s.privileged && s.follower.broker == id {
			found = append(found, s)
		}
	}
	return found
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
