package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Lead makes this replica the leader, or changes its leadership. An older epoch is late.
func (r *Replica) Lead(l Leadership, out *env.Effects) {
	if r.state != Online {
		r.wanted = &l
		return
	}
	switch {
	case r.lead != nil && l.Epoch < r.lead.epoch:
		return
	case l.Epoch < r.log.LatestEpoch():
		return // the metadata went back, the log does not
	case r.lead != nil && l.Epoch == r.lead.epoch:
		r.lead.update(l)
	default:
		// Whoever waits in the old epoch can not be told that its own batch is what reached the
		// high watermark (canary 17).
		r.resign(kafka.NotLeaderOrFollower)
		r.log.AssignEpoch(l.Epoch)
		r.lead = newLeader(r.Broker, l, r.log.Assigned())
	}
	r.changed = true
	r.advance(out)
}

// Resign ends the leadership.
func (r *Replica) Resign() {
	r.wanted = nil
	r.resign(kafka.NotLeaderOrFollower)
	r.changed = true
}

// resign fails everyone who waits, with the code, and forgets the leadership.
func (r *Replica) resign(code kafka.ErrorCode) {
	if r.lead == nil {
		return
	}
	for _, q := range []*acknowledgements{&r.lead.forLocal, &r.lead.forAll} {
		for {
			w, ok := q.pop(1<<63 - 1)
			if !ok {
				break
			}
			r.outcomes = append(r.outcomes, Outcome{
				Ticket: w.ticket, Code: code,
				BaseOffset: kafka.NoOffset, AppendTimeMs: kafka.NoTimestamp,
				LogStartOffset: kafka.NoOffset,
			})
		}
	}
	r.lead = nil
}

// localEnd is what this replica contributes to the high watermark: what is written, or in flush
// mode what is synced.
func (r *Replica) localEnd() kafka.Offset {
	if invariant.CanaryAckBeforeSync.On() {
		return r.log.Written()
	}
	return r.log.AckEnd()
}

// advance moves the high watermark and acknowledges what it and the local end have passed.
func (r *Replica) advance(out *env.Effects) {
	l := r.lead
	if l == nil || r.state != Online {
		return
	}
	// Flush mode, switched on, does not take back what has been acknowledged without it.
	end := max(r.localEnd(), l.maximalISR[0].end)
	l.maximalISR[0].end = end
	r.advanceHighWatermark(l)
	for {
		w, ok := l.forLocal.pop(end)
		if !ok {
			break
		}
		r.acknowledge(w, kafka.None)
	}
	for {
		w, ok := l.forAll.pop(r.highWatermark)
		if !ok {
			break
		}
		code := kafka.None
		if l.underMinISR(r.config) {
			code = kafka.NotEnoughReplicasAfterAppend
		}
		r.acknowledge(w, code)
	}
}

func (r *Replica) advanceHighWatermark(l *leader) {
	if l.underMinISR(r.config) {
		return
	}
	committed := l.committed()
	if committed <= r.highWatermark {
		return
	}
	r.highWatermark = committed
	r.changed = true
	invariant.Always(r.log.LogStartOffset() <= committed, "logStart <= highWatermark")
	invariant.Always(committed <= r.log.Written(), "highWatermark <= written")
}

func (r *Replica) acknowledge(w waiting, code kafka.ErrorCode) {
	r.outcomes = append(r.outcomes, Outcome{
		Ticket: w.ticket, Code: code, BaseOffset: w.base,
		AppendTimeMs: w.appendTimeMs, LogStartOffset: r.log.LogStartOffset(),
	})
}
