package scenarios

import (
	"fmt"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/node"
	"stet/scenarios/invariants"
	"stet/scenarios/schedule"
	"stet/sim"
)

// clusterWatch watches every machine of a cluster: after each turn, before and after each crash. It is
// the saboteur's watcher.
type clusterWatch struct {
	*clusterRun
	state *invariants.Cluster
	// damaged are the machines whose records may be gone: RF 1 stands kills and nothing more.
	damaged map[sim.Place]bool
	// replicas, if set, watches the replicas of a topic.
	replicas *replicaWatch
	deposed  *deposed
	sources  *sources
	voters   map[sim.Place]*quorum.Quorum  // as last seen
	lives    map[sim.Place]int             // of voters: a process has several, one after each failure of its log
	levels   map[sim.Place]metadata.Levels // of the software that a machine was last started with
	level    int16                         // in force, as last seen
	fresh    *fresh
}

func newClusterWatch(r *clusterRun) *clusterWatch {
	step := func() int64 { return int64(r.world.Scheduler.EventCount()) }
	w := &clusterWatch{
		clusterRun: r, state: invariants.New(stateFindings{r.findings}, step), damaged: map[sim.Place]bool{},
		voters: map[sim.Place]*quorum.Quorum{}, lives: map[sim.Place]int{},
		levels: map[sim.Place]metadata.Levels{},
	}
	w.deposed = &deposed{w, map[sim.Place]*overlap{}}
	w.fresh = &fresh{watch: w, asked: map[sim.Place]map[asking]metadata.Index{}}
	w.sources = &sources{w, map[sim.Place]map[env.ConnID]kafka.BrokerID{}}
	for _, m := range r.machines {
		w.state.Watch(m.Place, m.Disk)
		m.Tap = &machineTap{w, m}
	}
	return w
}

// stateFindings hands on what the checks of states find.
type stateFindings struct{ *findings }

// Fails implements invariants.Findings.
func (f stateFindings) Fails(check, format string, args ...any) {
	f.fails(Check(check), format, args...)
}

// Checked implements invariants.Findings.
func (f stateFindings) Checked(check string) { f.checked(Check(check)) }

// connect hangs the checks on the hooks of the world.
func (w *clusterWatch) connect() {
	w.world.BeforeCrash = func(m *sim.Machine, c sim.Cause) {
		w.findings.counters["faults."+c.String()]++
		w.inFlight()
		if m.Running() && !m.Ready() {
			w.findings.counters["faults.recoveries_interrupted"]++
		}
		if w.active() == m {
			w.findings.counters["faults.active_controller"]++
		}
		if c == sim.PowerLost {
			w.damaged[m.Place] = true
		}
		if w.replicas != nil && c == sim.PowerLost {
			w.replicas.damaged(m, -1, false)
		}
		w.brokerEnded(m)
	}
	w.world.AfterCrash = func(m *sim.Machine, _ sim.Cause) { w.saboteur.crashed(m) }
	w.world.OnStatus = func(m *sim.Machine, s node.Status) {
		switch {
		case s.Fatal != nil:
			w.findings.counters["node.fatal"]++
			switch {
			case w.outdated(m):
				w.findings.counters["upgrade.outdated_ended"]++
			case w.saboteur.healed:
				w.findings.fails("L9", "%s gives up without a fault: %v", m.Place, s.Fatal)
			}
			w.brokerEnded(m)
			w.saboteur.ended(m)
		case s.Stopped:
			w.findings.counters["node.clean_stops"]++
			w.brokerEnded(m)
			w.saboteur.stopped(m)
		}
	}
	w.world.Network.OnViolation = func(v sim.RangeViolation) { w.findings.fails("H10", "%s", v.Error()) }
}

// brokerEnded forgets what belonged to the process of a broker.
func (w *clusterWatch) brokerEnded(m *sim.Machine) {
	w.state.BrokerEnded(m.Place)
	delete(w.sources.dialed, m.Place)
	delete(w.fresh.asked, m.Place)
}

// started implements watcher.
func (w *clusterWatch) started(m *sim.Machine) { w.levels[m.Place] = m.Config.Broker.Levels }

// struck implements watcher.
func (w *clusterWatch) struck(op sim.DiskOp, _ schedule.Verb) {
	w.damaged[op.Place] = true
	w.inFlight()
	if p, ok := logOf(op.Path); ok && w.replicas != nil {
		w.replicas.damaged(w.saboteur.machine(op.Place), p, false)
	}
}

