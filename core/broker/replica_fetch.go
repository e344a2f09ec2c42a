package broker

import (
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
)

// Fetch (key 1) of a follower, versions 13 to 18. Bytes count up to the end of the log, and those above
// the high watermark are sent as a copy, because they may be truncated. What a follower asks for says
// what it holds, by which the leader moves the high watermark. v15 says in which life the follower's
// broker asks (KIP-903), and v18 which high watermark it knows: one that does not know how much is
// committed of what it holds is told at once (KIP-1166).

// followerLife is a broker that follows, in one life of it.
type followerLife struct {
	broker kafka.BrokerID
	epoch  kafka.BrokerEpoch
}

// followerStanding is what the image says of a follower.
type followerStanding struct {
	code     kafka.ErrorCode // why nothing is read for it, or None
	eligible bool            // may be in an ISR
}

// standingOf compares the life in which a follower asks with the one that is registered. An older one
// must not be taken for what the broker holds now (kafka-map rule 13); a newer one is ahead of the image.
func (b *Broker) standingOf(f followerLife) followerStanding {
	broker := b.image.Broker(f.broker)
	switch {
	case broker == nil, f.epoch > broker.Epoch:
		return followerStanding{code: kafka.UnknownLeaderEpoch}
	case f.epoch < broker.Epoch:
		invariant.Sometimes(true, invariant.MarkFollowerOfFormerLife)
		return followerStanding{code: kafka.NotLeaderOrFollower}
	}
	return followerStanding{eligible: broker.Active()}
}

// opensFollowerSession says whether a follower begins with this fetch. It is answered at once, so that the
// follower has a session: only then can it interrupt a long poll.
func (w *fetchWait) opensFollowerSession() bool {
	return w.session.privileged && w.session.full && w.session.id != noSession
}

// readFollower finds what one partition has to say to a follower.
func (w *fetchWait) readFollower(b *Broker, p *fetchPartition, tally *fetchTally) {
	life := w.session.follower
	h := p.read.host
	want := partition.FollowerFetch{
		Broker: life.broker, BrokerEpoch: life.epoch, Eligible: tally.standing.eligible,
		Offset: p.want.offset, LogStart: p.want.logStartOffset, HighWatermark: p.want.highWatermark,
		LastFetchedEpoch: p.want.lastFetchedEpoch, CurrentLeaderEpoch: p.want.currentLeaderEpoch,
		Synced:   p.want.synced,
		MaxBytes: max(0, min(int64(p.want.maxBytes), tally.left)), MinOne: tally.bytes == 0,
		Tries: p.triesSoFar(),
	}
	if invariant.CanarySessionForgetsEpoch.On() && !w.session.full {
		want.CurrentLeaderEpoch = h.LeaderEpoch()
	}
	p.read.Read = h.ReadForFollower(b.now, want, b.out)
	p.tried(want.Tries)
	w.judge(p, tally, h.LogEndOffset())
	b.afterReplica(h) // may queue p again
}

// toldFollower notes what a follower knows from now on. Nothing is left to say to one that has reached
// the end, until it asks for more or something changes.
func (p *fetchPartition) toldFollower(read *fetchRead) {
	s := p.session
	s.unqueue(p)
	if read.Diverging.Found() {
		s.queue(p)
		return
	}
	p.want.highWatermark = max(p.want.highWatermark, read.HighWatermark)
	if p.want.offset < read.host.LogEndOffset() {
		s.queue(p)
	}
}

// endFormerSessions ends what is left of the sessions of a follower that begins a new one.
func (b *Broker) endFormerSessions(follower kafka.BrokerID) {
	for _, s := range b.sessions.ofFollower(follower) {
		s.interrupt(b)
		b.sessions.drop(s)
	}
}

// followersChanged looks again at what brokers follow of which the metadata have said something: they
// may be in an ISR now, or no more.
func (b *Broker) followersChanged(changes []metadata.BrokerChange) {
	for i := range changes {
		broker := changes[i].After
		if broker == nil {
			broker = changes[i].Before
		}
		for _, s := range b.sessions.ofFollower(broker.ID) {
			for _, p := range s.list {
				b.fetches.changed(p)
			}
		}
	}
}
