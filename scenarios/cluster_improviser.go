package scenarios

import (
	"slices"

	"stet/core/kafka"
	"stet/scenarios/schedule"
	"stet/sim"
)

// clusterImproviser is the director that draws the faults of a cluster as a seed's plan says.
type clusterImproviser struct {
	*saboteur
	cluster *clusterRun
	plan    *clusterFaults
	stream  *sim.Stream
	armed   map[sim.Place]*armedMachine // waits for a call of the disk
	again   map[sim.Place]*armedMachine // interrupts the recovery that comes next
	held    []heldBack                  // kinds of requests
	struck  map[int]*sim.Machine        // by the strikes that have come
	spent   int                         // disk faults
}

// armedMachine is a crash of a machine that waits for its moment.
type armedMachine struct {
	crash
	anchor func() schedule.Anchor
}

func newClusterImproviser(r *clusterRun, stream *sim.Stream) *clusterImproviser {
	return &clusterImproviser{
		saboteur: r.saboteur, cluster: r, plan: &r.plan.faults, stream: stream,
		armed: map[sim.Place]*armedMachine{}, again: map[sim.Place]*armedMachine{},
		struck: map[int]*sim.Machine{},
	}
}

// requested implements director.
func (i *clusterImproviser) requested(r schedule.Request) {
	if r.Try != 1 {
		return
	}
	started := i.world.Scheduler.Now()
	anchor := func() schedule.Anchor {
		return schedule.Anchor{Request: &r, Delay: i.world.Scheduler.Now() - started}
	}
	for at := range i.plan.strikes {
		s := &i.plan.strikes[at]
		if s.since == "" && s.operator == r.Producer && s.operation == r.Send {
			i.after(s.delay, func() { i.strike(at, anchor) })
		}
	}
}

// began implements director.
func (i *clusterImproviser) began(m schedule.Moment) {
	started := i.world.Scheduler.Now()
	anchor := func() schedule.Anchor {
		return schedule.Anchor{Since: m, Delay: i.world.Scheduler.Now() - started}
	}
	for at := range i.plan.strikes {
		if s := &i.plan.strikes[at]; s.since == m {
			i.after(s.delay, func() { i.strike(at, anchor) })
		}
	}
}

// strike makes a strike happen to whoever it means now.
func (i *clusterImproviser) strike(at int, anchor func() schedule.Anchor) {
	s := &i.plan.strikes[at]
	m := i.struck[at-1]
	if !s.same || m == nil {
		m = i.whom(s.target, s.partition, nil)
	}
	if s.target == nodeOne {
		m = i.machine(sim.Place(s.node))
	}
	if m == nil {
		return
	}
	i.struck[at] = m
	if s.verb == schedule.Power && !i.mayLosePower(m) {
		i.after(300*sim.Millisecond, func() { i.strike(at, anchor) })
		return
	}
	a := schedule.Action{Verb: s.verb, Node: m.Place, Span: s.span, By: s.by, Down: s.crash.down}
	switch s.verb {
	case schedule.Kill, schedule.Power:
		i.arm(m, &armedMachine{s.crash, anchor})
		return
	case schedule.Hold:
		i.holdBack(s, m)
		return
	case schedule.Wipe:
		if !i.cluster.watch.expendable(m) {
			return
		}
	case schedule.Stall:
		a.Both = s.both
		for _, p := range i.peers(s, m) {
			a.Client = p
			i.perform(schedule.Fault{At: anchor(), Do: a})
		}
		return
	case schedule.Reset:
		peer := i.whom(s.peer, s.partition, m)
		if peer == nil {
			return
		}
		a.Client = peer.Place
	case schedule.Stop, schedule.Pause, schedule.Clock, schedule.SlowDisk:
	}
	i.perform(schedule.Fault{At: anchor(), Do: a})
}

// peers lists whom a machine is cut from.
func (i *clusterImproviser) peers(s *clusterStrike, m *sim.Machine) (places []sim.Place) {
	switch s.peer {
	case everyOther:
		for _, other := range i.machines {
			if other != m {
				places = append(places, other.Place)
			}
		}
	case controllersAll, followersAll:
		for _, other := range i.machines {
			if other != m && (s.peer == controllersAll && i.cluster.plan.MachineAt(other.Place).Controller ||
				s.peer == followersAll && i.replica(s.partition, other)) {
				places = append(places, other.Place)
			}
		}
	case clientOne:
		if s.operator != 0 {
			places = append(places, sim.ClientPlace+sim.Place(s.operator))
		}
	default:
		if other := i.whom(s.peer, s.partition, m); other != nil {
			places = append(places, other.Place)
		}
	}
	return places
}

