package partition

import (
	"stet/core/env"
	"stet/core/kafka"
)

// rest is the role of a replica while its log is not open: what it becomes when it opens.
type rest struct {
	lead   *Leadership
	follow *Following

	// isr is what a leadership that was broken off knew. Its proposal may have been granted, so it
	// holds the high watermark back when the same epoch goes on.
	isr *isr

	// shown is the end up to which a leader of shownIn may have let followers read, when its log was
	// fenced; lostIn is an epoch in which a part of that was lost.
	shown           kafka.Offset
	shownIn, lostIn kafka.LeaderEpoch
}

func newRest() rest {
	return rest{shownIn: kafka.NoLeaderEpoch, lostIn: kafka.NoLeaderEpoch}
}

// forget drops the role.
func (s *rest) forget() { s.lead, s.follow, s.isr = nil, nil, nil }

// putToRest ends a role until the log opens again.
func (r *Replica) putToRest() {
	switch {
	case r.lead != nil:
		l := r.lead
		r.rest.lead, r.rest.isr = l.leadership(), &l.isr
		if len(l.followers) > 0 {
			r.rest.shown, r.rest.shownIn = r.log.Written(), l.epoch
		}
	case r.follow != nil:
		f := r.follow.Following
		r.rest.follow = &f
	}
	r.lead, r.follow = nil, nil
}

// resume takes the role up again that the log was opened for.
func (r *Replica) resume(out *env.Effects) {
	if r.log.Written() < r.rest.shown {
		r.rest.lostIn = r.rest.shownIn
	}
	lead, follow := r.rest.lead, r.rest.follow
	r.rest.lead, r.rest.follow, r.rest.shown = nil, nil, 0
	switch {
	case lead != nil:
		r.Lead(*lead, out)
	case follow != nil:
		r.Follow(*follow, out)
	}
}

// NeedsEpoch says whether this replica is to lead, and can not before a new election: its log has
// lost records of this very epoch that followers may hold, and other records under the same epoch
// and offsets must never be.
func (r *Replica) NeedsEpoch() bool {
	return r.rest.lostIn != kafka.NoLeaderEpoch && r.rest.lostIn == r.told
}

// leadership gives the leadership as it stands.
func (l *leader) leadership() *Leadership {
	replicas := []kafka.BrokerID{l.self}
	for i := range l.followers {
		replicas = append(replicas, l.followers[i].id)
	}
	return &Leadership{
		Epoch: l.epoch, PartitionEpoch: l.isr.partitionEpoch, ISR: l.isr.committed,
		Replicas: replicas, Recovering: l.isr.recovering, ReplicationFactor: l.replicationFactor,
	}
}
