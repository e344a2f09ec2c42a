package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
	"stet/node"
)

// apart is a cluster of a controller on n1 and a broker on n2.
func apart(w *World) (controllers, brokers *Machine) {
	c := testNodeConfig()
	c.Roles = node.Roles{Controller: true}
	b := testNodeConfig()
	b.Roles = node.Roles{Broker: true}
	b.Broker.NodeID = 2
	b.Broker.Controllers = []kafka.ControllerAddress{{Node: 1, Addr: ControllerAddr(1)}}
	return w.AddMachine(c), w.AddMachine(b)
}

func TestABrokerServesWithAControllerOnAnotherMachine(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	n1, n2 := apart(w)
	require.Empty(t, n1.Addr)
	require.Empty(t, n2.ControllerAddr)
	n2.Start() // nobody listens yet: it dials again
	w.Run(Second, nil)
	require.False(t, n2.Ready())
	n1.Start()
	require.False(t, w.Run(10*Second, n2.Ready), "the broker has not come to serve")
	k := newTalker(w, n2)
	w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(20) })
	require.False(t, w.Run(Minute, func() bool { return k.acked == 20 }))
	require.Nil(t, n1.Node().Loop(node.BrokerLoop))
	require.Nil(t, n2.Node().Loop(node.ControllerLoop))
	require.Zero(t, n1.Node().MemoryUsed())
	require.Zero(t, n2.Node().MemoryUsed())
	n2.Stop()
	require.False(t, w.Run(Minute, func() bool { return !n2.Running() }))
	require.NoError(t, n2.Fatal())
	n1.Stop()
	require.False(t, w.Run(Minute, func() bool { return !n1.Running() }))
	require.NoError(t, n1.Fatal())
}

func TestABrokerComesBackAfterItsController(t *testing.T) {
	for name, crash := range map[string]func(*World, *Machine){
		"kill":       func(_ *World, m *Machine) { m.Kill() },
		"power loss": func(w *World, m *Machine) { m.LosePower(w.fates(m)) },
	} {
		w := NewWorld(2)
		n1, n2 := apart(w)
		n1.Start()
		n2.Start()
		require.False(t, w.Run(10*Second, n2.Ready), name)
		before := links(n2)
		crash(w, n1)
		w.Run(Minute, nil)
		require.True(t, n2.Ready(), name)
		n1.Start()
		k := newTalker(w, n2)
		w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(1) })
		require.False(t, w.Run(Minute, func() bool { return k.acked == 1 }), name)
		require.Greater(t, links(n2), before, name)
		w.Close()
	}
}

// links returns how many links the broker of a machine has opened so far.
func links(m *Machine) uint64 { return m.Node().Loop(node.BrokerLoop).Links() }

// heldKeys holds the first request of a key between nodes back, and notes what passes.
type heldKeys struct {
	key  int16
	seen []FrameInfo
}

func (h *heldKeys) Decide(f FrameInfo) NetFault {
	h.seen = append(h.seen, f)
	if f.Request && f.Key == h.key && f.Ordinal == 1 {
		return NetFault{Kind: NetHold, Delay: 2 * Second}
	}
	return NetFault{}
}

func TestFaultsHitFramesBetweenNodesByTheirKeys(t *testing.T) {
	w := NewWorld(3)
	defer w.Close()
	n1, n2 := apart(w)
	plan := &heldKeys{key: wire.KeyBrokerRegistration}
	w.Network.Plan = plan
	n1.Start()
	n2.Start()
	w.Run(400*Millisecond, nil)
	require.False(t, n2.Ready(), "its registration is held")
	require.False(t, w.Run(10*Second, n2.Ready))
	w.Run(5*Second, nil)
	require.Positive(t, w.Faults.Count(NetHold.String()))
	for _, key := range []int16{wire.KeyBrokerRegistration, wire.KeyBrokerHeartbeat, wire.KeyMetadataFetch} {
		for _, request := range []bool{true, false} {
			want := frameKey{n2.Place, n1.Place, true, key}
			if !request {
				want = frameKey{n1.Place, n2.Place, false, key}
			}
			require.Positive(t, w.Network.ordinals[want], "%+v", want)
		}
	}
	require.NotContains(t, keysOf(plan.seen), int16(-1), "every answer was told by its question")
}