// whom finds a machine for a target, but not the one given; nil if there is none.
func (i *clusterImproviser) whom(t target, p kafka.PartitionID, not *sim.Machine) *sim.Machine {
	active := i.cluster.watch.active()
	leader := i.leader(p)
	var all, fit []*sim.Machine
	for _, m := range i.machines {
		if m == not {
			continue
		}
		plan := i.cluster.plan.MachineAt(m.Place)
		all = append(all, m)
		if t == activeOne && m == active || t == passiveOne && plan.Controller && m != active ||
			t == brokerOne && plan.Broker || t == anyOne || t == leaderOne && m == leader ||
			t == followerOne && m != leader && i.replica(p, m) {
			fit = append(fit, m)
		}
	}
	if len(fit) == 0 {
		fit = slices.DeleteFunc(all, func(m *sim.Machine) bool {
			return !i.cluster.plan.MachineAt(m.Place).Controller
		})
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[i.stream.Index(len(fit))]
}

// leader returns the machine of who leads a partition, or led it last; nil if nobody is known to.
func (i *clusterImproviser) leader(p kafka.PartitionID) *sim.Machine {
	if i.cluster.watch.replicas == nil {
		return nil
	}
	part := i.cluster.watch.replicas.partition(p)
	switch {
	case part == nil:
		return nil
	case part.Leader == kafka.NoBroker:
		return i.machine(sim.Place(part.LastKnownLeader))
	}
	return i.machine(sim.Place(part.Leader))
}

// replica says whether a machine has a replica of a partition.
func (i *clusterImproviser) replica(p kafka.PartitionID, m *sim.Machine) bool {
	part := i.cluster.watch.replicas.partition(p)
	return part != nil && part.HasReplica(kafka.BrokerID(m.Place))
}

// mayLosePower says whether a machine may lose power now: where that comes to one at a time, no other
// may have replicas that have not caught up since.
func (i *clusterImproviser) mayLosePower(m *sim.Machine) bool {
	return !i.plan.oneAtATime || i.cluster.watch.replicas.state.UnhurtBut(m.Place)
}

// arm has a crash come at its moment, or soon if that does not come.
func (i *clusterImproviser) arm(m *sim.Machine, c *armedMachine) {
	if c.when == atOnce {
		i.crashNow(m, c)
		return
	}
	i.armed[m.Place] = c
	i.after(patience, func() {
		if i.armed[m.Place] == c {
			i.crashNow(m, c)
		}
	})
}

func (i *clusterImproviser) crashNow(m *sim.Machine, c *armedMachine) {
	delete(i.armed, m.Place)
	if c.cause == sim.PowerLost && !i.mayLosePower(m) {
		i.after(300*sim.Millisecond, func() { i.crashNow(m, c) })
		return
	}
	if m.Running() {
		i.again[m.Place] = c
	}
	i.perform(schedule.Fault{At: c.anchor(), Do: c.action(m.Place)})
}

func (c *armedMachine) action(p sim.Place) schedule.Action {
	a := schedule.Action{Verb: schedule.Kill, Node: p, Down: c.down}
	if c.cause == sim.PowerLost {
		a.Verb = schedule.Power
	}
	return a
}

// started implements director: it may arm the crash that interrupts the recovery.
func (i *clusterImproviser) started(p sim.Place) {
	c := i.again[p]
	delete(i.again, p)
	if c == nil || len(c.crash.again) == 0 {
		return
	}
	next := *c
	next.when, next.skip, next.crash.again = inAny, c.crash.again[0], c.crash.again[1:]
	i.armed[p] = &next
}

// called implements director.
func (i *clusterImproviser) called(op sim.DiskOp) *schedule.Action {
	if c := i.armed[op.Place]; c != nil && c.when.fits(op.Kind) {
		if c.skip == 0 && (c.cause != sim.PowerLost || i.mayLosePower(i.machine(op.Place))) {
			delete(i.armed, op.Place)
			i.again[op.Place] = c
			a := c.action(op.Place)
			return &a
		}
		c.skip = max(0, c.skip-1)
	}
	r := &i.plan.disk
	if i.spent >= r.budget {
		return nil
	}
	a := drawDiskFault(i.stream, r, op)
	if a != nil {
		a.Node = op.Place
		if a.Verb != schedule.Slow {
			i.spent++
		}
	}
	return a
}

// fates implements director.
func (i *clusterImproviser) fates() sim.PowerFates { return sim.NewRandomFates(i.stream) }
