package replication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/broker"
	"stet/core/kafka"
	"stet/node"
	"stet/sim"
)

// broker is the broker in a machine.
func brokerOf(m *sim.Machine) *broker.Broker {
	return m.Node().Loop(node.BrokerLoop).Core().(*broker.Broker)
}

// found is the leader as clients are told.
func (c *cluster) found() *sim.Machine {
	c.t.Helper()
	var leader *sim.Machine
	c.do("find the leader", func() { leader = c.leader() })
	require.NotNil(c.t, leader)
	return leader
}

// inSync is how many replicas the metadata have in sync, as a node knows them.
func inSync(m *sim.Machine) int {
	topic := brokerOf(m).Image().Topic("orders")
	if topic == nil {
		return 0 // it has not heard of it yet
	}
	return len(topic.Partition(0).ISR)
}

// settled waits until all three are in sync, and hold the same.
func (c *cluster) settled() {
	c.t.Helper()
	orders := kafka.TopicPartition{Topic: "orders"}
	c.until("all replicas are equal", func() bool {
		for _, m := range c.nodes {
			if !m.Ready() || inSync(m) < 3 {
				return false
			}
			r := brokerOf(m).Replica(orders)
			if int(r.HighWatermark()) < len(c.acked) || r.HighWatermark() != r.LogEndOffset() ||
				r.LogEndOffset() != brokerOf(c.nodes[0]).Replica(orders).LogEndOffset() {
				return false
			}
		}
		return true
	})
}

func TestLeaderThatIsCutOffLosesNothing(t *testing.T) {
	seeds(t, func(t *testing.T, c *cluster) {
		for range 3 {
			c.produce(10)
			former := c.found()
			for _, m := range c.nodes {
				if m != former {
					c.world.Network.Partition(former.Place, m.Place)
				}
			}
			// Its clients still reach it, and are told nothing.
			c.until("another leads", func() bool {
				for _, m := range c.nodes {
					r := brokerOf(m).Replica(kafka.TopicPartition{Topic: "orders"})
					if m != former && r.Leading() {
						return true
					}
				}
				return false
			})
			c.topic.Leaders = nil
			c.produce(10)
			c.world.Network.HealAll()
			c.settled()
			c.readBack()
		}
	})
}

func TestRollingRestartIsNotNoticed(t *testing.T) {
	seeds(t, func(t *testing.T, c *cluster) {
		c.produce(10)
		for range 2 {
			for _, m := range c.nodes {
				m.Stop()
				c.until("it stops", func() bool { return !m.Running() })
				require.NoError(t, m.Fatal())
				c.produce(5)
				m.Start()
				c.settled()
			}
		}
		c.readBack()
	})
}

// Each loses power in turn, with nothing synced of what was written, and the others have all of it.
func TestPowerOfOneAtATimeLosesNothing(t *testing.T) {
	seeds(t, func(t *testing.T, c *cluster) {
		for range 2 {
			for _, m := range c.nodes {
				c.produce(10)
				m.LosePower(nothing{})
				c.produce(5)
				m.Start()
				c.settled()
			}
		}
		c.readBack()
	})
}

func TestIdleClusterIsQuiet(t *testing.T) {
	c := newCluster(t, 1, nil)
	c.create(3)
	c.produce(1)
	c.settled()
	before := c.fetches()
	c.world.Run(sim.Minute, nil)
	per := float64(c.fetches()-before) / 60
	require.Less(t, per, 5.0, "two followers of one leader, each with a long poll of 500 ms")
	require.Greater(t, per, 3.0)
}

func (c *cluster) fetches() (sum int64) {
	for _, m := range c.nodes {
		sum += brokerOf(m).Metrics.ReplicaFetches
	}
	return sum
}

func TestTheSameSeedGivesTheSameRunOfReplicas(t *testing.T) {
	run := func(seed uint64) string {
		c := newCluster(t, seed, nil)
		defer c.world.Close()
		c.create(3)
		c.produce(5)
		c.found().Kill()
		c.produce(5)
		sum, err := c.world.Finish()
		require.NoError(t, err)
		return sum.String()
	}
	require.Equal(t, run(7), run(7))
	require.NotEqual(t, run(7), run(8))
}

// nothing of what was not synced survives.
type nothing struct{}

func (nothing) Kept([]string) int                       { return 0 }
func (nothing) Size(f sim.UnsyncedFile) int64           { return f.DurableSize }
func (nothing) Page(sim.UnsyncedFile, int) sim.PageFate { return sim.Uniform(sim.SectorOld) }
