package broker

import (
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/core/wire"
)

// Fetch (key 1), versions 4 to 18, for consumers; what is different for followers is in
// replica_fetch.go. The answer waits until it has the minimum of
// bytes, until something is wrong, or until its time is out (kafka-map rule 31). Bytes count up to
// the high watermark. They are not copied: the answer names ranges of files, and holds a lease on
// each until it has left.
//
// v7 brings sessions (session.go), v9 the leader epoch, v12 the current leader (KIP-951), v13
// topic ids, v16 the leaders' addresses.

// fetchWait is a fetch request that is being answered, and may wait.
type fetchWait struct {
	origin
	timer
	session  *fetchSession
	minBytes int64
	maxBytes int64
	parked   bool
	expired  bool // out of time, but a position is still being looked up
	woken    bool // in fetchLoop.woken
	done     bool
}

// fetchRead is what one evaluation found for one partition.
type fetchRead struct {
	partition.Read
	host *hosted
	emit bool // belongs into the answer
}

// fetchTally is the state of one evaluation.
type fetchTally struct {
	left     int64 // bytes that may still be added
	bytes    int64
	urgent   bool // something to say at once
	locating bool
	standing followerStanding // of the follower, if one asks
}

// fetchLoop collects, during a turn, the parked fetches whose partitions changed.
type fetchLoop struct {
	woken  []*fetchWait
	leases []*fetchLease // free
}

// changed puts the partition among what its session has to say, and wakes a fetch that waits.
func (l *fetchLoop) changed(p *fetchPartition) {
	p.session.queue(p)
	if w := p.session.wait; w != nil && !w.woken {
		w.woken = true
		l.woken = append(l.woken, w)
	}
}

// wake looks again at the parked fetches whose partitions changed in this turn.
func (l *fetchLoop) wake(b *Broker) {
	for i := 0; i < len(l.woken); i++ {
		w := l.woken[i]
		w.woken = false
		if !w.done {
			w.try(b)
		}
	}
	clear(l.woken)
	l.woken = l.woken[:0]
}

func (b *Broker) fetch(r *env.Request, o origin, m *wire.FetchRequest) {
	if old := b.sessions.byID[m.SessionID]; old != nil {
		old.interrupt(b)
	}
	q := sessionRequest{
		id: m.SessionID, epoch: m.SessionEpoch, partitions: wanted(m),
		usesIDs: r.Version >= 13, privileged: m.ReplicaID >= 0,
		follower: followerLife{m.ReplicaID, m.ReplicaEpoch},
	}
	if q.privileged && q.epoch == initialSessionEpoch {
		b.endFormerSessions(q.follower.broker)
	}
	s, code := b.sessions.begin(b.now.Mono, q)
	if code != kafka.None {
		b.refuseFetch(o, code)
		return
	}
	b.mergeFetch(r, s, m)
	w := &fetchWait{
		origin: o, session: s, minBytes: int64(m.MinBytes),
		maxBytes: int64(min(m.MaxBytes, b.config.FetchMaxBytes)),
	}
	s.wait = w
	b.timers.set(&w.timer, b.now.Mono.Add(time.Duration(max(0, m.MaxWaitMs))*time.Millisecond), w)
	if m.MaxWaitMs <= 0 {
		w.expired = true
	}
	w.try(b)
}

// interrupt answers a request that is parked on the session: the client has given up on it, or has more
// to ask.
func (s *fetchSession) interrupt(b *Broker) {
	if w := s.wait; w != nil {
		w.evaluate(b)
		w.answer(b)
	}
}

func wanted(m *wire.FetchRequest) int {
	n := 0
	for i := range m.Topics {
		n += len(m.Topics[i].Partitions)
	}
	return n
}

// mergeFetch applies what a request changes in its session.
func (b *Broker) mergeFetch(r *env.Request, s *fetchSession, m *wire.FetchRequest) {
	for i := range m.Topics {
		t := &m.Topics[i]
		key := b.fetchKey(r.Version, t.Name, t.ID)
		for j := range t.Partitions {
			p := &t.Partitions[j]
			key.partition = p.Index
			s.put(key, fetchWant{
				offset: p.FetchOffset, logStartOffset: p.LogStartOffset,
				maxBytes: p.MaxBytes, currentLeaderEpoch: p.CurrentLeaderEpoch,
				lastFetchedEpoch: p.LastFetchedEpoch, highWatermark: p.HighWatermark,
				synced: p.Synced,
			})
		}
	}
	for i := range m.Forgotten {
		t := &m.Forgotten[i]
		key := b.fetchKey(r.Version, t.Name, t.ID)
		for _, key.partition = range t.Partitions {
			s.remove(key)
		}
	}
}

// fetchKey names a topic as the version does. A known name is the image's string: no copy.
func (b *Broker) fetchKey(version int16, name []byte, id kafka.TopicID) fetchKey {
	if version >= 13 {
		return fetchKey{id: id}
	}
	if topic := b.image.Topic(string(name)); topic != nil {
		return fetchKey{name: topic.Name}
	}
	return fetchKey{name: string(name)}
}

// evaluate reads every partition that may have something to say.
func (w *fetchWait) evaluate(b *Broker) fetchTally {
	tally := fetchTally{left: w.maxBytes}
	if w.session.privileged {
		tally.standing = b.standingOf(w.session.follower)
	}
	p := w.session.first
	for n := w.session.queued; n > 0; n-- {
		next := p.next
		w.read(b, p, &tally)
		p = next
	}
	return tally
}