// inFlight counts a fault that strikes while somebody waits for an answer.
func (w *clusterWatch) inFlight() {
	if w.ledger.open > 0 || w.replicas != nil && w.replicas.recorder.inFlight > 0 {
		w.findings.counters[CounterInFlight]++
	}
}

// wiped implements watcher.
func (w *clusterWatch) wiped(m *sim.Machine) {
	w.findings.counters["faults.wiped"]++
	w.damaged[m.Place] = true
	if w.replicas != nil {
		w.replicas.damaged(m, -1, true)
	}
	w.state.Wiped(m.Place)
}

// machineTap is a node.Tap of one machine.
type machineTap struct {
	watch   *clusterWatch
	machine *sim.Machine
}

// Turning implements node.Tap.
func (t *machineTap) Turning(l node.LoopID, _ env.Now, in []env.Event) {
	if l == node.BrokerLoop {
		t.watch.sources.told(t.machine, in)
		t.watch.fresh.told(t.machine, in)
	}
}

// Turned implements node.Tap.
func (t *machineTap) Turned(l node.LoopID, out *env.Effects) {
	m, state := t.machine, t.watch.state
	switch core := m.Node().Loop(l).Core().(type) {
	case *controller.Controller:
		if q := core.Voter(); q != nil {
			state.Controller(&invariants.Voter{
				Place: m.Place, Life: t.watch.lifeOf(m, q), Status: q.Status(), Log: q, Image: core.Image(),
				Ready: core.Ready(), Disk: m.Disk, Levels: t.watch.levels[m.Place],
			})
			t.watch.noteLevel()
			t.watch.deposed.turned(m, core)
			if core.Ready() {
				t.watch.fresh.applied(core.Image().Index())
			}
		}
		for i := range out.Conn {
			if op := &out.Conn[i]; op.Op == env.ConnSend {
				state.Sent(m.Place, out.Bytes[op.Head.Start:op.Head.End])
			}
		}
	case *broker.Broker:
		t.watch.sources.asked(m, out)
		state.Broker(m.Place, t.watch.levels[m.Place], core.Image())
		t.watch.fresh.sent(m, out)
		t.watch.checkRemovals(m, out)
		if t.watch.replicas != nil {
			t.watch.replicas.turned(m, core)
		}
	}
}

// lifeOf numbers the lives of the voter of a machine.
func (w *clusterWatch) lifeOf(m *sim.Machine, q *quorum.Quorum) int {
	if w.voters[m.Place] != q {
		w.voters[m.Place] = q
		w.lives[m.Place]++
	}
	return w.lives[m.Place]
}

// controllerOf returns the controller of a running machine, or nil.
func controllerOf(m *sim.Machine) *controller.Controller {
	if m.Node() == nil || m.Node().Loop(node.ControllerLoop) == nil {
		return nil
	}
	return m.Node().Loop(node.ControllerLoop).Core().(*controller.Controller)
}

// brokerOf returns the broker of a running machine, or nil.
func brokerOf(m *sim.Machine) *broker.Broker {
	if m.Node() == nil || m.Node().Loop(node.BrokerLoop) == nil {
		return nil
	}
	return m.Node().Loop(node.BrokerLoop).Core().(*broker.Broker)
}

// active returns the machine whose controller leads in the highest term, or nil.
func (w *clusterWatch) active() (active *sim.Machine) {
	highest := uint64(0)
	for _, m := range w.machines {
		c := controllerOf(m)
		if c == nil || !c.Ready() || c.Voter() == nil {
			continue
		}
		if term := c.Voter().Term(); term > highest {
			active, highest = m, term
		}
	}
	return active
}

// describe tells where a machine stands.
func (w *clusterWatch) describe(m *sim.Machine) string {
	text := fmt.Sprintf("%s: running %v, ready %v, lives %d, fatal %v", m.Place, m.Running(), m.Ready(),
		m.Lives(), m.Fatal())
	if c := controllerOf(m); c != nil {
		text += fmt.Sprintf("; controller ready %v, image %d", c.Ready(), c.Image().Index())
		if q := c.Voter(); q != nil {
			s := q.Status()
			text += fmt.Sprintf(", voter %x %s term %d, applied %d, last %d, members %x", s.Voter, s.Role,
				s.Hard.Term, s.Applied.Index, s.Last.Index, s.Members.Voters)
		}
	}
	if b := brokerOf(m); b != nil {
		text += fmt.Sprintf("; broker image %d", b.Image().Index())
	}
	return text
}
