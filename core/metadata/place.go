package metadata

import (
	"math/rand/v2"
	"slices"
	"strings"

	"stet/core/kafka"
)

// placeReplicas spreads partitions over the active brokers. Brokers stand in a ring in which
// racks alternate; partition i starts one place after partition i-1, and each time around the ring
// the followers are shifted one place more, so that the partitions of one leader do not all follow
// to the same broker. The first place is drawn.
func placeReplicas(image *Image, partitions, factor int, random *rand.Rand,
) ([][]kafka.BrokerID, refusal) {
	ring := rackRing(image)
	n := len(ring)
	if factor > n {
		return nil, refuse(kafka.InvalidReplicationFactor,
			"replication factor %d is larger than the number of brokers that can take replicas, %d",
			factor, n)
	}
	first := random.IntN(n)
	out := make([][]kafka.BrokerID, partitions)
	for i := range out {
		replicas := []kafka.BrokerID{ring[(first+i)%n]}
		shift := (i / n) % max(n-1, 1)
		for f := range factor - 1 {
			replicas = append(replicas, ring[(first+i+1+(shift+f)%(n-1))%n])
		}
		out[i] = replicas
	}
	return out, refusal{}
}

// rackRing orders the active brokers so that neighbours are of different racks as far as there
// are enough: first the first broker of every rack, then the second of every rack, and so on.
func rackRing(image *Image) []kafka.BrokerID {
	type member struct {
		broker *Broker
		nth    int // of its rack
	}
	var members []member
	seen := map[string]int{}
	for b := range image.Brokers() {
		if b.Active() {
			members = append(members, member{b, seen[b.Rack]})
			seen[b.Rack]++
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		if a.nth != b.nth {
			return a.nth - b.nth
		}
		return strings.Compare(a.broker.Rack, b.broker.Rack)
	})
	ring := make([]kafka.BrokerID, len(members))
	for i, m := range members {
		ring[i] = m.broker.ID
	}
	return ring
}
