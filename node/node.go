package node

import (
	"math/rand/v2"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
)

// Roles says which loops a node has. Neither means both.
type Roles struct{ Broker, Controller bool }

// Has says whether a node of these roles has a loop.
func (r Roles) Has(id LoopID) bool {
	return r == Roles{} || id == BrokerLoop && r.Broker || id == ControllerLoop && r.Controller
}

// Config is what a node is made of. It is immutable.
type Config struct {
	Roles      Roles
	Broker     broker.Config
	Controller controller.Config

	RequestBudgetBytes int64 // of all frames of clients that are alive
	MaxFrameBytes      int32 // socket.request.max.bytes
	MaxOpenFiles       int   // of segments and their indexes; 0: no bound, or the host's. See OpenFiles
}

// Filled returns c with what follows from the rest: the node that a controller in this process is
// of.
func (c *Config) Filled() *Config {
	filled := *c
	filled.Broker.Controllers = append([]kafka.ControllerAddress(nil), c.Broker.Controllers...)
	for i := range filled.Broker.Controllers {
		if a := &filled.Broker.Controllers[i]; a.Addr == "" {
			a.Node = c.Broker.NodeID
		}
	}
	return &filled
}

// internalBudgetBytes bounds the frames that nodes send each other, apart from those of clients: a
// crowd of clients delays no heartbeat.
const internalBudgetBytes = 64 << 20

// Node is a process's worth of Stet: its loops, and what they share.
type Node struct {
	config     *Config
	host       Host
	memory     *Memory // for frames of clients
	internal   *Memory // for frames of nodes
	broker     *broker.Broker
	controller *controller.Controller
	loops      [LoopCount]*Loop
	life       life
}

// New assembles a node. Nothing runs before Start. streams gives each loop its randomness; tap may
// be nil.
func New(config *Config, host Host, id env.Identity, streams func(env.Use) *rand.Rand, tap Tap) *Node {
	config = config.Filled()
	n := &Node{
		config: config, host: host,
		memory: NewMemory(config.RequestBudgetBytes), internal: NewMemory(internalBudgetBytes),
	}
	files := NewOpenFiles(config.MaxOpenFiles)
	add := func(id LoopID, core Core) *Loop {
		l := NewLoop(id, &watched{Core: core, node: n}, host, tap)
		l.openFiles, l.linkMemory, l.maxLinkFrame = files, n.internal, config.MaxFrameBytes
		l.after = n.after
		n.loops[id] = l
		return l
	}
	if config.Roles.Has(BrokerLoop) {
		n.broker = broker.New(&config.Broker, id, streams)
		add(BrokerLoop, n.broker)
	}
	if config.Roles.Has(ControllerLoop) {
		n.controller = controller.New(&config.Controller, id, streams)
		add(ControllerLoop, n.controller)
	}
	if n.broker != nil && n.controller != nil {
		n.loops[BrokerLoop].inside = n.ControllerListener()
	}
	return n
}

// Start wakes the loops, which read their directories. In a node with both the broker begins after
// the controller has read its own, because they share a file.
func (n *Node) Start() {
	w := n.host.Worker(nil)
	defer w.Finish()
	if n.controller != nil {
		n.loops[ControllerLoop].Tick(w)
	} else {
		n.loops[BrokerLoop].Tick(w)
	}
}

// Stop asks for a clean stop; Status.Stopped tells when it is complete. The broker, which needs a
// controller to leave the cluster, stops first.
func (n *Node) Stop() {
	w := n.host.Worker(nil)
	defer w.Finish()
	if n.broker != nil && !n.skipBroker() {
		n.loops[BrokerLoop].Submit(w, env.Event{Kind: env.EventConfig, Res: broker.Shutdown{}})
	} else {
		n.stopController(w)
	}
}

func (n *Node) stopController(w Worker) {
	n.loops[ControllerLoop].Submit(w, env.Event{Kind: env.EventConfig, Res: controller.Shutdown{}})
}

// Loop returns one of the node's loops, nil if its roles leave it out.
func (n *Node) Loop(id LoopID) *Loop { return n.loops[id] }

// MemoryUsed returns the bytes of frames that are alive.
func (n *Node) MemoryUsed() int64 { return n.memory.Used() + n.internal.Used() }

// Listener returns the acceptor of the client listener of that name.
func (n *Node) Listener(name string) env.Acceptor {
	return NewAcceptor(n.loops[BrokerLoop], n.memory, name, n.config.MaxFrameBytes)
}

// ControllerListener is the name of the listener of controllers.
const ControllerListener = "CONTROLLER"

// ControllerListener returns the acceptor of the controller's listener, which takes requests from
// Start on.
func (n *Node) ControllerListener() env.Acceptor {
	return NewAcceptor(n.loops[ControllerLoop], n.internal, ControllerListener, n.config.MaxFrameBytes)
}
