package broker

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
)

// controllerLink is the link to the active controller, as far as the broker knows which one that is:
// it dials the controllers that it knows in turn, and follows what they say of who leads. It leaves a
// controller that does not lead, and one that is silent.
type controllerLink struct {
	link
	place  int                       // among those known, of the controller that was or will be dialled
	next   kafka.BrokerID            // to be dialled when this link ends; NoBroker: the next in turn
	joined []kafka.ControllerAddress // that led and are not in the configuration, as others told
}

func (l *controllerLink) begin() { l.owner, l.next = l, kafka.NoBroker }

// address is that of the controller whose turn it is.
func (l *controllerLink) address(b *Broker) (string, bool) {
	known := l.known(b)
	l.place %= len(known)
	return known[l.place].Addr, true
}

func (l *controllerLink) linkOpened(b *Broker) { b.linkOpened() }

// linkEnded chooses who is dialled next.
func (l *controllerLink) linkEnded(b *Broker) {
	if place, ok := l.find(b, l.next); ok {
		l.place = place
	} else {
		l.place++
	}
	l.next = kafka.NoBroker
}

func (l *controllerLink) find(b *Broker, node kafka.BrokerID) (place int, ok bool) {
	place = slices.IndexFunc(l.known(b), func(c kafka.ControllerAddress) bool {
		return c.Node == node
	})
	return place, place >= 0
}

// known lists the controllers that may lead: those of the configuration, and who has joined them.
func (l *controllerLink) known(b *Broker) []kafka.ControllerAddress {
	return append(slices.Clip(b.config.Controllers), l.joined...)
}

// learn remembers where a controller is that is not in the configuration.
func (l *controllerLink) learn(b *Broker, c kafka.ControllerAddress) {
	configured := slices.ContainsFunc(b.config.Controllers, func(o kafka.ControllerAddress) bool {
		return o.Node == c.Node
	})
	if c.Addr == "" || configured || slices.Contains(l.joined, c) {
		return
	}
	l.joined = slices.DeleteFunc(l.joined, func(o kafka.ControllerAddress) bool { return o.Node == c.Node })
	l.joined = append(l.joined, c)
}

// peer names the controller that the link is to.
func (l *controllerLink) peer(b *Broker) string {
	known := l.known(b)
	c := known[l.place%len(known)]
	if c.Addr == "" {
		return "this node"
	}
	return c.Addr
}

// leadsNot is told that the controller has answered that it does not lead, and who does if it knows.
// With only one controller there is nothing to do but to ask it again.
func (l *controllerLink) leadsNot(b *Broker, leader kafka.BrokerID) {
	known := l.known(b)
	n := len(known)
	if l.stands && n > 1 && leader != known[l.place%n].Node {
		l.next = leader
		l.leave(b, env.OK)
	}
}
