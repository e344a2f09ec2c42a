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

// Fetch (key 1), versions 4 to 18, for consumers. The answer waits until it has the minimum of
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

// wakeFetches looks again at the parked fetches whose partitions changed in this turn.
func (b *Broker) wakeFetches() {
	for i := 0; i < len(b.fetches.woken); i++ {
		w := b.fetches.woken[i]
		w.woken = false
		if !w.done {
			b.tryFetch(w)
		}
	}
	clear(b.fetches.woken)
	b.fetches.woken = b.fetches.woken[:0]
}

func (b *Broker) fetch(r *env.Request, o origin, m *wire.FetchRequest) {
	if old := b.sessions.byID[m.SessionID]; old != nil && old.wait != nil {
		b.evaluateFetch(old.wait) // the client has given up on it
		b.answerFetch(old.wait)
	}
	s, code := b.sessions.begin(b.now.Mono, sessionRequest{
		id: m.SessionID, epoch: m.SessionEpoch,
		usesIDs: r.Version >= 13, privileged: m.ReplicaID >= 0, partitions: wanted(m),
	})
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
	b.tryFetch(w)
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
				lastFetchedEpoch: p.LastFetchedEpoch,
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

// evaluateFetch reads every partition that may have something to say.
func (b *Broker) evaluateFetch(w *fetchWait) fetchTally {
	tally := fetchTally{left: w.maxBytes}
	p := w.session.first
	for n := w.session.queued; n > 0; n-- {
		next := p.next
		b.readPartition(w, p, &tally)
		p = next
	}
	return tally
}

// tryFetch evaluates a fetch and answers it, or lets it wait.
func (b *Broker) tryFetch(w *fetchWait) {
	tally := b.evaluateFetch(w)
	switch {
	case tally.locating:
	case tally.bytes >= w.minBytes, tally.urgent, w.expired:
		b.answerFetch(w)
		return
	}
	b.park(w)
}

func (b *Broker) park(w *fetchWait) {
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
		b.tryFetch(w)
	}
}

// readPartition finds what one partition has to say. One with nothing leaves the queue.
func (b *Broker) readPartition(w *fetchWait, p *fetchPartition, tally *fetchTally) {
	p.read = fetchRead{}
	read := &p.read
	topic, code := b.fetchTopic(w, p)
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
	b.readReplica(p, tally)
	switch {
	case read.Locating:
		tally.locating = true
	case read.Code != kafka.None:
		read.emit, tally.urgent = true, true
	case read.Found.Len > 0, read.HighWatermark != p.toldHighWatermark,
		read.LogStartOffset != p.toldLogStartOffset:
		read.emit = true
		tally.bytes += read.Found.Len
		tally.left -= read.Found.Len
	case p.want.offset >= read.HighWatermark:
		invariant.Sometimes(true, invariant.MarkSessionIncremental)
		w.session.unqueue(p)
	}
}

// readReplica reads what fits. The first partition with data may give one batch that does not.
func (b *Broker) readReplica(p *fetchPartition, tally *fetchTally) {
	want := partition.Want{
		Offset:             p.want.offset,
		MaxBytes:           max(0, min(int64(p.want.maxBytes), tally.left)),
		MinOne:             tally.bytes == 0,
		CurrentLeaderEpoch: p.want.currentLeaderEpoch,
	}
	if p.triedAt == p.want.offset {
		want.Tries = p.tries
	}
	p.read.Read = p.read.host.Read(want, b.out)
	switch {
	case p.read.Started:
		p.tries, p.triedAt = want.Tries+1, p.want.offset
	case !p.read.Locating:
		p.tries = 0
	}
}

// fetchTopic finds the topic of a partition that is fetched.
func (b *Broker) fetchTopic(w *fetchWait, p *fetchPartition) (*metadata.Topic, kafka.ErrorCode) {
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
		return nil, kafka.NotLeaderOrFollower // replication comes with the follower role
	}
	return topic, b.Authorize(w.conn.info, opRead, resourceTopic, topic.Name)
}

// finishFetch takes a fetch off everything that could wake it.
func (b *Broker) finishFetch(w *fetchWait) {
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

// cancelFetch forgets a fetch whose connection is closed. A cached session stays.
func (b *Broker) cancelFetch(w *fetchWait) {
	w.done = true
	b.timers.clear(&w.timer)
	w.session.wait = nil
	if w.session.id == noSession {
		w.session.close()
	}
}
