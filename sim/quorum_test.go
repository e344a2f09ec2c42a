package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// three is a cluster of three nodes that have both roles.
func three(w *World) []*Machine {
	var list []kafka.ControllerAddress
	for p := Place(1); p <= 3; p++ {
		list = append(list, kafka.ControllerAddress{Node: kafka.BrokerID(p), Addr: ControllerAddr(p)})
	}
	for _, a := range list {
		c := testNodeConfig()
		c.Broker.NodeID, c.Controller.NodeID = a.Node, a.Node
		c.Broker.Controllers, c.Controller.Controllers = list, list
		w.AddMachine(c).Start()
	}
	return w.Machines
}

// TestTheSameSeedGivesTheSameRunOfAQuorum has elections, whose timeouts raft draws from crypto/rand:
// every node draws from its own stream.
func TestTheSameSeedGivesTheSameRunOfAQuorum(t *testing.T) {
	run := func(seed uint64) string {
		w := NewWorld(seed)
		defer w.Close()
		machines := three(w)
		ready := func() bool {
			return machines[0].Ready() && machines[1].Ready() && machines[2].Ready()
		}
		require.False(t, w.Run(Minute, ready), "no cluster has formed")
		k := newTalker(w, machines[2])
		w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(30) })
		w.Run(100*Millisecond, nil)
		for _, m := range machines[:2] {
			m.Kill()
			w.Run(3*Second, nil)
			m.Start()
			require.False(t, w.Run(Minute, ready), "it has not come back")
		}
		for _, m := range machines {
			draws := m.raft().source.draws
			require.Positive(t, draws, "%v drew no timeout", m.Place)
		}
		sum, err := w.Finish()
		require.NoError(t, err)
		return sum.String()
	}
	require.Equal(t, run(7), run(7))
	require.NotEqual(t, run(7), run(8))
}
