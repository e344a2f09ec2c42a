package partition

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// Leadership is what the metadata say of a partition whose leader this replica is.
type Leadership struct {
	Epoch             kafka.LeaderEpoch
	PartitionEpoch    kafka.PartitionEpoch
	ISR               []kafka.BrokerID // not written, and shared with the image
	ReplicationFactor int
}

// leader holds the state that a replica has only while it leads.
type leader struct {
	epoch          kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	isr            []kafka.BrokerID // committed
	replicas       int

	// epochStart is the log end when this leadership began (kafka-map rule 17).
	epochStart kafka.Offset

	// maximalISR is the committed ISR and those whose admission is under way (KIP-497), with the
	// end up to which each is known to hold the log. This replica is the first member.
	maximalISR []member

	// forLocal waits for this replica's own end (acks=1), forAll for the high watermark.
	forLocal, forAll acknowledgements
}

// member is a replica that the high watermark waits for.
type member struct {
	id  kafka.BrokerID
	end kafka.Offset // exclusive; written, or synced in flush mode
}

func newLeader(self kafka.BrokerID, l Leadership, end kafka.Offset) *leader {
	led := &leader{epoch: l.Epoch, epochStart: end, maximalISR: []member{{id: self}}}
	led.update(l)
	return led
}

// update takes over a change of the ISR within the epoch. The high watermark waits for every member;
// one that is not known to hold anything yet holds it back.
func (l *leader) update(to Leadership) {
	invariant.Always(to.Epoch == l.epoch, "a leader changes within its epoch")
	l.partitionEpoch, l.isr, l.replicas = to.PartitionEpoch, to.ISR, to.ReplicationFactor
	before := l.maximalISR
	l.maximalISR = append([]member(nil), before[0])
	for _, id := range to.ISR {
		if id == before[0].id {
			continue
		}
		m := member{id: id}
		if i := slices.IndexFunc(before, func(m member) bool { return m.id == id }); i >= 0 {
			m = before[i]
		}
		l.maximalISR = append(l.maximalISR, m)
	}
}

// underMinISR says whether too few replicas are in sync to commit anything (KIP-966: whatever
// acks says). The minimum is bounded by the replication factor.
func (l *leader) underMinISR(config *kafka.TopicConfig) bool {
	return len(l.isr) < min(config.MinInsync(l.replicas), l.replicas)
}

// committed is the end that every member of the maximal ISR holds.
func (l *leader) committed() kafka.Offset {
	end := l.maximalISR[0].end
	for _, m := range l.maximalISR[1:] {
		end = min(end, m.end)
	}
	return end
}
