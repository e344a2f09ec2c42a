package scenarios

import (
	"time"

	"stet/core/kafka"
	"stet/node"
	"stet/scenarios/schedule"
	"stet/sim"
)

// clusterPlan is what a seed decides before a cluster's run begins.
type clusterPlan struct {
	*schedule.Schedule
	faults clusterFaults
	aim    func(draw) clusterStrike // draws when a fault comes, and to whom
}

// newClusterPlan draws what all scenarios of clusters have in common. Its scenario adapts it: which
// machines there are, what operators do, and the faults.
func newClusterPlan(d draw) *clusterPlan {
	s := &schedule.Schedule{}
	p := &clusterPlan{Schedule: s}
	p.aim = p.strike
	s.Clients = schedule.Clients{
		Pause: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 100, 300) * sim.Millisecond},
		Impatience: sim.Interval{
			Low:  pick(d, sim.Time(30), 100, 500) * sim.Millisecond,
			High: pick(d, sim.Time(800), 2000, 6000) * sim.Millisecond,
		},
	}
	s.End = schedule.End{CleanStop: d.Chance(1, 2), Idle: pick(d, sim.Second, sim.Second, 30*sim.Second)}
	p.configureNode(d)
	p.configureWorld(d)
	return p
}

// configureNode draws limits that make snapshots, rolls and elections frequent.
func (p *clusterPlan) configureNode(d draw) {
	p.Node = schedule.BaseNode()
	b, c := &p.Node.Broker, &p.Node.Controller
	c.Quorum.SnapshotEntries = pick(d, 1, 3, 10, 60, 500)
	c.TickInterval = pick(d, time.Duration(20), 50, 50, 100) * time.Millisecond
	c.SessionTimeout = pick(d, time.Duration(8), 10, 30, 90) * 100 * time.Millisecond
	c.ReconnectGrace = pick(d, time.Duration(1), 3, 10) * 100 * time.Millisecond
	c.RestartPause = pick(d, c.RestartPause, 20*time.Millisecond)
	b.HeartbeatInterval = pick(d, time.Duration(100), 300, 500) * time.Millisecond
	b.RequestTimeout = pick(d, b.RequestTimeout, 2*time.Second)
	b.CheckpointInterval = (pick(d, sim.Time(200), 5000) * sim.Millisecond).Duration()
	b.Topic.SegmentBytes = pick(d, int32(4<<10), 64<<10, 1<<20)
	b.MetadataFetchBytes = pick(d, b.MetadataFetchBytes, 1, 300, 3000)
	p.Node.MaxOpenFiles = pick(d, 0, 0, 8)
}

// configureWorld draws how fast machines and the network are; clocks are each machine's own.
func (p *clusterPlan) configureWorld(d draw) {
	p.World = schedule.BaseWorld()
	w := &p.World
	w.Link.Delay = pick(d, w.Link.Delay, w.Link.Delay, micros(1, 50), micros(1000, 10_000))
	w.Link.SpikeOf256 = pick(d, uint64(0), 3, 3, 12)
	w.Disk.Sync = pick(d, w.Disk.Sync, w.Disk.Sync, micros(1, 50), micros(2000, 15_000))
	w.Disk.WriteBack = pick(d, uint64(0), 24, 200)
	w.Pace.LateOf256 = pick(d, uint64(0), 2, 8)
}

// clocks draws how wrong the clocks of each machine are.
func (p *clusterPlan) clocks(d draw, chance uint64) {
	for i := range p.Machines {
		if m := &p.Machines[i]; d.Chance(chance, 8) {
			m.Offset = d.Delay(-sim.Minute, sim.Minute)
			m.Drift = pick(d, int64(0), 200, -200, 20_000, -20_000)
			m.BootLeap = pick(d, sim.Time(0), sim.Second, 10*sim.Minute)
		}
	}
}

// machines adds so many controllers, which are brokers too if combined, and brokers.
func (p *clusterPlan) machines(controllers, brokers int, combined bool) {
	for id := 1; id <= controllers+brokers; id++ {
		m := schedule.Machine{ID: id}
		m.Controller = id <= controllers
		m.Founder = m.Controller
		m.Broker = !m.Controller || combined
		p.Machines = append(p.Machines, m)
	}
}

// shape draws the machines of a cluster with a quorum of one of these sizes.
func (p *clusterPlan) shape(d draw, controllers ...int) {
	combined := d.Chance(2, 3)
	least := int64(0)
	if !combined {
		least = 1
	}
	p.machines(pick(d, controllers...), int(d.Between(least, 3-2*int64(1-least))), combined)
	p.clocks(d, 1)
}

