package partition_test

import (
	"slices"

	"stet/core/kafka"
	"stet/core/partition"
)

// image is what the controller publishes of the partition. It is not written once it is published.
type image struct {
	leader         kafka.BrokerID
	epoch          kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	isr, elr       []kafka.BrokerID
	brokers        [nodeCount + 1]registration // by id
	flush          bool                        // the topic is in flush mode
}

type registration struct {
	epoch  kafka.BrokerEpoch
	fenced bool
}

func (i *image) active(id kafka.BrokerID) bool { return !i.brokers[id].fenced }

// controller decides as Kafka's does with eligible leader replicas (KIP-966), about one partition of
// three replicas, and publishes every change to every node.
type controller struct {
	model *model
	image *image
	bugs  controllerBugs
}

// controllerBugs are the canaries that live in the controller.
type controllerBugs struct {
	lastReplicaStanding   bool // 12
	trustsUncleanRestarts bool // 13
	admitsFenced          bool // 15
}

func newController(m *model) *controller {
	c := &controller{model: m, image: &image{leader: 1, isr: slices.Clone(all), partitionEpoch: 0}}
	c.image.flush = m.config.FlushMode()
	for _, id := range all {
		c.image.brokers[id] = registration{epoch: kafka.BrokerEpoch(id)}
	}
	return c
}

// change publishes a new image.
func (c *controller) change(edit func(next *image)) {
	next := *c.image
	edit(&next)
	if len(next.isr) >= c.model.minISR {
		next.elr = nil
	}
	if next.leader != c.image.leader || next.epoch != c.image.epoch ||
		!slices.Equal(next.isr, c.image.isr) || !slices.Equal(next.elr, c.image.elr) {
		next.partitionEpoch++
	}
	for _, id := range next.isr {
		if !next.active(id) && !c.bugs.lastReplicaStanding {
			fail("R7", "broker %d is fenced and in the ISR", id)
		}
	}
	c.image = &next
	for _, n := range c.model.nodes {
		if n.replica != nil {
			n.news = append(n.news, &next)
		}
	}
}

// shrink takes the ISR down; who leaves a set that becomes too small stays eligible.
func (next *image) shrink(isr []kafka.BrokerID, minISR int) {
	if len(isr) < minISR {
		for _, id := range next.isr {
			if !slices.Contains(isr, id) && !slices.Contains(next.elr, id) {
				next.elr = append(slices.Clone(next.elr), id)
			}
		}
	}
	next.isr = isr
	next.elr = without(next.elr, isr...)
}

// elect chooses a leader from the ISR, else from the eligible leader replicas, else nobody.
func (next *image) elect(prefer kafka.BrokerID) {
	next.epoch++
	next.leader = kafka.NoBroker
	candidates := slices.DeleteFunc(slices.Clone(next.isr), func(id kafka.BrokerID) bool { return !next.active(id) })
	if len(next.isr) == 0 {
		candidates = slices.DeleteFunc(slices.Clone(next.elr), func(id kafka.BrokerID) bool { return !next.active(id) })
	}
	if len(candidates) == 0 {
		return
	}
	next.leader = candidates[0]
	if slices.Contains(candidates, prefer) {
		next.leader = prefer
	}
	if len(next.isr) == 0 {
		next.isr = []kafka.BrokerID{next.leader}
		next.elr = without(next.elr, next.leader)
	}
}

// fence is what a session that expires leads to.
func (c *controller) fence(id kafka.BrokerID) {
	if !c.image.active(id) {
		return
	}
	c.change(func(next *image) {
		next.brokers[id].fenced = true
		isr := without(next.isr, id)
		if len(isr) == 0 && c.bugs.lastReplicaStanding {
			isr = next.isr
		}
		next.shrink(isr, c.model.minISR)
		if next.leader == id {
			next.elect(0)
		}
	})
}

// register begins another life of a broker. One that has lost what it had is no candidate any more.
func (c *controller) register(id kafka.BrokerID, unclean bool) {
	c.fence(id)
	c.model.brokerEpoch++
	c.change(func(next *image) {
		next.brokers[id] = registration{epoch: c.model.brokerEpoch, fenced: true}
		if unclean && !c.bugs.trustsUncleanRestarts {
			if !c.bugs.lastReplicaStanding {
				next.isr = without(next.isr, id)
			}
			next.elr = without(next.elr, id)
		}
	})
}

func (c *controller) unfence(id kafka.BrokerID) {
	c.change(func(next *image) {
		next.brokers[id].fenced = false
		if next.leader == kafka.NoBroker {
			next.elect(0)
		}
	})
}

// alter judges a proposal (kafka-map rule 19).
func (c *controller) alter(from kafka.BrokerID, p partition.ISRProposal) partition.ISRAnswer {
	now := c.image
	a := partition.ISRAnswer{Proposal: partition.ISRVersion{LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}}
	switch {
	case p.LeaderEpoch > now.epoch || p.PartitionEpoch > now.partitionEpoch:
		a.Code = kafka.NotController
	case now.leader != from || p.LeaderEpoch < now.epoch:
		a.Code = kafka.FencedLeaderEpoch
	case p.PartitionEpoch != now.partitionEpoch:
		a.Code = kafka.InvalidUpdateVersion
	case !c.mayJoin(p.ISR):
		a.Code = kafka.IneligibleReplica
	}
	if a.Code != kafka.None {
		return a
	}
	var isr []kafka.BrokerID
	for _, m := range p.ISR {
		isr = append(isr, m.Broker)
	}
	c.change(func(next *image) { next.shrink(isr, c.model.minISR) })
	now = c.image
	a.ISR, a.LeaderEpoch, a.PartitionEpoch = now.isr, now.epoch, now.partitionEpoch
	return a
}

func (c *controller) mayJoin(members []partition.ISRMember) bool {
	for _, m := range members {
		known := &c.image.brokers[m.Broker]
		if known.fenced && !c.bugs.admitsFenced ||
			m.Epoch != kafka.NoBrokerEpoch && m.Epoch != known.epoch {
			return false
		}
	}
	return true
}

func without(ids []kafka.BrokerID, gone ...kafka.BrokerID) []kafka.BrokerID {
	return slices.DeleteFunc(slices.Clone(ids), func(id kafka.BrokerID) bool { return slices.Contains(gone, id) })
}
