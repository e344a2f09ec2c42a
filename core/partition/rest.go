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

	// shown is what others may have been told that the log holds, when it was fenced. lost: a part of
	// that is gone, which may be committed, and has not come back from a leader yet. lostIn is the
	// last epoch in which this replica could not lead for that reason.
	shown  kafka.Offset
	lost   bool
	lostIn kafka.LeaderEpoch
}

func newRest() rest { return rest{lostIn: kafka.NoLeaderEpoch} }

// forget drops the role.
func (s *rest) forget() { s.lead, s.follow, s.isr = nil, nil, nil }

// putToRest ends a role until the log opens again.
func (r *Replica) putToRest() {
	switch {
	case r.lead != nil:
		l := r.lead
		r.rest.lead, r.rest.isr = l.leadership(), &l.isr
	case r.follow != nil:
		f := r.follow.Following
		r.rest.follow = &f
	}
	r.lead, r.follow = nil, nil
}

// shows notes what must be there when the log opens again after a failure: everything, or, of a log
// that is to be truncated, what is committed.
func (s *rest) shows(r *Replica) {
	end := r.log.Written()
	if t := r.truncation; t != nil {
		end = r.highWatermark
		if t.below {
			end = 0
		}
	}
	s.shown = max(s.shown, end)
}

// resume takes the role up again that the log was opened for.
func (r *Replica) resume(out *env.Effects) {
	if r.log.Written() < r.rest.shown {
		r.rest.lost = true
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

// refuses says whether this replica must not lead, and notes it. Its log has come back shorter than
// others were told: what is gone may be committed, so others have to lead if they can; and followers
// may hold it, so that no other record may come under its offset in the same epoch.
func (r *Replica) refuses(l *Leadership) bool {
	s := &r.rest
	sameEpoch := s.isr != nil && s.isr.leaderEpoch == l.Epoch && len(l.Replicas) > 1
	if s.lost && (sameEpoch || len(l.ISR) > 1) {
		s.lostIn, s.isr = l.Epoch, nil
	}
	return s.lostIn == l.Epoch
}

// foundAgain notes that what was lost has come back: everything up to a record of this leader's own epoch,
// and to its high watermark.
func (r *Replica) foundAgain(leaderHighWatermark kafka.Offset) {
	end := r.log.Written()
	if r.rest.lost && end >= leaderHighWatermark && end > 0 && r.log.EpochAt(end-1) == r.follow.Epoch {
		r.rest.lost = false
	}
}

// NeedsEpoch says whether this replica is to lead, and can not before another election (see refuses).
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
