package sim

import (
	"fmt"

	"stet/core/invariant"
	"stet/node"
	"stet/sim/digest"
)

// World is everything that a run consists of: machines, a network, clients, and what happens to
// them. It is driven between events by a scenario, in one thread. A process has one World at a
// time; Close ends it.
type World struct {
	Scheduler *Scheduler
	Entropy   *Entropy
	Trace     *Trace
	Faults    *FaultLog
	Network   *Network
	Machines  []*Machine

	// DigestEvery is after how many events the state of every node is digested and chained into
	// the hash.
	DigestEvery uint64

	// Hooks of checkers; each may be nil. BeforeCrash sees the process that is about to die,
	// AfterCrash the disk that it leaves. OnStatus is told when a node becomes ready or ends.
	BeforeCrash func(*Machine, Cause)
	AfterCrash  func(*Machine, Cause)
	OnStatus    func(*Machine, node.Status)

	// Fates, if set, decides what a power loss in the middle of a disk call leaves.
	Fates func(*Machine) PowerFates

	seat       *Seat
	digester   *digest.Digester
	nextDigest uint64
	clients    int32
	closed     bool
}

// NewWorld returns an empty world.
func NewWorld(seed uint64) *World {
	entropy := NewEntropy(seed)
	trace := NewTrace(entropy)
	s := NewScheduler(trace)
	faults := NewFaultLog(trace)
	w := &World{
		Scheduler: s, Entropy: entropy, Trace: trace, Faults: faults,
		Network:     NewNetwork(s, faults, entropy.Stream("network", 0)),
		DigestEvery: 256, seat: SeatRandom(), digester: digest.NewDigester(),
	}
	w.nextDigest = w.DigestEvery
	s.BeforeEvent = w.beforeEvent
	return w
}

// beforeEvent seats the node whose event it is, and digests now and then.
func (w *World) beforeEvent(p Place) {
	if w.Scheduler.EventCount() >= w.nextDigest {
		w.nextDigest = w.Scheduler.EventCount() + w.DigestEvery
		w.digest()
	}
	w.sit(p)
}

// sit makes the node at a place the one that crypto/rand draws for; nobody else may draw there.
func (w *World) sit(p Place) {
	if p == 0 || p >= ClientPlace {
		w.seat.Sit(nil)
		return
	}
	w.seat.Sit(w.Machines[p-1].raft())
}

// digest chains the state of every node.
func (w *World) digest() {
	for _, m := range w.Machines {
		w.Trace.Digest(m.Place, "state", m.Digest())
	}
}

// controllerPort is where controllers listen.
const controllerPort = 9093

// ControllerAddr returns where the controller of the node at a place listens, before there is one.
func ControllerAddr(p Place) string { return fmt.Sprintf("%s:%d", p, controllerPort) }

// AddMachine adds a machine with an empty disk for the next node, n1 first. It runs nothing before
// Start. config's first listener is given the machine's name as its host.
func (w *World) AddMachine(config node.Config) *Machine {
	p := Place(len(w.Machines) + 1)
	invariant.Always(p < ClientPlace, "machines have their own places")
	listeners := append(config.Broker.Listeners[:0:0], config.Broker.Listeners...)
	var addr, controllerAddr string
	if config.Roles.Has(node.BrokerLoop) {
		invariant.Always(len(listeners) > 0, "a broker has a listener")
		listeners[0].Host = p.String()
		addr = fmt.Sprintf("%s:%d", p, listeners[0].Port)
		w.Network.Name(addr, p)
	}
	if config.Roles.Has(node.ControllerLoop) {
		controllerAddr = ControllerAddr(p)
		w.Network.Name(controllerAddr, p)
	}
	config.Broker.Listeners = listeners
	m := &Machine{
		Place: p, Addr: addr, ControllerAddr: controllerAddr, Pace: DefaultPace(),
		Config: config, world: w,
		Disk: NewDisk(w.Scheduler, w.Faults, w.Entropy.Stream("disk", p), p,
			len(config.Broker.Directories)),
		Clock:  NewClock(w.Scheduler, p),
		stream: w.Entropy.Stream("scheduling", p), ids: w.Entropy.Stream("boot", p),
	}
	m.Disk.evicting = w.Network.keepPages
	m.Disk.Strike = func(c Cause) { w.strike(m, c) }
	m.boot()
	w.Machines = append(w.Machines, m)
	return m
}

// strike ends a process, or a machine, in the middle of a disk call.
func (w *World) strike(m *Machine, c Cause) {
	if c == PowerLost {
		m.LosePower(w.fates(m))
		return
	}
	m.Kill()
}

func (w *World) fates(m *Machine) PowerFates {
	if w.Fates != nil {
		return w.Fates(m)
	}
	return NewRandomFates(w.Entropy.Stream("power loss", m.Place))
}

// NewClient returns the place and the owner of another client, c0 first.
func (w *World) NewClient() (Place, Owner) {
	w.clients++
	return w.ClientAt(int(w.clients - 1))
}

// ClientAt returns the place of the client of a number, and an owner there, for a world that numbers
// its clients itself.
func (w *World) ClientAt(id int) (Place, Owner) {
	p := ClientPlace + Place(id)
	return p, w.Scheduler.NewOwner(p)
}

// Run runs the world for d of virtual time, or until stop, which may be nil, says so after an
// event: then it returns false.
func (w *World) Run(d Time, stop func() bool) bool {
	return w.Scheduler.RunUntil(w.Scheduler.later(d), stop)
}

// Finish chains the final state and cursors and returns the hash of the run, with the first error
// of the trace's writer.
func (w *World) Finish() (digest.Sum, error) {
	w.digest()
	return w.Trace.Finish()
}

// Close ends every process and task and gives the process's random source back.
func (w *World) Close() {
	if w.closed {
		return
	}
	w.closed = true
	w.Scheduler.Close()
	w.seat.Leave()
}