func keysOf(frames []FrameInfo) (keys []int16) {
	for _, f := range frames {
		keys = append(keys, f.Key)
	}
	return keys
}

func TestACutBetweenNodesEndsTheirLink(t *testing.T) {
	w := NewWorld(4)
	defer w.Close()
	n1, n2 := apart(w)
	n1.Start()
	n2.Start()
	require.False(t, w.Run(10*Second, n2.Ready))
	before := links(n2)
	w.Network.Partition(n1.Place, n2.Place)
	w.Run(2*Minute, nil)
	require.Greater(t, links(n2), before, "TCP has given up, and a dial into the void too")
	w.Network.HealAll()
	k := newTalker(w, n2)
	w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(1) })
	require.False(t, w.Run(Minute, func() bool { return k.acked == 1 }))
}

// TestTheSameSeedGivesTheSameRunOfTwoMachines runs two machines with crashes in between.
func TestTheSameSeedGivesTheSameRunOfTwoMachines(t *testing.T) {
	run := func() string {
		w := NewWorld(5)
		defer w.Close()
		n1, n2 := apart(w)
		n1.Start()
		n2.Start()
		k := newTalker(w, n2)
		w.Scheduler.Spawn(Second, k.owner, "talker", func() { k.talk(50) })
		w.Run(2*Second, nil)
		n1.Kill()
		w.Run(Second, nil)
		n1.Start()
		n2.LosePower(w.fates(n2))
		w.Run(Second, nil)
		n2.Start()
		require.False(t, w.Run(Minute, func() bool { return k.acked == 50 }))
		sum, err := w.Finish()
		require.NoError(t, err)
		return sum.String()
	}
	require.Equal(t, run(), run())
}

// seatTap checks whom crypto/rand draws for while a loop turns.
type seatTap struct {
	t     *testing.T
	w     *World
	m     *Machine
	turns int
}

func (p *seatTap) Turning(node.LoopID, env.Now, []env.Event) {
	p.turns++
	require.Same(p.t, p.m.raft(), p.w.seat.current)
}

func (p *seatTap) Turned(node.LoopID, *env.Effects) {}

func TestEveryTurnDrawsFromItsOwnMachine(t *testing.T) {
	w := NewWorld(6)
	defer w.Close()
	n1, n2 := apart(w)
	one, two := &seatTap{t: t, w: w, m: n1}, &seatTap{t: t, w: w, m: n2}
	n1.Tap, n2.Tap = one, two
	n1.Start()
	n2.Start()
	k := newTalker(w, n2)
	w.Scheduler.Spawn(Second, k.owner, "talker", func() { k.talk(10) })
	require.False(t, w.Run(Minute, func() bool { return k.acked == 10 }))
	require.Greater(t, one.turns, 10)
	require.Greater(t, two.turns, 10)
}

// TestADialIntoNowhereIsRefused dials a name that no machine has.
func TestADialIntoNowhereIsRefused(t *testing.T) {
	b := newNetBench(t, 1)
	d := &dialedPeer{peer: b.client}
	b.n.DialName(b.clientOwner, "n9:9093", d)
	b.run(Second)
	require.Equal(t, []env.Errno{env.ERefused}, b.client.closed)
	require.Zero(t, d.opened)
}

func TestADialedEndIsToldThatTheConnectionStands(t *testing.T) {
	b := newNetBench(t, 1)
	b.n.Name("n1:9092", 1)
	d := &dialedPeer{peer: b.client}
	b.n.DialName(b.clientOwner, "n1:9092", d)
	b.run(Second)
	require.Equal(t, 1, d.opened)
	require.Empty(t, b.client.closed)
	b.server.w.Close()
	b.run(Second)
	require.Equal(t, []env.Errno{env.EReset}, b.client.closed)
}

// dialedPeer counts the openings of a peer.
type dialedPeer struct {
	*peer
	opened int
}

func (d *dialedPeer) Opened(w env.ConnWriter, _ env.ConnInfo) {
	d.opened++
	d.w = w
}
