package partition

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// CheckISR looks for followers that have been behind for longer than lagMax, and proposes an ISR
// without them. Call it now and then. eligible says whether a broker may be in an ISR, and its
// epoch.
func (r *Replica) CheckISR(now env.Now, lagMax time.Duration,
	eligible func(kafka.BrokerID) (kafka.BrokerEpoch, bool), out *env.Effects,
) {
	l := r.lead
	if l == nil || r.state != Online {
		return
	}
	l.proposeRecovered() // again, if it was refused
	var members []ISRMember
	for _, id := range l.isr.committed {
		f := l.followers.find(id)
		if f == nil || !f.lags(now.Mono, lagMax, r.log.Written()) {
			members = append(members, l.member(id))
		}
	}
	for i := range l.followers {
		f := &l.followers[i]
		epoch, ok := eligible(f.id)
		f.joining = f.joining && ok && epoch == f.brokerEpoch &&
			!f.lags(now.Mono, lagMax, r.log.Written())
	}
	if l.isr.proposal == nil && len(members) < len(l.isr.committed) {
		invariant.Sometimes(true, invariant.MarkISRShrink)
		l.isr.propose(members, false)
	}
	r.advance(out)
}

// member is a replica as a proposal names it.
func (l *leader) member(id kafka.BrokerID) ISRMember {
	m := ISRMember{Broker: id, Epoch: kafka.NoBrokerEpoch}
	if f := l.followers.find(id); f != nil {
		m.Epoch = f.brokerEpoch
	}
	return m
}

// proposeRecovered ends the recovery after an unclean election: what this log holds is what there is.
func (l *leader) proposeRecovered() {
	if l.isr.recovering && l.isr.proposal == nil {
		l.isr.propose([]ISRMember{l.member(l.self)}, true)
	}
}

// expand proposes the admission of a follower that has what it takes (kafka-map rule 12).
func (l *leader) expand(f *progress, eligible bool, highWatermark kafka.Offset) {
	if l.isr.proposal != nil || l.isr.recovering || l.isr.has(f.id) || !eligible {
		return
	}
	// The high watermark of a new leader lags; up to where its epoch begins all may be committed.
	end := f.counted(l.durably)
	if end < highWatermark || end < l.epochStart && !invariant.CanaryJoinsBelowEpochStart.On() {
		return
	}
	members := make([]ISRMember, 0, len(l.isr.committed)+1)
	for _, id := range l.isr.committed {
		members = append(members, l.member(id))
	}
	invariant.Sometimes(true, invariant.MarkISRExpand)
	l.isr.propose(append(members, l.member(f.id)), false)
}

// dropLost proposes an ISR without a member that has lost what is committed: it fetched from below
// the high watermark, and what it has agrees with this log.
func (l *leader) dropLost(f *progress, highWatermark kafka.Offset) {
	if l.isr.proposal != nil || !l.isr.has(f.id) || f.end >= highWatermark {
		return
	}
	var members []ISRMember
	for _, id := range l.isr.committed {
		if id != f.id {
			members = append(members, l.member(id))
		}
	}
	l.isr.propose(members, false)
}

// TakeProposal returns the ISR that the controller is to be asked for, once for each attempt.
func (r *Replica) TakeProposal() (ISRProposal, bool) {
	if r.lead == nil || r.lead.isr.proposal == nil || r.lead.isr.taken {
		return ISRProposal{}, false
	}
	r.lead.isr.taken = true
	p := *r.lead.isr.proposal
	p.ISR = slices.Clone(p.ISR)
	if invariant.CanaryEpochReadLate.On() {
		for i, m := range p.ISR {
			p.ISR[i] = r.lead.member(m.Broker)
		}
	}
	return p, true
}

// ProposalAnswered takes what became of a proposal that was taken.
func (r *Replica) ProposalAnswered(a ISRAnswer, out *env.Effects) {
	if r.lead == nil || !r.lead.isr.answered(&a) {
		return
	}
	r.changed = true
	r.advance(out)
}
