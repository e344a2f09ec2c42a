package broker

import (
	"cmp"
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// replicaFetchers are the fetchers of this broker, one for each leader that it follows.
type replicaFetchers struct {
	byLeader []*replicaFetcher // ascending
	woken    []*replicaFetcher // looked at when the turn ends
}

// follow has a replica copied from its leader, and from nobody if it has none.
func (t *replicaFetchers) follow(b *Broker, r *hosted) {
	following, ok := r.Following()
	leader := following.Leader
	if !ok || leader == b.config.NodeID {
		leader = kafka.NoBroker
	}
	if c := r.copying; c != nil {
		if c.from.leader == leader {
			c.resume(b)
			return
		}
		t.drop(b, r)
	}
	if leader != kafka.NoBroker {
		t.of(b, leader).add(b, r)
	}
}

// resume ends the pause of a replica of which the metadata have said something.
func (c *copying) resume(b *Broker) {
	f := c.from
	c.tries = 0
	if c.paused {
		c.paused = false
		f.paused = slices.DeleteFunc(f.paused, func(other *copying) bool { return other == c })
	}
	f.look(b, c)
}

// of returns the fetcher of a leader, which is made when it is first needed.
func (t *replicaFetchers) of(b *Broker, leader kafka.BrokerID) *replicaFetcher {
	i, ok := slices.BinarySearchFunc(t.byLeader, leader, func(f *replicaFetcher, id kafka.BrokerID) int {
		return cmp.Compare(f.leader, id)
	})
	if !ok {
		f := newReplicaFetcher(leader)
		t.byLeader = slices.Insert(t.byLeader, i, f)
		f.dial(b)
	}
	return t.byLeader[i]
}

func (f *replicaFetcher) add(b *Broker, r *hosted) {
	r.copying = &copying{replica: r, from: f, place: len(f.all)}
	f.all = append(f.all, r.copying)
	f.look(b, r.copying)
}

// drop ends the copying of a replica.
func (t *replicaFetchers) drop(b *Broker, r *hosted) {
	c := r.copying
	if c == nil {
		return
	}
	f := c.from
	r.copying = nil
	f.written(c)
	f.session.drop(c.key())
	last := len(f.all) - 1
	f.all[c.place] = f.all[last]
	f.all[c.place].place = c.place
	f.all[last] = nil
	f.all = f.all[:last]
	gone := func(other *copying) bool { return other == c }
	if c.queued {
		f.queue = slices.DeleteFunc(f.queue, gone)
	}
	if c.paused {
		f.paused = slices.DeleteFunc(f.paused, gone)
	}
	if len(f.all) == 0 {
		t.wake(f) // it may end, unless there is more to copy when the turn ends
	}
}

// moved is told of every change of a replica here.
func (r *hosted) moved(b *Broker) {
	if c := r.copying; c != nil {
		c.from.look(b, c)
	}
}

func (t *replicaFetchers) wake(f *replicaFetcher) {
	if !f.woken {
		f.woken = true
		t.woken = append(t.woken, f)
	}
}

func (t *replicaFetchers) wakeAll() {
	for _, f := range t.byLeader {
		t.wake(f)
	}
}

// pump has the fetchers that were woken go on, and ends those with nothing to copy.
func (t *replicaFetchers) pump(b *Broker) {
	for i := 0; i < len(t.woken); i++ {
		f := t.woken[i]
		f.woken = false
		if len(f.all) == 0 {
			t.end(b, f)
		} else {
			f.pump(b)
		}
	}
	clear(t.woken)
	t.woken = t.woken[:0]
}

func (t *replicaFetchers) end(b *Broker, f *replicaFetcher) {
	f.over = true
	f.close(b)
	b.timers.clear(&f.next)
	t.byLeader = slices.DeleteFunc(t.byLeader, func(other *replicaFetcher) bool { return other == f })
}

// brokersChanged follows leaders to where they are now.
func (t *replicaFetchers) brokersChanged(b *Broker) {
	for _, f := range t.byLeader {
		addr, ok := b.interBrokerAddress(f.leader)
		switch {
		case !ok:
		case f.conn == 0 && f.again.place == 0:
			f.dial(b)
		case f.conn != 0 && addr != f.addr:
			invariant.Sometimes(true, invariant.MarkLeaderMoved)
			f.failures = 0
			f.leave(b, env.OK)
		}
	}
}

// close ends all fetchers.
func (t *replicaFetchers) close(b *Broker) {
	for _, f := range slices.Clone(t.byLeader) {
		for _, c := range slices.Clone(f.all) {
			t.drop(b, c.replica)
		}
		t.end(b, f)
	}
}
