package metadata

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"stet/core/kafka"
)

// placer spreads the partitions of one topic over the active brokers. Of each partition, first of
// all, the racks hold as many replicas as each other, as far as they have brokers; then every broker
// leads as many partitions and hosts as many replicas; then the partitions that one broker leads have
// their followers on different brokers, so that its load goes to all of them when it fails. Kafka's
// StripedReplicaPlacer has the same aims.
type placer struct {
	ring  []seat // in which racks alternate
	first int    // of the ring: where equals are begun with
	pairs []int  // leader's seat * seats + follower's seat: in how many partitions
}

// seat is an active broker and what it has of the topic.
type seat struct {
	broker            *Broker
	leaders, replicas int
	taken             bool // by the partition that is being placed
}

// newPlacer counts what an existing topic has already; nil is a new one. The first place is drawn.
func newPlacer(image *Image, topic *Topic, random *rand.Rand) *placer {
	p := &placer{ring: rackRing(image)}
	n := len(p.ring)
	if n == 0 {
		return p
	}
	p.first, p.pairs = random.IntN(n), make([]int, n*n)
	if topic == nil {
		return p
	}
	p.first += topic.partitions.count
	seats := map[kafka.BrokerID]int{}
	for i := range p.ring {
		seats[p.ring[i].broker.ID] = i
	}
	for i := range topic.partitions.count {
		var at []int
		for k, id := range topic.partitions.get(i).Replicas {
			if s, active := seats[id]; active {
				if k == 0 {
					p.ring[s].leaders++
				}
				at = append(at, s)
			}
		}
		p.seated(at)
	}
	return p
}

// place returns the replicas of the topic's next partition, the preferred leader first. There are at
// least factor active brokers.
func (p *placer) place(factor int) []kafka.BrokerID {
	ring := p.ring
	leader := p.best(p.first, func(a, b int) int {
		return cmp.Or(ring[a].leaders-ring[b].leaders, ring[a].replicas-ring[b].replicas)
	})
	p.first++
	ring[leader].leaders++
	inRack := map[string]int{}
	at := p.take(nil, leader, inRack)
	for len(at) < factor {
		follower := p.best(leader+1, func(a, b int) int {
			return cmp.Or(inRack[ring[a].broker.Rack]-inRack[ring[b].broker.Rack],
				p.load(leader, a)-p.load(leader, b))
		})
		at = p.take(at, follower, inRack)
	}
	p.seated(at)
	out := make([]kafka.BrokerID, factor)
	for i, s := range at {
		ring[s].taken = false
		out[i] = ring[s].broker.ID
	}
	return out
}

func (p *placer) take(at []int, s int, inRack map[string]int) []int {
	p.ring[s].taken = true
	inRack[p.ring[s].broker.Rack]++
	return append(at, s)
}

// load weighs a follower by what it hosts and by how often it follows this leader. The sum keeps both
// even within two; either first lets the other drift.
func (p *placer) load(leader, follower int) int {
	return p.ring[follower].replicas + p.pairs[leader*len(p.ring)+follower]
}

// best returns the least seat that is not taken; of equals the first from a place on.
func (p *placer) best(from int, compare func(a, b int) int) int {
	best := -1
	for i := range p.ring {
		s := (from + i) % len(p.ring)
		if !p.ring[s].taken && (best < 0 || compare(s, best) < 0) {
			best = s
		}
	}
	return best
}

// seated counts a partition whose replicas sit there.
func (p *placer) seated(at []int) {
	for _, s := range at {
		p.ring[s].replicas++
		p.pairs[at[0]*len(p.ring)+s]++
	}
}

// placeReplicas returns the replicas of count more partitions of a topic; nil is a new one.
func placeReplicas(image *Image, topic *Topic, count, factor int, random *rand.Rand,
) ([][]kafka.BrokerID, refusal) {
	p := newPlacer(image, topic, random)
	if factor > len(p.ring) {
		return nil, refuse(kafka.InvalidReplicationFactor,
			"replication factor %d is larger than the number of brokers that can take replicas, %d",
			factor, len(p.ring))
	}
	out := make([][]kafka.BrokerID, count)
	for i := range out {
		out[i] = p.place(factor)
	}
	return out, refusal{}
}

// rackRing orders the active brokers so that neighbours are of different racks as far as there are
// enough: first the first broker of every rack, then the second of every rack, and so on.
func rackRing(image *Image) []seat {
	nth := map[kafka.BrokerID]int{} // of its rack
	inRack := map[string]int{}
	var ring []seat
	for b := range image.Brokers() {
		if b.Active() {
			ring = append(ring, seat{broker: b})
			nth[b.ID] = inRack[b.Rack]
			inRack[b.Rack]++
		}
	}
	slices.SortStableFunc(ring, func(a, b seat) int {
		return cmp.Or(cmp.Compare(nth[a.broker.ID], nth[b.broker.ID]),
			strings.Compare(a.broker.Rack, b.broker.Rack))
	})
	return ring
}

// directoryLoad counts the replicas in the data directories of brokers.
type directoryLoad map[DirectoryID]int

// newDirectoryLoad looks at every partition, but only if a broker has several directories.
func newDirectoryLoad(image *Image) directoryLoad {
	load := directoryLoad{}
	several := false
	for b := range image.Brokers() {
		several = several || len(b.Directories) > 1
	}
	if !several {
		return load
	}
	for t := range image.Topics() {
		for i := range t.partitions.count {
			for _, id := range t.partitions.get(i).Directories {
				load[id]++
			}
		}
	}
	return load
}

// choose returns the directory of the broker with the fewest replicas, for one more; zero if the
// broker told of none.
func (l directoryLoad) choose(b *Broker) DirectoryID {
	if len(b.Directories) == 0 {
		return DirectoryID{}
	}
	best := slices.MinFunc(b.Directories, func(x, y DirectoryID) int { return l[x] - l[y] })
	l[best]++
	return best
}
