package broker

import (
	"stet/core/kafka"
	"stet/core/metadata"
)

// isrKeeper looks now and then for followers that have been behind for too long, so that nobody waits
// for them. That followers join again is seen when they fetch.
type isrKeeper struct{ timer }

func (k *isrKeeper) begin(b *Broker) {
	b.timers.set(&k.timer, b.now.Mono.Add(b.config.Replica.LagTime/2), k)
}

func (k *isrKeeper) due(b *Broker) {
	k.begin(b)
	k.look(b)
}

// look goes through everything that this broker leads.
func (k *isrKeeper) look(b *Broker) {
	for _, r := range b.host.all {
		if r.Leading() {
			r.CheckISR(b.now, b.config.Replica.LagTime, b.eligible, b.out)
			b.afterReplica(r)
		}
	}
}

// eligible says whether a broker may be in an ISR (KIP-841), and its epoch.
func (b *Broker) eligible(id kafka.BrokerID) (kafka.BrokerEpoch, bool) {
	broker := b.image.Broker(id)
	if broker == nil {
		return kafka.NoBrokerEpoch, false
	}
	return broker.Epoch, broker.Active()
}

// brokersChanged looks again when brokers may be in an ISR that could not, or the other way round: a
// follower of a partition in which nothing happens does not say again that it would join.
func (k *isrKeeper) brokersChanged(b *Broker, changes []metadata.BrokerChange) {
	k.look(b)
	b.followersChanged(changes)
}
