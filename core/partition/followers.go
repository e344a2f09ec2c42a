package partition

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/kafka"
)

// followers is what a leader knows of every other replica.
type followers []progress

// progress is what a leader knows of one follower. All of it is learnt from fetches of the leader's
// own epoch: a new leader knows nothing.
type progress struct {
	id kafka.BrokerID

	fetched     bool         // something is known
	end         kafka.Offset // exclusive; the follower holds all below, as the leader does
	synced      kafka.Offset // likewise, and durably
	brokerEpoch kafka.BrokerEpoch
	at          env.Mono     // of the last fetch
	leaderEnd   kafka.Offset // the leader's end then

	// caughtUp is when the follower last had all that the leader had (kafka-map rule 14). watched says
	// that it means something.
	caughtUp env.Mono
	watched  bool

	// joining: eligible, caught up in time, and not in the ISR, or not known to be.
	joining bool
}

// of returns the followers of a leadership, with what is known of them already.
func (known followers) of(self kafka.BrokerID, l Leadership) followers {
	var all followers
	for _, ids := range [][]kafka.BrokerID{l.Replicas, l.ISR} {
		for _, id := range ids {
			if id == self || all.find(id) != nil {
				continue
			}
			f := progress{id: id, brokerEpoch: kafka.NoBrokerEpoch}
			if before := known.find(id); before != nil {
				f = *before
			}
			all = append(all, f)
		}
	}
	return all
}

func (known followers) find(id kafka.BrokerID) *progress {
	i := slices.IndexFunc(known, func(f progress) bool { return f.id == id })
	if i < 0 {
		return nil
	}
	return &known[i]
}

// onFetch takes from a fetch that the follower holds all below end. leaderEnd is what it could have.
// A follower lags if it has not had, for a time, what the leader had at its fetch before
// (Replica.updateFetchStateOrThrow).
func (f *progress) onFetch(now env.Mono, w *FollowerFetch, leaderEnd kafka.Offset) {
	keepsUp := true
	switch {
	case w.Offset >= leaderEnd:
		f.caughtUp, f.watched = now, true
	case f.fetched && w.Offset >= f.leaderEnd:
		f.caughtUp, f.watched = max(f.caughtUp, f.at), true
	default:
		keepsUp = false
	}
	f.joining = w.Eligible && (keepsUp || f.joining)
	f.fetched, f.end, f.brokerEpoch = true, w.Offset, w.BrokerEpoch
	if f.synced = min(f.synced, w.Offset); w.Synced {
		f.synced = w.Offset
	}
	f.at, f.leaderEnd = now, leaderEnd
}

// counted is what a follower contributes to the high watermark.
func (f *progress) counted(durably bool) kafka.Offset {
	if durably {
		return f.synced
	}
	return f.end
}

// lags says whether a follower has been behind for longer than lagMax. One that has everything never
// is; the time of one that was never seen to have it begins when it is first asked for.
func (f *progress) lags(now env.Mono, lagMax time.Duration, leaderEnd kafka.Offset) bool {
	if !f.watched || f.fetched && f.end >= leaderEnd {
		f.caughtUp, f.watched = now, true
	}
	return now > f.caughtUp.Add(lagMax)
}
