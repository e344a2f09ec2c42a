package replication

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/kafka"
	"stet/node"
	"stet/sim"
	"stet/sim/client"
)

var seedCount = flag.Uint64("seeds", 2, "how many seeds a story is played with")

// tester is a *testing.T or a *rapid.T.
type tester interface {
	require.TestingT
	Helper()
	Error(args ...any)
	Cleanup(f func())
}

// cluster is a few nodes with both roles, and somebody who asks things of them.
type cluster struct {
	t     tester
	world *sim.World
	nodes []*sim.Machine
	admin *client.Administrator
	owner sim.Owner
	topic client.Layout
	acked []string // of orders-0, by offset
	tries int
}

// troubled has every oddity that a client sees fail the test.
type troubled struct {
	client.Observer
	t tester
}

func (o troubled) Trouble(what string) { o.t.Error(what) }

func newCluster(t tester, seed uint64, change func(*node.Config)) *cluster {
	c := &cluster{t: t, world: sim.NewWorld(seed)}
	t.Cleanup(c.world.Close)
	var list []kafka.ControllerAddress
	for p := sim.Place(1); p <= 3; p++ {
		list = append(list, kafka.ControllerAddress{Node: kafka.BrokerID(p), Addr: sim.ControllerAddr(p)})
	}
	place, owner := c.world.NewClient()
	c.owner = owner
	c.admin = &client.Administrator{Host: &client.Host{
		Scheduler: c.world.Scheduler, Network: c.world.Network, Owner: owner, Name: "acceptance",
		Stream: c.world.Entropy.Stream("client", place), Observer: troubled{t: t},
		RequestTimeout: sim.Interval{Low: 6 * sim.Second, High: 7 * sim.Second},
		Pause:          sim.Interval{Low: 50 * sim.Millisecond, High: 100 * sim.Millisecond},
	}}
	for _, a := range list {
		n := node.Config{
			Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
			RequestBudgetBytes: 16 << 20, MaxFrameBytes: 4 << 20,
		}
		n.Broker.NodeID, n.Controller.NodeID = a.Node, a.Node
		n.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
		n.Broker.Controllers, n.Controller.Controllers = list, list
		if change != nil {
			change(&n)
		}
		m := c.world.AddMachine(n)
		m.Start()
		c.nodes = append(c.nodes, m)
		c.admin.Servers = append(c.admin.Servers, client.Server{Place: m.Place, Addr: m.Addr})
	}
	c.until("the cluster has formed", func() bool {
		return c.nodes[0].Ready() && c.nodes[1].Ready() && c.nodes[2].Ready()
	})
	return c
}

// seeds plays a story with several seeds.
func seeds(t *testing.T, story func(t *testing.T, c *cluster)) {
	for seed := uint64(1); seed <= *seedCount; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed, nil)
			c.create(3)
			story(t, c)
		})
	}
}

// until lets the world run until something holds.
func (c *cluster) until(what string, done func() bool) {
	c.t.Helper()
	require.False(c.t, c.world.Run(sim.Minute, done), "not within a minute: %s", what)
}

// do runs a client's straight-line work.
func (c *cluster) do(what string, work func()) {
	c.t.Helper()
	done := false
	c.world.Scheduler.Spawn(0, c.owner, what, func() {
		work()
		done = true
	})
	c.until(what, func() bool { return done })
}

func (c *cluster) create(replicas int16) {
	c.t.Helper()
	c.createWith(client.NewTopic{Name: "orders", Partitions: 1, Replicas: replicas})
}

func (c *cluster) createWith(topic client.NewTopic) {
	c.t.Helper()
	c.do("create a topic", func() {
		_, code := c.admin.CreateTopic(topic)
		require.Equal(c.t, kafka.None, code)
	})
}

// leader is the machine that leads orders-0 as the metadata have it, or nil.
func (c *cluster) leader() *sim.Machine {
	c.topic, _ = c.admin.Layout("orders")
	if len(c.topic.Leaders) == 0 || c.topic.Leaders[0].Addr == "" {
		return nil
	}
	for _, m := range c.nodes {
		if m.Place == c.topic.Leaders[0].Place && m.Running() {
			return m
		}
	}
	return nil
}

// produce has n batches acknowledged by all that are in sync, and tries each until it is.
func (c *cluster) produce(n int) {
	c.t.Helper()
	c.do("produce", func() {
		for range n {
			value := fmt.Sprintf("value %d", len(c.acked))
			for c.tries = 0; !c.write(value); {
				c.tries++
				require.Less(c.t, c.tries, 500, "nothing is acknowledged")
				c.world.Scheduler.Await(20 * sim.Millisecond)
			}
		}
	})
}

// write is one try. A value whose fate is not known may be there twice.
func (c *cluster) write(value string) bool {
	if len(c.topic.Leaders) == 0 && c.leader() == nil {
		return false
	}
	at := client.Address{Name: "orders", ID: c.topic.ID, Leader: c.topic.Leaders[0], Version: 13}
	offset, code := c.admin.Write(at, [][]byte{[]byte(value)}, 0)
	if code != kafka.None {
		c.topic = client.Layout{}
		c.admin.Prefer(c.nodes[c.tries%len(c.nodes)].Place) // who knows another leader, perhaps
		return false
	}
	for int(offset) > len(c.acked) {
		c.acked = append(c.acked, "")
	}
	require.Len(c.t, c.acked, int(offset), "an offset is acknowledged once")
	c.acked = append(c.acked, value)
	return true
}

// readBack reads all of orders-0 and compares it with what was acknowledged.
func (c *cluster) readBack() {
	c.t.Helper()
	c.do("read back", func() {
		require.NotNil(c.t, c.leader())
		at := client.Address{Name: "orders", ID: c.topic.ID, Leader: c.topic.Leaders[0], Version: 13}
		for next := kafka.Offset(0); int(next) < len(c.acked); {
			records, then, _, code := c.admin.Read(at, next)
			require.Equal(c.t, kafka.None, code)
			require.Greater(c.t, then, next, "the high watermark has what was acknowledged")
			for _, r := range records {
				if want := c.acked[r.Offset]; want != "" {
					require.Equal(c.t, want, string(r.Value), "offset %d", r.Offset)
				}
			}
			next = then
		}
	})
}
