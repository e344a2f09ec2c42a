package partition

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// truncation is a cut of the log that the next recovery makes.
type truncation struct {
	to kafka.Offset
	// reset: nothing is kept, and an empty log begins at to.
	reset bool
	// below: what is cut was below the high watermark, which takes an unclean election.
	below bool
}

// diverge cuts off what the leader does not have. Its largest epoch up to this log's last one is
// d.Epoch, and ends at d.EndOffset (kafka-map rules 1 and 4, KIP-279): what this log has of later
// epochs is not the leader's, nor what lies behind that end. When that leaves an end of an epoch that
// the leader does not have either, its next answer says so.
func (r *Replica) diverge(d Divergence, out *env.Effects) {
	to := min(d.EndOffset, r.log.Assigned())
	if epoch, end := r.log.EndOffsetFor(d.Epoch); epoch != kafka.NoLeaderEpoch &&
		!invariant.CanaryEndOfAnotherEpoch.On() {
		to = min(to, end)
	}
	if to == r.log.Assigned() {
		// No record has to go, but the epochs that begin here do, or the leader goes on to find a
		// divergence (KAFKA-10706).
		if !invariant.CanaryEpochsNotCut.On() {
			r.log.CutEpochs(to)
		}
		return
	}
	r.truncate(truncation{to: max(to, 0)}, out)
}

// outOfRange is told that the leader holds nothing at this log's end (kafka-map rule 5): its log
// begins behind it, or this one is empty and begins behind the leader's end.
func (r *Replica) outOfRange(f *Fetched, out *env.Effects) FollowResult {
	empty := r.log.LatestEpoch() == kafka.NoLeaderEpoch
	if f.LogStart == kafka.NoOffset || f.LogStart <= r.log.Assigned() && !empty {
		return FollowRetry
	}
	r.truncate(truncation{to: f.LogStart, reset: true}, out)
	return FollowContinue
}

// truncate lets the log go, so that recovery can cut it, once nothing is under way any more: effects,
// look-ups, and responses that still read its files.
func (r *Replica) truncate(t truncation, out *env.Effects) {
	t.below = t.to < r.highWatermark
	invariant.Sometimes(t.below, invariant.MarkTruncatedBelowHighWatermark)
	invariant.Sometimes(true, invariant.MarkFollowerTruncates)
	r.Counters.Truncations++
	r.truncation = &t
	r.putToRest()
	r.state, r.changed = Truncating, true
	r.log.Stop()
	r.finishTruncating(out)
}

// finishTruncating goes on to recovery. A failure on the way makes the log suspect, as ever.
func (r *Replica) finishTruncating(out *env.Effects) {
	if r.log.FenceReason() != env.OK {
		r.fence(out)
		r.finishFenced(out)
		return
	}
	r.finishFenced(out)
}

// recovery returns the job that makes the directory fit to be opened.
func (r *Replica) recovery(now env.Now) env.Job {
	t := r.truncation
	if t != nil && t.reset {
		return &commitlog.ResetJob{
			Path: r.Path(), TopicID: r.TopicID, Config: r.logConfig, WallMs: now.WallMs, Start: t.to,
		}
	}
	job := &commitlog.RecoverJob{
		Path: r.Path(), TopicID: r.TopicID, Config: r.logConfig, WallMs: now.WallMs,
		Clean: r.clean, RecoveryPoint: r.start.RecoveryPoint, LogStart: r.start.LogStart,
		TruncateTo: kafka.NoOffset, Rewrite: r.suspect,
	}
	if t != nil {
		job.TruncateTo, job.Replace = t.to, t.below
	}
	return job
}
