package node

import (
	"math/rand/v2"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
)

// Roles says which loops a node has. Neither means both.
type Roles struct{ Broker, Controller bool }

// Config is what a node is made of. It is immutable.
type Config struct {
	Roles      Roles
	Broker     broker.Config
	Controller controller.Config

	RequestBudgetBytes int64 // of all frames that are alive
	MaxFrameBytes      int32 // socket.request.max.bytes
	MaxOpenFiles       int   // of segments and their indexes; 0: no bound, or the host's. See OpenFiles
}

// Node is a process's worth of Stet: its loops, and what they share.
type Node struct {
	config *Config
	host   Host
	memory *Memory
	broker *broker.Broker
	loops  [LoopCount]*Loop
}

// New assembles a node. Nothing runs before Start. streams gives each loop its randomness; tap may
// be nil.
func New(config *Config, host Host, id env.Identity, streams func(env.Use) *rand.Rand, tap Tap) *Node {
	n := &Node{config: config, host: host, memory: NewMemory(config.RequestBudgetBytes)}
	n.broker = broker.New(&config.Broker, id, streams)
	c := controller.New(&config.Controller, id, streams)
	n.loops[BrokerLoop] = NewLoop(BrokerLoop,
		&watched{Core: n.broker, host: host, status: brokerStatus(n.broker)}, host, tap)
	n.loops[ControllerLoop] = NewLoop(ControllerLoop,
		&watched{Core: c, host: host, status: controllerStatus(c)}, host, tap)
	files := NewOpenFiles(config.MaxOpenFiles)
	for _, l := range n.loops {
		l.openFiles = files
	}
	return n
}

// Start wakes both loops, which read their directories, and opens the link between them.
func (n *Node) Start() {
	w := n.host.Worker(nil)
	defer w.Finish()
	n.loops[ControllerLoop].Tick(w)
	n.loops[BrokerLoop].Tick(w)
	connectLoops(w, n.loops[BrokerLoop], n.loops[ControllerLoop], n.memory)
}

// Loop returns one of the node's loops.
func (n *Node) Loop(id LoopID) *Loop { return n.loops[id] }

// Memory returns the node's frame budget.
func (n *Node) Memory() *Memory { return n.memory }

// Stop asks for a clean stop; Broker.Stopped tells when it is complete.
func (n *Node) Stop() {
	w := n.host.Worker(nil)
	defer w.Finish()
	n.loops[BrokerLoop].Submit(w, env.Event{Kind: env.EventConfig, Res: broker.Shutdown{}})
}

// Listener returns the acceptor of the listener of that name.
func (n *Node) Listener(name string) env.Acceptor {
	return NewAcceptor(n.loops[BrokerLoop], n.memory, name, n.config.MaxFrameBytes)
}

// watched tells the host when the node's status changes. Each loop has one; they share nothing, so
// each reports what it knows: the broker the life of the node, the controller only its end.
type watched struct {
	Core
	host   Host
	status func() Status
	last   Status
}

// Turn implements Core.
func (c *watched) Turn(now env.Now, in []env.Event, out *env.Effects) {
	c.Core.Turn(now, in, out)
	if s := c.status(); s != c.last {
		c.last = s
		c.host.Changed(s)
	}
}

func brokerStatus(b *broker.Broker) func() Status {
	return func() Status { return Status{b.Ready(), b.Stopped(), b.ClusterID(), b.Fatal()} }
}

func controllerStatus(c *controller.Controller) func() Status {
	return func() Status { return Status{Fatal: c.Fatal()} }
}
