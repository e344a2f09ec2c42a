package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// FollowerFetch is what a follower asks of the leader, and what it says of itself: it holds all below
// Offset, and LastFetchedEpoch is the epoch of the last of it.
type FollowerFetch struct {
	Broker      kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch // of the life in which it asks (KIP-903)
	// Eligible: the metadata say that the broker is registered with this epoch, unfenced and not
	// stopping, so it may be in an ISR (KIP-841).
	Eligible bool

	Offset, LogStart   kafka.Offset
	HighWatermark      kafka.Offset      // that the follower knows; kafka.NoOffset: not told
	LastFetchedEpoch   kafka.LeaderEpoch // kafka.NoLeaderEpoch: it holds nothing
	CurrentLeaderEpoch kafka.LeaderEpoch
	Synced             bool // all below Offset is durable there

	MaxBytes int64
	MinOne   bool // the first batch may be larger than MaxBytes
	Tries    int  // times that this position has been looked up in vain
}

// Divergence says that a leader's log parts from a follower's: the largest epoch that it has of those
// up to the follower's last one, and where that ends.
type Divergence struct {
	Epoch     kafka.LeaderEpoch // kafka.NoLeaderEpoch: none
	EndOffset kafka.Offset
}

// NoDivergence is what agrees.
func NoDivergence() Divergence { return Divergence{kafka.NoLeaderEpoch, kafka.NoOffset} }

// Found says whether there is a divergence.
func (d Divergence) Found() bool { return d.Epoch != kafka.NoLeaderEpoch }

// ReadForFollower answers a follower, and takes from its fetch how far it has come: unless it is
// refused or diverges, it holds what this log holds below its offset. That may move the high
// watermark, and make the leader propose the follower's admission to the ISR.
func (r *Replica) ReadForFollower(now env.Now, w FollowerFetch, out *env.Effects) Read {
	f, code := r.followerOf(&w)
	if code != kafka.None {
		return RefusedRead(code)
	}
	if w.Offset < r.log.LogStartOffset() || w.Offset > r.log.Assigned() && w.LastFetchedEpoch < 0 {
		refused := RefusedRead(kafka.OffsetOutOfRange)
		refused.LogStartOffset = r.log.LogStartOffset()
		return refused
	}
	if invariant.CanaryDivergedCounts.On() {
		r.followerIsAt(now, f, &w, out)
	}
	if d := r.divergence(&w); d.Found() {
		invariant.Sometimes(true, invariant.MarkFollowerDiverges)
		read := RefusedRead(kafka.None)
		read.Diverging = d
		read.HighWatermark, read.LogStartOffset = r.highWatermark, r.log.LogStartOffset()
		return read
	}
	read := r.findForFollower(&w, out)
	if read.Code != kafka.None {
		return read
	}
	r.followerIsAt(now, f, &w, out)
	read.HighWatermark, read.LastStableOffset = r.highWatermark, r.LastStableOffset()
	read.Copy = read.Found.End > r.highWatermark
	known := min(r.highWatermark, w.Offset)
	read.StaleHighWatermark = w.HighWatermark >= 0 && w.HighWatermark < known
	return read
}

// followerOf checks who asks, and finds what is known of it.
func (r *Replica) followerOf(w *FollowerFetch) (*progress, kafka.ErrorCode) {
	if code := r.serves(); code != kafka.None {
		return nil, code
	}
	if code := r.checkEpoch(w.CurrentLeaderEpoch); code != kafka.None &&
		!invariant.CanaryAnyEpochFetches.On() {
		return nil, code
	}
	f := r.lead.followers.find(w.Broker)
	switch {
	case f == nil:
		return nil, kafka.UnknownLeaderEpoch // it knows of an assignment that is not known here yet
	case w.BrokerEpoch < f.brokerEpoch:
		return nil, kafka.NotLeaderOrFollower // an earlier life of the broker (kafka-map rule 13)
	}
	return f, kafka.None
}

// divergence compares the end of the follower's log with this one (kafka-map rules 1 and 2).
func (r *Replica) divergence(w *FollowerFetch) Divergence {
	if w.LastFetchedEpoch < 0 {
		return NoDivergence()
	}
	last := min(w.LastFetchedEpoch, r.log.LatestEpoch())
	epoch, end := r.log.EndOffsetFor(last)
	if epoch == w.LastFetchedEpoch && w.Offset <= end {
		return NoDivergence()
	}
	return Divergence{epoch, end}
}

// findForFollower finds what follows the follower's end, up to what is written.
func (r *Replica) findForFollower(w *FollowerFetch, out *env.Effects) Read {
	read := Read{LogStartOffset: r.log.LogStartOffset(), Diverging: NoDivergence()}
	if w.Offset >= r.log.Written() || w.MaxBytes <= 0 && !w.MinOne {
		return read
	}
	found, code := r.log.Find(w.Offset, w.MaxBytes, w.MinOne, r.log.Written())
	switch {
	case found.Locate:
		r.locate(w.Offset, w.Tries, &read, out)
	case code != kafka.None:
		return RefusedRead(code)
	default:
		read.Found = found
	}
	return read
}

// followerIsAt takes in how far a follower has come.
func (r *Replica) followerIsAt(now env.Now, f *progress, w *FollowerFetch, out *env.Effects) {
	f.onFetch(now.Mono, w, r.log.Written())
	r.lead.dropLost(f, r.highWatermark)
	r.lead.expand(f, w.Eligible, r.highWatermark)
	r.advance(out)
}
