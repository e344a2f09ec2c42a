package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Leadership is what the metadata say of a partition whose leader this replica is.
type Leadership struct {
	Epoch             kafka.LeaderEpoch
	PartitionEpoch    kafka.PartitionEpoch
	ISR               []kafka.BrokerID // not written, and shared with the image
	Replicas          []kafka.BrokerID // all of them; likewise
	Recovering        bool             // elected from outside of ISR and ELR (KIP-704)
	ReplicationFactor int
}

// leader holds the state that a replica has only while it leads, in one epoch.
type leader struct {
	self  kafka.BrokerID
	epoch kafka.LeaderEpoch

	// epochStart is the log end when this leadership began (kafka-map rule 17).
	epochStart kafka.Offset

	// end is what this replica itself contributes to the high watermark, exclusive: what is written,
	// or synced in flush mode.
	end kafka.Offset

	// written is the end up to which followers can fetch, as it was last seen.
	written kafka.Offset

	durably bool // see Replica.SetDurably

	replicationFactor int
	isr               isr
	followers         followers
}

func newLeader(self kafka.BrokerID, l Leadership, end kafka.Offset) *leader {
	led := &leader{
		self: self, epoch: l.Epoch, epochStart: end, replicationFactor: l.ReplicationFactor,
		isr: newISR(l),
	}
	led.followers = led.followers.of(self, l)
	led.proposeRecovered()
	return led
}

// update takes over a change within the epoch. What is older than an answer of the controller is
// late.
func (l *leader) update(to Leadership) {
	invariant.Always(to.Epoch == l.epoch, "a leader changes within its epoch")
	if !l.isr.update(to) {
		return
	}
	l.replicationFactor = to.ReplicationFactor
	l.followers = l.followers.of(l.self, to)
	l.proposeRecovered()
}

// Lead makes this replica the leader, or changes its leadership. An older epoch is late.
func (r *Replica) Lead(l Leadership, out *env.Effects) {
	if l.Epoch < r.told {
		return
	}
	r.told = l.Epoch
	if r.state != Online {
		r.rest.lead, r.rest.follow = &l, nil
		return
	}
	switch {
	case l.Epoch < r.log.LatestEpoch():
		return // the metadata went back, the log does not
	case r.lead == nil && r.refuses(&l):
		r.resign(kafka.NotLeaderOrFollower)
		r.follow = nil
		return
	case r.lead != nil && l.Epoch == r.lead.epoch:
		r.lead.update(l)
	default:
		r.begin(l)
	}
	r.changed = true
	r.advance(out)
}

// begin starts a leadership.
func (r *Replica) begin(l Leadership) {
	// Whoever waits in the old epoch can not be told that its own batch is what reached the high
	// watermark.
	r.resign(kafka.NotLeaderOrFollower)
	before := r.lead
	r.lead, r.follow = nil, nil
	if !invariant.CanaryEpochWithoutStart.On() {
		r.log.AssignEpoch(l.Epoch)
	}
	r.lead = newLeader(r.Broker, l, r.log.Assigned())
	r.lead.durably = r.durably
	if invariant.CanaryFollowerStateKept.On() && before != nil {
		r.lead.followers = before.followers
	}
	if before := r.rest.isr; before != nil && before.leaderEpoch == l.Epoch {
		r.lead.isr.adopt(before)
	}
	r.rest.isr, r.rest.lost = nil, false
}

// Resign ends the leadership, or following.
func (r *Replica) Resign() {
	r.rest.forget()
	r.resign(kafka.NotLeaderOrFollower)
	r.lead, r.follow = nil, nil
	r.changed = true
}

// resign fails everyone who waits, with the code.
func (r *Replica) resign(code kafka.ErrorCode) {
	if invariant.CanaryAckOfAnotherEpoch.On() && code == kafka.NotLeaderOrFollower {
		return
	}
	for _, q := range []*acknowledgements{&r.forLocal, &r.forAll} {
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
}

// acknowledge is the good end of an append.
func (r *Replica) acknowledge(w waiting, code kafka.ErrorCode) {
	r.outcomes = append(r.outcomes, Outcome{
		Ticket: w.ticket, Code: code, BaseOffset: w.base,
		AppendTimeMs: w.appendTimeMs, LogStartOffset: r.log.LogStartOffset(),
	})
}