// nodeConfig is what the node of a machine is started with.
func (p *clusterPlan) nodeConfig(m *schedule.Machine) node.Config {
	c := p.Node
	c.Roles = node.Roles{Broker: m.Broker, Controller: m.Controller}
	id := kafka.BrokerID(m.ID)
	c.Broker.NodeID, c.Controller.NodeID = id, id
	c.Broker.Controllers, c.Controller.Controllers = nil, nil
	for i := range p.Machines {
		x := &p.Machines[i]
		if !x.Controller {
			continue
		}
		a := kafka.ControllerAddress{Node: kafka.BrokerID(x.ID), Addr: sim.ControllerAddr(x.Place())}
		if x.Founder || x.ID == m.ID {
			c.Controller.Controllers = append(c.Controller.Controllers, a)
		}
		if x.ID == m.ID {
			a.Addr = "" // the other loop of its process
		}
		if x.Founder || x.ID == m.ID {
			c.Broker.Controllers = append(c.Broker.Controllers, a)
		}
	}
	c.Controller.Advertise = sim.ControllerAddr(m.Place())
	c.Broker.Levels, c.Controller.Levels = levelsOf(m), levelsOf(m)
	return c
}

// equip makes a machine that of the schedule.
func (p *clusterPlan) equip(m *sim.Machine, of *schedule.Machine) {
	w := &p.World
	m.Disk.SetProfile(w.Disk)
	m.Pace, m.BootLeap = w.Pace, of.BootLeap
	if of.Drift != 0 {
		m.Clock.Drift(of.Drift)
	}
	if of.Offset != 0 {
		m.Clock.Step(of.Offset)
	}
}

// patient gives clients and nodes more patience than a healthy but slow network and disk take:
// without it, nothing would ever be answered.
func (p *clusterPlan) patient() {
	high := &p.Clients.Impatience.High
	*high = max(*high, 60*p.World.Link.Delay.High, 30*p.World.Disk.Sync.High)
}

// brokers lists the machines with the broker role.
func (p *clusterPlan) brokers() (ids []int) {
	for i := range p.Machines {
		if p.Machines[i].Broker {
			ids = append(ids, p.Machines[i].ID)
		}
	}
	return ids
}

// controllers lists the founders.
func (p *clusterPlan) controllers() (ids []int) {
	for i := range p.Machines {
		if p.Machines[i].Controller && p.Machines[i].Founder {
			ids = append(ids, p.Machines[i].ID)
		}
	}
	return ids
}

// weights say how often operators do what.
type weights []struct {
	kind schedule.OperationKind
	of   int
}

// everything is a mix of all that changes and tells metadata, with some records.
var everything = weights{
	{schedule.CreateTopic, 6},
	{schedule.ProbeTopic, 2},
	{schedule.DeleteTopic, 4},
	{schedule.GrowTopic, 3},
	{schedule.SetTopic, 4},
	{schedule.GetTopic, 4},
	{schedule.SetBroker, 2},
	{schedule.GetBroker, 2},
	{schedule.Write, 4},
	{schedule.ReadAll, 3},
	{schedule.Identify, 1},
}

func (w weights) draw(d draw) schedule.OperationKind {
	total := 0
	for _, x := range w {
		total += x.of
	}
	n := d.Index(total)
	for _, x := range w {
		if n -= x.of; n < 0 {
			return x.kind
		}
	}
	return w[0].kind
}

// operate draws operators that do so many things each, with topics of a few names.
func (p *clusterPlan) operate(d draw, w weights, operators, each int) {
	names := int(pick(d, 1, 2, 4, 6))
	pace := pick(d, sim.Time(20), 100, 400) * sim.Millisecond
	brokers := p.brokers()
	for i := range operators {
		o := schedule.Operator{ID: firstOperator + i}
		for n := range each {
			op := schedule.Operation{Number: n + 1, Kind: w.draw(d), After: d.Delay(0, pace)}
			op.Topic = d.Index(names)
			op.ByName = d.Chance(1, 3)
			if d.Chance(1, 4) {
				op.Via = brokers[d.Index(len(brokers))]
			}
			switch op.Kind {
			case schedule.CreateTopic:
				op.Partitions, op.Replicas = int32(d.Between(1, 4)), 1
				if op.Topic%2 == 0 { // records are written to the others: they do not replicate yet
					op.Replicas = int16(d.Between(1, int64(min(3, len(brokers)))))
				}
			case schedule.GrowTopic:
				op.Partitions = int32(d.Between(2, 7))
			case schedule.SetBroker, schedule.GetBroker:
				op.Node = brokers[d.Index(len(brokers))]
			case schedule.Write:
				op.Topic, op.Records = op.Topic|1, int(d.Between(1, 4))
			case schedule.ReadAll:
				op.Topic |= 1
			}
			o.Operations = append(o.Operations, op)
		}
		p.Operators = append(p.Operators, o)
	}
	p.homes(d)
	p.lulls(d, d.Index(4))
}