// try evaluates the fetch and answers it, or lets it wait.
func (w *fetchWait) try(b *Broker) {
	tally := w.evaluate(b)
	switch {
	case tally.locating:
	case tally.bytes >= w.minBytes, tally.urgent, w.expired, w.opensFollowerSession():
		w.answer(b)
		return
	}
	w.park(b)
}

func (w *fetchWait) park(b *Broker) {
	if w.parked {
		return
	}
	w.parked = true
	w.conn.parked = append(w.conn.parked, w)
	b.Metrics.FetchesParked++
	invariant.Sometimes(true, invariant.MarkFetchParked)
}

// due answers a fetch whose time is out, as soon as no position is being looked up.
func (w *fetchWait) due(b *Broker) {
	if !w.done {
		w.expired = true
		w.try(b)
	}
}

// read finds what one partition has to say. One with nothing leaves the queue.
func (w *fetchWait) read(b *Broker, p *fetchPartition, tally *fetchTally) {
	p.read = fetchRead{}
	read := &p.read
	topic, code := w.topicOf(b, p, tally)
	if code == kafka.None {
		read.host = b.host.find(topic.ID, p.key.partition)
		if read.host == nil {
			code = kafka.NotLeaderOrFollower
			if topic.Partition(p.key.partition) == nil {
				code = kafka.UnknownTopicOrPartition
			}
		}
	}
	if code != kafka.None {
		read.Read = partition.RefusedRead(code)
		read.emit, tally.urgent = true, true
		return
	}
	p.watch(read.host)
	if tally.left <= 0 && tally.bytes > 0 && !w.session.full {
		return // another time; it keeps its place in the queue
	}
	if w.session.privileged {
		w.readFollower(b, p, tally)
		return
	}
	p.readReplica(b, tally)
	w.judge(p, tally, read.HighWatermark)
}

// judge decides what a partition's read means for the answer. end is as far as there may be data.
func (w *fetchWait) judge(p *fetchPartition, tally *fetchTally, end kafka.Offset) {
	switch read := &p.read; {
	case read.Locating:
		tally.locating = true
	case read.Code != kafka.None, read.Diverging.Found(), read.StaleHighWatermark:
		read.emit, tally.urgent = true, true
		tally.bytes += read.Found.Len
		tally.left -= read.Found.Len
	case read.Found.Len > 0, read.HighWatermark != p.toldHighWatermark,
		read.LogStartOffset != p.toldLogStartOffset:
		read.emit = true
		tally.bytes += read.Found.Len
		tally.left -= read.Found.Len
	case p.want.offset >= end:
		invariant.Sometimes(true, invariant.MarkSessionIncremental)
		w.session.unqueue(p)
	}
}

// readReplica reads what fits. The first partition with data may give one batch that does not.
func (p *fetchPartition) readReplica(b *Broker, tally *fetchTally) {
	want := partition.Want{
		Offset:             p.want.offset,
		MaxBytes:           max(0, min(int64(p.want.maxBytes), tally.left)),
		MinOne:             tally.bytes == 0,
		CurrentLeaderEpoch: p.want.currentLeaderEpoch,
	}
	want.Tries = p.triesSoFar()
	p.read.Read = p.read.host.Read(want, b.out)
	p.tried(want.Tries)
}

// triesSoFar is how often the position that is wanted was looked up in vain.
func (p *fetchPartition) triesSoFar() int {
	if p.triedAt == p.want.offset {
		return p.tries
	}
	return 0
}

// tried counts a look-up that the last read has started.
func (p *fetchPartition) tried(before int) {
	switch {
	case p.read.Started:
		p.tries, p.triedAt = before+1, p.want.offset
	case !p.read.Locating:
		p.tries = 0
	}
}

// topicOf finds the topic of a partition that is fetched.
func (w *fetchWait) topicOf(b *Broker, p *fetchPartition, tally *fetchTally) (
	*metadata.Topic, kafka.ErrorCode,
) {
	var topic *metadata.Topic
	code := kafka.UnknownTopicOrPartition
	if w.session.usesIDs {
		topic, code = b.image.TopicByID(p.key.id), kafka.UnknownTopicID
	} else {
		topic = b.image.Topic(p.key.name)
	}
	if topic == nil {
		return nil, code
	}
	if w.session.privileged {
		return topic, tally.standing.code
	}
	return topic, b.Authorize(w.conn.info, opRead, resourceTopic, topic.Name)
}

// finish takes the fetch off everything that could wake it.
func (w *fetchWait) finish(b *Broker) {
	w.done = true
	b.timers.clear(&w.timer)
	w.session.wait = nil
	if !w.parked {
		return
	}
	parked := w.conn.parked
	for i := range parked {
		if parked[i] == w {
			parked[i] = parked[len(parked)-1]
			parked[len(parked)-1] = nil
			w.conn.parked = parked[:len(parked)-1]
			break
		}
	}
}

// cancel forgets a fetch whose connection is closed. A cached session stays.
func (w *fetchWait) cancel(b *Broker) {
	w.done = true
	b.timers.clear(&w.timer)
	w.session.wait = nil
	if w.session.id == noSession {
		w.session.close()
	}
}
