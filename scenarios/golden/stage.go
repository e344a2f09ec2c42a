package golden

import (
	"fmt"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
	"stet/node"
	"stet/sim"
)

// stage is where a script plays: a world without dice.
type stage struct {
	world     *sim.World
	machines  map[string]*sim.Machine
	clients   map[string]*caller
	producers map[string]identity
	topics    []topicName // in the order of creation
	ids       map[kafka.TopicID]int
	ready     map[string]int // by node, the last life that was
	voters    []kafka.ControllerAddress
	voterOf   map[uint64]string // what voters are called
	named     []string          // all names of voters
	losses    []loss
	holds     []hold
	held      []held // in the order of their arrival
	lines     []string
}

// topicName is a topic that the script has created, and how many partitions it had then.
type topicName struct {
	name       string
	partitions int32
}

// identity is a producer id.
type identity struct {
	id    kafka.ProducerID
	epoch kafka.ProducerEpoch
}

// commandTime bounds a command that waits, in virtual time.
const commandTime = 10 * sim.Minute

func newStage(seed uint64) *stage {
	s := &stage{
		world: sim.NewWorld(seed), machines: map[string]*sim.Machine{},
		clients: map[string]*caller{}, producers: map[string]identity{}, ids: map[kafka.TopicID]int{},
		ready: map[string]int{}, voterOf: map[uint64]string{},
	}
	s.world.Network.SetDefaultProfile(sim.LinkProfile{Delay: exactly(sim.Millisecond)})
	s.world.OnStatus = s.changed
	s.world.AfterCrash = func(m *sim.Machine, c sim.Cause) {
		s.say(m.Place.String(), "%s", map[sim.Cause]string{
			sim.Killed: "killed", sim.PowerLost: "lost power",
		}[c])
	}
	return s
}

// changed tells when a process becomes ready, and when it ends by itself.
func (s *stage) changed(m *sim.Machine, now node.Status) {
	who := m.Place.String()
	switch {
	case now.Fatal != nil:
		s.say(who, "gives up: %v", now.Fatal)
	case now.Stopped:
		s.say(who, "stopped")
	case now.Ready && s.ready[who] != m.Lives():
		s.ready[who] = m.Lives()
		s.say(who, "ready")
	}
}

func exactly(d sim.Time) sim.Interval { return sim.Interval{Low: d, High: d} }

// say tells what happened to whom.
func (s *stage) say(who, format string, values ...any) {
	s.lines = append(s.lines, who+": "+shortNames(fmt.Sprintf(format, values...)))
}

// show tells a detail of the line before.
func (s *stage) show(format string, values ...any) {
	s.lines = append(s.lines, "  "+shortNames(fmt.Sprintf(format, values...)))
}

// take returns the lines since the last call.
func (s *stage) take() []string {
	lines := s.lines
	s.lines = nil
	return lines
}

// until runs the world until done, which is an error of the command if it takes too long.
func (s *stage) until(a *args, done func() bool) {
	if !done() && s.world.Run(commandTime, done) {
		a.fails("%w", errTooLate)
	}
}

// addMachine adds the next node, a cluster of its own unless its settings say otherwise.
func (s *stage) addMachine(settings func(*node.Config)) {
	id := kafka.BrokerID(len(s.world.Machines) + 1)
	c := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 64 << 20, MaxFrameBytes: 4 << 20,
	}
	c.Broker.NodeID, c.Controller.NodeID = id, id
	c.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	c.Broker.AutoCreateTopics = false
	settings(&c)
	m := s.world.AddMachine(c)
	m.Pace = sim.Pace{}
	m.Disk.SetProfile(sim.DiskProfile{
		Read: exactly(10 * sim.Microsecond), Write: exactly(20 * sim.Microsecond),
		Sync: exactly(sim.Millisecond), Meta: exactly(20 * sim.Microsecond),
		Evict: exactly(sim.Second),
	})
	m.AtController = func(a env.Acceptor) env.Acceptor { return sieve{a, s, m.Place} }
	s.machines[m.Place.String()] = m
}

// machine takes the name of a node.
func (s *stage) machine(a *args) *sim.Machine {
	name := a.next("a node")
	m := s.machines[name]
	if m == nil {
		a.fails("%q is no node", name)
	}
	return m
}
