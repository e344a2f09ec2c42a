package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// Following is what the metadata say of a partition whose leader is another broker, or nobody.
type Following struct {
	Leader         kafka.BrokerID // kafka.NoBroker: nobody
	Epoch          kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
}

// follower holds the state that a replica has only while it follows, in one epoch.
type follower struct {
	Following

	// parked: the leader has gone on to another epoch, which the metadata will tell.
	parked bool

	// What the leader said of itself in its last answer that ruled a divergence out.
	highWatermark, logStart kafka.Offset

	// trusting and idle are what canaries 18 and 22 go by.
	trusting, idle bool
}

// Position is where a follower goes on.
type Position struct {
	Offset           kafka.Offset      // its end: all below is written, in flush mode synced
	LastFetchedEpoch kafka.LeaderEpoch // of the last record below; kafka.NoLeaderEpoch without any
	LeaderEpoch      kafka.LeaderEpoch
	LogStart         kafka.Offset
	HighWatermark    kafka.Offset
	Synced           bool // the replica is in flush mode, so that all below Offset is durable
}

// Fetched is what the leader answered to a Position.
type Fetched struct {
	Code                    kafka.ErrorCode
	HighWatermark, LogStart kafka.Offset
	Diverging               Divergence
	Batches                 []record.Facts
	Data                    []env.BufRef // one for each batch
	Corrupt                 bool         // a batch behind these failed its CRC, or has no structure
}

// FollowResult says when to fetch next.
type FollowResult uint8

const (
	FollowContinue FollowResult = iota // as soon as there is a position
	FollowWait                         // when the metadata say more
	FollowRetry                        // after a pause
)

// Follow makes this replica a follower, or tells it of a change. An older epoch is late.
func (r *Replica) Follow(f Following, out *env.Effects) {
	if f.Epoch < r.told {
		return
	}
	r.told = f.Epoch
	if r.state != Online {
		r.rest.forget()
		r.rest.follow = &f
		return
	}
	r.changed = true
	if r.follow != nil && f.Epoch == r.follow.Epoch {
		r.follow.Following = f
		return
	}
	before := r.follow
	r.resign(kafka.NotLeaderOrFollower)
	r.lead, r.follow = nil, nil
	if f.Epoch < r.log.LatestEpoch() {
		return // the metadata went back, the log does not
	}
	r.follow = &follower{Following: f, logStart: r.log.LogStartOffset()}
	if before != nil {
		r.follow.idle = before.idle
		if before.Leader == f.Leader && invariant.CanarySameLeaderTrusted.On() {
			r.follow.trusting = true
		}
	}
	if invariant.CanaryTruncatesToHighWatermark.On() && f.Leader != kafka.NoBroker &&
		r.highWatermark < r.log.Assigned() {
		r.truncate(truncation{to: r.highWatermark}, out)
	}
}

// Following returns what the replica follows, if it does.
func (r *Replica) Following() (Following, bool) {
	switch {
	case r.follow != nil:
		return r.follow.Following, true
	case r.rest.follow != nil:
		return *r.rest.follow, true
	}
	return Following{}, false
}

// FetchPosition returns where to fetch from the leader. There is none while the replica does not
// follow a broker, is not online, or has writes (in flush mode: syncs) under way.
func (r *Replica) FetchPosition() (Position, bool) {
	f := r.follow
	if f == nil || r.state != Online || f.Leader == kafka.NoBroker || f.parked ||
		r.log.AckEnd() != r.log.Assigned() {
		return Position{}, false
	}
	p := Position{
		Offset: r.log.Assigned(), LastFetchedEpoch: r.log.LatestEpoch(), LeaderEpoch: f.Epoch,
		LogStart: r.log.LogStartOffset(), HighWatermark: r.highWatermark, Synced: r.logConfig.FlushMode(),
	}
	if f.trusting || f.idle {
		p.LastFetchedEpoch = kafka.NoLeaderEpoch
	}
	return p, true
}

// Fetched takes what the leader answered to a position. It is late if the replica does not stand
// there any more.
func (r *Replica) Fetched(now env.Now, at Position, f *Fetched, out *env.Effects) FollowResult {
	if here, ok := r.FetchPosition(); !ok || here.LeaderEpoch != at.LeaderEpoch ||
		here.Offset != at.Offset || here.LastFetchedEpoch != at.LastFetchedEpoch {
		return FollowContinue
	}
	switch f.Code {
	case kafka.None:
	case kafka.OffsetOutOfRange:
		return r.outOfRange(f, out)
	case kafka.FencedLeaderEpoch:
		r.follow.parked = true
		return FollowWait
	default:
		return FollowRetry
	}
	if invariant.CanaryHighWatermarkFirst.On() {
		r.leaderSays(f)
		r.followLeader()
	}
	if f.Diverging.Found() {
		r.diverge(f.Diverging, out)
		return FollowContinue
	}
	r.foundAgain(f.HighWatermark)
	result := r.replicate(now, f, out)
	r.leaderSays(f)
	r.followLeader()
	return result
}

// leaderSays notes what holds of the leader now that both logs agree.
func (r *Replica) leaderSays(f *Fetched) {
	r.follow.highWatermark, r.follow.logStart = f.HighWatermark, f.LogStart
	if invariant.CanaryEpochForgottenWhenIdle.On() {
		r.follow.idle = len(f.Batches) == 0
	}
}

// replicate appends the leader's batches.
func (r *Replica) replicate(now env.Now, f *Fetched, out *env.Effects) FollowResult {
	for i := range f.Batches {
		batch := &f.Batches[i]
		if !r.acceptable(batch) {
			r.Counters.CorruptBatches++
			invariant.Sometimes(true, invariant.MarkBatchOfLeaderRefused)
			return FollowRetry
		}
		if _, code := r.log.AppendReplica(now, batch, f.Data[i], out); code != kafka.None {
			return FollowRetry
		}
		r.Counters.ReplicatedBatches++
		r.Counters.ReplicatedBytes += int64(batch.SizeBytes)
	}
	if f.Corrupt {
		r.Counters.CorruptBatches++
		invariant.Sometimes(true, invariant.MarkBatchOfLeaderRefused)
		return FollowRetry
	}
	return FollowContinue
}

// acceptable says whether a batch can be what the leader holds at this log's end (KAFKA-18723).
func (r *Replica) acceptable(b *record.Facts) bool {
	if invariant.CanaryFollowerTakesAnything.On() {
		return b.BaseOffset >= r.log.Assigned()
	}
	next := r.log.Assigned()
	return b.Problem == record.NoProblem &&
		(b.BaseOffset == next || b.BaseOffset > next && r.logConfig.AllowGaps) &&
		b.LeaderEpoch >= r.log.LatestEpoch() && b.LeaderEpoch <= r.follow.Epoch
}

// followLeader moves the high watermark and the log start to what the leader said, as far as this
// log has come (kafka-map rule 18). A new leader may know of less: what is committed stays so.
func (r *Replica) followLeader() {
	f := r.follow
	if f == nil {
		return
	}
	if to := min(f.highWatermark, r.log.Written()); to > r.highWatermark {
		r.highWatermark, r.changed = to, true
	}
	if to := min(f.logStart, r.highWatermark); to > r.log.LogStartOffset() {
		r.log.AdvanceLogStart(to)
		r.changed = true
	}
}
