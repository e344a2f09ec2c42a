package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// advance moves the high watermark of a leader and acknowledges what it and the local end have
// passed.
func (r *Replica) advance(out *env.Effects) {
	l := r.lead
	if l == nil || r.state != Online {
		return
	}
	l.end = r.localEnd()
	if written := r.log.Written(); written > l.written && len(l.followers) > 0 {
		l.written, r.changed = written, true // followers fetch it
	}
	r.advanceHighWatermark(l)
	for {
		w, ok := r.forLocal.pop(l.end)
		if !ok {
			break
		}
		r.acknowledge(w, kafka.None)
	}
	for {
		w, ok := r.forAll.pop(r.highWatermark)
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

// localEnd is what this replica contributes to the high watermark: what is written, or in flush
// mode what is synced.
func (r *Replica) localEnd() kafka.Offset {
	if invariant.CanaryAckBeforeSync.On() {
		return r.log.Written()
	}
	return r.log.AckEnd()
}

func (r *Replica) advanceHighWatermark(l *leader) {
	if l.underMinISR(r.config) && !invariant.CanaryCommitsUnderMinISR.On() {
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

// underMinISR says whether too few replicas are in sync to commit anything (KIP-966: whatever
// acks says). The minimum is bounded by the replication factor.
func (l *leader) underMinISR(config *kafka.TopicConfig) bool {
	return len(l.isr.committed) < min(config.MinInsync(l.replicationFactor), l.replicationFactor)
}

// committed is the end that every replica that counts is known to hold, durably if that is asked for.
func (l *leader) committed() kafka.Offset {
	end := l.end
	for i := range l.followers {
		if f := &l.followers[i]; l.waitsFor(f) {
			end = min(end, f.counted(l.durably))
		}
	}
	return end
}

// waitsFor says whether the high watermark must not pass a follower: it is in the maximal ISR, or is
// about to ask for its admission, which it would never reach if every batch that is committed
// without it set it back (kafka-map rule 10).
func (l *leader) waitsFor(f *progress) bool {
	if invariant.CanaryCommittedISROnly.On() {
		return l.isr.has(f.id)
	}
	return l.isr.mayHave(f.id) || f.joining
}
