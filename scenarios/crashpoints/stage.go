package crashpoints

import (
	"fmt"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/node"
	"stet/sim"
)

// Script is a short story of one node, up to and across the operations that are of interest.
type Script struct {
	Name      string
	About     string
	configure func(*node.Config)
	// play runs in a client's task. Its steps do nothing any more once the process has crashed.
	play func(*stage)
}

// stage is what a script plays on: a world with one machine, a client, and a ledger.
type stage struct {
	world   *sim.World
	machine *sim.Machine
	window  *window
	client  *caller
	ledger  ledger

	tool    sim.Owner // of a job that runs without a node, 0 for none
	crashed bool
	over    bool // the script is at its end
	image   *image
}

// image is what a dead process leaves.
type image struct {
	disk   *sim.Disk
	config node.Config
	at     sim.Time
	ledger *ledger
}

// Seeds of the worlds: a trial draws other identities than the script did.
const (
	scriptSeed = 1
	trialSeed  = 2
)

// newWorld returns a world without chance: delays are in the middle of their range. tape says what
// a death leaves of the calls in flight.
func newWorld(seed uint64, tape []int64) *sim.World {
	w := sim.NewWorld(seed)
	w.DigestEvery = 1 << 62 // nobody asks for the hash
	w.Entropy.PlayTapes([]sim.Tape{{Stream: "disk deaths@n1", Values: tape}})
	return w
}

// configOf returns the settings of a script in one mode: small limits, and nothing that happens by
// itself.
func configOf(s *Script, flushMode bool) node.Config {
	c := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 1 << 20, MaxFrameBytes: 1 << 20,
	}
	c.Broker.NodeID, c.Controller.NodeID = 1, 1
	c.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	c.Broker.AutoCreateTopics = false
	c.Broker.CheckpointInterval = (sim.Minute * 60).Duration()
	c.Broker.IndexWriteEntries = 1
	c.Broker.Topic.IndexIntervalBytes = 1
	if flushMode {
		c.Broker.Topic.FlushMessages = 1
	}
	s.configure(&c)
	return c
}

// rehearse plays a script, undisturbed with a target of -1. With an operation to strike, it is
// crashed there; the run goes on until the client knows what was acknowledged.
func rehearse(s *Script, flushMode bool, target int, m moment, tape []int64) *stage {
	w := newWorld(scriptSeed, tape)
	defer w.Close()
	t := &stage{world: w, machine: w.AddMachine(configOf(s, flushMode))}
	t.window = &window{
		scheduler: w.Scheduler, disk: t.machine.Disk, target: target, moment: m, strike: t.crash,
	}
	t.machine.Disk.Plan = t.window
	t.client = newCaller(w, t.machine)
	w.Scheduler.Spawn(0, t.client.host.Owner, s.Name, func() {
		s.play(t)
		t.over = true
	})
	w.Run(10*sim.Minute, func() bool { return t.over })
	invariant.Always(t.over, "a script comes to its end")
	return t
}

// crash kills the process that runs, and keeps what it leaves.
func (t *stage) crash() {
	t.crashed = true
	t.noteSynced()
	t.machine.Kill()
	if t.tool != 0 {
		t.world.Scheduler.Kill(t.tool, sim.Killed)
	}
	t.image = &image{copyDisk(t.machine.Disk), t.machine.Config, t.world.Scheduler.Now(), &t.ledger}
}

// noteSynced notes what the dying process takes for durable.
func (t *stage) noteSynced() {
	for _, topic := range t.ledger.topics {
		if r := replicaOf(t.machine, topic.name); r != nil && r.Log() != nil && !r.Log().Fenced() {
			topic.synced = r.Log().Synced()
		}
	}
}

// replicaOf returns partition 0 of a topic in a running node, or nil.
func replicaOf(m *sim.Machine, topic string) *partition.Replica {
	if m.Node() == nil {
		return nil
	}
	b := m.Node().Loop(node.BrokerLoop).Core().(interface {
		Replica(kafka.TopicPartition) *partition.Replica
	})
	return b.Replica(kafka.TopicPartition{Topic: topic})
}

// copyDisk returns an independent copy, in a little world of its own.
func copyDisk(d *sim.Disk) *sim.Disk {
	entropy := sim.NewEntropy(0)
	trace := sim.NewTrace(entropy)
	return d.Clone(sim.NewScheduler(trace), sim.NewFaultLog(trace), entropy.Stream("copy", 0))
}

// fails ends a script that can not go on although nothing has crashed.
func (t *stage) fails(what string, args ...any) {
	if !t.crashed {
		panic(fmt.Sprintf("script: "+what, args...))
	}
}

// await suspends the script until done, or until the process has crashed.
func (t *stage) await(what string, done func() bool) {
	for range 100_000 {
		if t.crashed || done() {
			return
		}
		t.world.Scheduler.Await(sim.Millisecond)
	}
	t.fails("%s: never", what)
}

// quiet is how long the disk has to rest for a script to be settled: longer than a call is held
// back.
const quiet = 25 * sim.Millisecond

// settle waits until nothing is under way any more.
func (t *stage) settle() {
	calls, since := 0, t.world.Scheduler.Now()
	t.await("settled", func() bool {
		now := t.world.Scheduler.Now()
		if t.window.calls != calls || t.machine.Disk.InFlight() > 0 {
			calls, since = t.window.calls, now
		}
		return now-since > quiet
	})
}

// openWindow has every disk operation from here on be a crash point.
func (t *stage) openWindow() {
	t.settle()
	t.window.open = true
}

// closeWindow waits until the last operation of what was begun is over.
func (t *stage) closeWindow() {
	t.settle()
	t.window.open = false
}

// start starts the node and waits until it serves all topics.
func (t *stage) start() {
	if t.crashed {
		return
	}
	t.machine.Start()
	t.await("ready", t.machine.Ready)
	for _, topic := range t.ledger.topics {
		t.await("topic led", func() bool { return t.client.led(topic.name) })
	}
}

// stop ends the node cleanly.
func (t *stage) stop() {
	t.machine.Stop()
	t.await("stopped", func() bool { return !t.machine.Running() })
}

// run runs a job without a node, as the process that a script may crash instead.
func (t *stage) run(job env.Job, finished func(result any)) {
	if t.crashed {
		return
	}
	invariant.Always(!t.machine.Running(), "a job has the disk for itself")
	t.tool = t.world.Scheduler.NewOwner(t.machine.Place)
	mount, over := t.machine.Disk.Mount(t.tool), false
	t.world.Scheduler.Spawn(0, t.tool, job.Name(), func() {
		finished(job.Run(mount))
		over = true
	})
	t.await(job.Name(), func() bool { return over })
}
