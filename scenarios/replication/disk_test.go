package replication

import (
	"fmt"
	"testing"

	"stet/core/env"
	"stet/sim"
	"stet/sim/client"
)

const firstSegment = "orders-0/00000000000000000000.log"

// failNext has the next call of a kind on the first segment of orders-0 fail.
func failNext(m *sim.Machine, kind sim.DiskOpKind, count int) {
	next := m.Disk.Calls(env.Path{Name: firstSegment}, kind) + 1
	var rules sim.DiskRules
	for i := range count {
		rules = append(rules, sim.DiskRule{
			Path: firstSegment, Kind: kind, Ordinal: next + i, Fault: sim.DiskFault{Kind: sim.DiskEIO},
		})
	}
	m.Disk.Plan = rules
}

// A disk that fails writes or syncs for a while costs time, whoever it belongs to.
func TestFailingDiskLosesNothing(t *testing.T) {
	for _, kind := range []sim.DiskOpKind{sim.DiskWrite, sim.DiskSync} {
		for _, count := range []int{1, 5} {
			t.Run(fmt.Sprintf("%d %s", count, kind), func(t *testing.T) {
				for seed := uint64(1); seed <= *seedCount; seed++ {
					c := newCluster(t, seed, nil)
					c.createWith(client.NewTopic{
						Name: "orders", Partitions: 1, Replicas: 3, Key: "flush.messages", Value: "1",
					})
					for _, m := range c.nodes {
						c.produce(10)
						failNext(m, kind, count)
						c.produce(10)
						c.settled()
					}
					failNext(c.found(), kind, count)
					c.produce(10)
					c.settled()
					c.readBack()
					c.world.Close()
				}
			})
		}
	}
}
