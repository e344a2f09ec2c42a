package sim

import (
	"encoding/hex"
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
	"stet/node"
	"stet/sim/digest"
)

// Machine is a computer that runs a node, again and again: what survives its processes.
type Machine struct {
	Place Place
	Addr  string // of its client listener, for Network.Dial; empty without the role of a broker
	// ControllerAddr is where its controller listens, if it has that role.
	ControllerAddr string
	Disk           *Disk
	Clock          *Clock
	// Pace may be changed at any time.
	Pace Pace
	// BootLeap is how far the wall clock leaps at a boot, either way: a bad hardware clock.
	BootLeap Time
	// Config is what the next process is started with.
	Config node.Config
	// Tap, if set, watches the turns of the next process, beside the trace.
	Tap node.Tap
	// AtController, if set, stands before the controller listener of the next process, and may lose
	// what arrives there.
	AtController func(env.Acceptor) env.Acceptor

	world  *World
	stream *Stream // of its scheduling
	ids    *Stream // boot ids
	bootID string
	life   *life // the process that runs, or nil
	lives  int
	fatal  error
}

// life is one process on a machine.
type life struct {
	owner  Owner
	node   *node.Node
	status node.Status
}

// raft returns the stream that etcd raft draws its timeouts from.
func (m *Machine) raft() *Stream { return m.world.Entropy.Node(m.Place).Sim(env.UseRaft) }

// Running says whether a process runs.
func (m *Machine) Running() bool { return m.life != nil }

// Ready says whether a process runs and answers clients.
func (m *Machine) Ready() bool { return m.life != nil && m.life.status.Ready }

// Fatal returns why the last process ended by itself, nil if it did not.
func (m *Machine) Fatal() error { return m.fatal }

// Lives returns how many processes were started.
func (m *Machine) Lives() int { return m.lives }

// Node returns the node of the process that runs, for inspection between events, or nil.
func (m *Machine) Node() *node.Node {
	if m.life == nil {
		return nil
	}
	return m.life.node
}

// Owner returns the owner of the process that runs. There must be one.
func (m *Machine) Owner() Owner { return m.life.owner }

// Start starts a process, in an event of its own.
func (m *Machine) Start() {
	invariant.Always(m.life == nil, "a machine runs one process")
	w := m.world
	m.lives++
	m.fatal = nil
	l := &life{owner: w.Scheduler.NewOwner(m.Place)}
	m.life = l
	w.Scheduler.AtDeath(l.owner, func(Cause) {
		if m.life == l {
			m.life = nil
		}
	})
	h := newHost(w.Network, l.owner, m.Clock, m.Disk, m.stream, &m.Pace)
	h.changed = func(s node.Status) { m.statusChanged(l, s) }
	streams := w.Entropy.Node(m.Place)
	config := m.Config
	w.Scheduler.After(0, l.owner, KindStart, func() {
		id := env.Identity{BootID: m.bootID}
		_, _ = streams.Sim(env.UseIdentity).Read(id.Incarnation[:])
		w.Trace.Record(Record{Place: m.Place, Kind: KindStart, What: "start", A: int64(m.lives)})
		tap := &turnTap{trace: w.Trace, place: m.Place, also: m.Tap}
		l.node = node.New(&config, h, id, streams.Stream, tap)
		l.node.Start()
		if m.ControllerAddr != "" {
			a := l.node.ControllerListener()
			if m.AtController != nil {
				a = m.AtController(a)
			}
			w.Network.Listen(l.owner, m.ControllerAddr, seated{a, w, m.Place})
		}
	})
}

// statusChanged opens the client listener when the node is ready, and ends the process when it is done.
func (m *Machine) statusChanged(l *life, s node.Status) {
	w := m.world
	was := l.status
	l.status = s
	w.Trace.Record(Record{
		Place: m.Place, Kind: KindNote, What: "status",
		Detail: fmt.Sprintf("ready %v, stopped %v, fatal %v", s.Ready, s.Stopped, s.Fatal),
	})
	if s.Ready && !was.Ready && m.Addr != "" {
		name := m.Config.Broker.Listeners[0].Name
		w.Network.Listen(l.owner, m.Addr, seated{l.node.Listener(name), w, m.Place})
	}
	if w.OnStatus != nil {
		w.OnStatus(m, s)
	}
	if s.Fatal != nil || s.Stopped {
		m.fatal = s.Fatal
		w.Scheduler.Kill(l.owner, Killed) // it leaves by itself
	}
}

// seated gives the node its own random source while it accepts a connection.
type seated struct {
	env.Acceptor
	world *World
	place Place
}

// Accept implements env.Acceptor.
func (a seated) Accept(w env.ConnWriter, info env.ConnInfo) env.ConnReader {
	a.world.sit(a.place)
	defer a.world.sit(0)
	return a.Acceptor.Accept(w, info)
}

// Stop asks the process for a clean stop. It is over when Running is false.
func (m *Machine) Stop() {
	if l := m.life; l != nil {
		m.world.Scheduler.After(0, l.owner, KindNote, func() { l.node.Stop() })
	}
}

// Kill kills the process (kill -9): the kernel keeps what it was given. It does nothing if none
// runs.
func (m *Machine) Kill() {
	if m.life != nil {
		m.crash(Killed, nil)
	}
}

// LosePower cuts the power of the machine. fates decide what the disk keeps.
func (m *Machine) LosePower(fates PowerFates) { m.crash(PowerLost, fates) }

func (m *Machine) crash(cause Cause, fates PowerFates) {
	w := m.world
	if w.BeforeCrash != nil {
		w.BeforeCrash(m, cause)
	}
	detail := fmt.Sprintf("%d disk calls and %d connections in flight", m.Disk.InFlight(),
		w.Network.busyConns(m.Place))
	w.Faults.Add(Fault{
		At: w.Scheduler.Now(), Place: m.Place, What: cause.String(),
		Target: "process", Detail: detail,
	})
	w.Trace.Record(Record{Place: m.Place, Kind: KindCrash, What: cause.String()})
	if m.life != nil {
		w.Scheduler.Kill(m.life.owner, cause)
	}
	if cause == PowerLost {
		w.Network.losePower(m.Place)
		m.Disk.PowerLoss(fates)
		m.boot()
	}
	if w.AfterCrash != nil {
		w.AfterCrash(m, cause)
	}
}

// boot gives the machine a new boot id and a monotonic clock that starts over.
func (m *Machine) boot() {
	var id [16]byte
	_, _ = m.ids.Read(id[:])
	s := hex.EncodeToString(id[:])
	m.bootID = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	leap := m.ids.Delay(-m.BootLeap, m.BootLeap)
	m.Clock.Reboot(env.Mono(m.ids.Delay(Second, Minute)), leap)
}

// Pause stops the process for d, as SIGSTOP does: it wakes up believing that no time has passed.
func (m *Machine) Pause(d Time) {
	if m.life == nil {
		return
	}
	w := m.world
	w.Scheduler.Pause(m.life.owner, w.Scheduler.later(d))
	w.Faults.Add(Fault{
		At: w.Scheduler.Now(), Place: m.Place, What: "pause", Target: "process",
		Detail: d.String(),
	})
}

// Digest returns the digest of the state of the process, zero if none runs.
func (m *Machine) Digest() (sum digest.Sum) {
	if m.life == nil || m.life.node == nil {
		return sum
	}
	n := m.life.node
	state := []any{n.MemoryUsed()}
	for id := range node.LoopCount {
		if l := n.Loop(id); l != nil {
			state = append(state, l.Core())
		}
	}
	return m.world.digester.Of(state)
}
