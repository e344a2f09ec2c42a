package replication

import (
	"flag"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/sim"
)

// TestAcknowledgedRecordsOutliveEverySmallSchedule has rapid draw what happens to three nodes while three
// clients write, and shrink what goes wrong to a few steps. Nobody waits for anything in it: time is the
// world's, and a run of ten virtual seconds takes a fraction of one.
//
//	go test ./scenarios/replication -run EverySmallSchedule -rapid.checks=1000
//	go test ./scenarios/replication -run EverySmallSchedule -rapid.failfile=testdata/rapid/...
//
// docs/PROPERTIES.md says how to write another.
func TestAcknowledgedRecordsOutliveEverySmallSchedule(t *testing.T) {
	usually(t, propertyChecks)
	rapid.Check(t, func(t *rapid.T) {
		f := newFailovers(t)
		t.Repeat(map[string]func(*rapid.T){
			"":        f.stands,
			"produce": f.produce,
			"read":    f.read,
			"kill":    f.kill,
			"power":   f.losePower,
			"stop":    f.stop,
			"start":   f.start,
			"pause":   f.pause,
			"cut":     f.cut,
			"heal":    f.heal,
			"wait":    f.wait,
		})
		f.heals()
		f.holdTheSame()
		f.readsAll()
	})
}

// usually has rapid make so many checks, unless the command line says how many.
func usually(t *testing.T, checks int) {
	const name = "rapid.checks"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	before := flag.Lookup(name).Value.String()
	if !given {
		_ = flag.Set(name, strconv.Itoa(checks))
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
}

// failovers is a cluster, its clients, and what they know. Its methods are the steps that are drawn: each
// draws what it needs, does it, and lets some time pass.
type failovers struct {
	*cluster
	facts
	writers []*writer
	// What P1 of the promises covers: fewer replicas than the minimum, two, may be damaged at a time. So
	// power goes nowhere until who lost it last has caught up, in the life in epoch healed or later.
	damaged *sim.Machine
	healed  kafka.BrokerEpoch
	newest  *metadata.Image // see image

	stopping map[sim.Place]int // the life of a node that was asked to stop
}

func newFailovers(t *rapid.T) *failovers {
	seed := rapid.Uint64Range(1, 1000).Draw(t, "seed") // of delays and sizes of time-outs
	f := &failovers{cluster: newCluster(t, seed, nil), stopping: map[sim.Place]int{}}
	f.create(3)
	f.settled()
	for _, name := range []string{"a", "b", "c"} {
		f.writers = append(f.writers, newWriter(f, name))
	}
	return f
}

// drawNode draws a node that runs, or one that does not. Without one the step is not possible.
func (f *failovers) drawNode(t *rapid.T, running bool) *sim.Machine {
	var names []string
	for _, m := range f.nodes {
		if m.Running() == running {
			names = append(names, m.Place.String())
		}
	}
	if len(names) == 0 {
		t.Skip("no such node")
	}
	return f.node(rapid.SampledFrom(names).Draw(t, "node"))
}

// node finds a node by name: what is drawn are names, so that the steps of a failure can be read.
func (f *failovers) node(name string) *sim.Machine {
	i := slices.IndexFunc(f.nodes, func(m *sim.Machine) bool { return m.Place.String() == name })
	return f.nodes[i]
}

// then lets time pass: nothing, or long enough for a packet, a write, an election.
func (f *failovers) then(t *rapid.T) {
	ms := rapid.SampledFrom([]int64{0, 1, 5, 20, 100, 500, 2000}).Draw(t, "then ms")
	f.world.Run(sim.Time(ms)*sim.Millisecond, nil)
}

func (f *failovers) wait(t *rapid.T) { f.then(t) }

// produce has a client write records, each once, while other steps are taken.
func (f *failovers) produce(t *rapid.T) {
	i := rapid.IntRange(0, len(f.writers)-1).Draw(t, "client")
	f.writers[i].more(rapid.IntRange(1, 5).Draw(t, "records"))
	f.then(t)
}

// read has somebody read all that a leader shows, if one answers.
func (f *failovers) read(t *rapid.T) {
	f.do("read", func() { f.readAll(f.cluster) })
}

func (f *failovers) kill(t *rapid.T) {
	f.drawNode(t, true).Kill()
	f.then(t)
}

// losePower takes away what was not synced, or some of it.
func (f *failovers) losePower(t *rapid.T) {
	m := f.drawNode(t, true)
	if f.damaged != nil && !f.caughtUp() {
		t.Skip("that is more than a record must outlive")
	}
	f.damaged, f.healed = m, f.image().Broker(kafka.BrokerID(m.Place)).Epoch+1
	var fates sim.PowerFates = sim.KeepNothing{}
	if rapid.Bool().Draw(t, "some is kept") {
		fates = sim.NewRandomFates(f.world.Entropy.Stream("fates", m.Place))
	}
	m.LosePower(fates)
	f.then(t)
}

// caughtUp says whether who lost power last is in sync again: in another life, since the registration of
// that one took it out.
func (f *failovers) caughtUp() bool {
	image, id := f.image(), kafka.BrokerID(f.damaged.Place)
	return image.Broker(id).Epoch >= f.healed &&
		slices.Contains(image.Topic("orders").Partition(0).ISR, id)
}

// image is the newest that any node has had. Called before anything is damaged, it has what that node
// had, its own registration included.
func (f *failovers) image() *metadata.Image {
	for _, m := range f.nodes {
		if m.Node() == nil {
			continue
		}
		if image := brokerOf(m).Image(); f.newest == nil || image.Index() > f.newest.Index() {
			f.newest = image
		}
	}
	return f.newest
}

// stop has a node leave in good order, which moves its leaders.
func (f *failovers) stop(t *rapid.T) {
	m := f.drawNode(t, true)
	f.stopping[m.Place] = m.Lives()
	m.Stop()
	f.then(t)
}

func (f *failovers) start(t *rapid.T) {
	f.drawNode(t, false).Start()
	f.then(t)
}

func (f *failovers) pause(t *rapid.T) {
	ms := rapid.SampledFrom([]int64{50, 300, 1000, 3000}).Draw(t, "pause ms")
	f.drawNode(t, true).Pause(sim.Time(ms) * sim.Millisecond)
	f.then(t)
}

// cut lets nothing pass from one node to another, one way.
func (f *failovers) cut(t *rapid.T) {
	names := rapid.Permutation([]string{"n1", "n2", "n3"}).Draw(t, "from, to")
	f.world.Network.Cut(f.node(names[0]).Place, f.node(names[1]).Place)
	f.then(t)
}

func (f *failovers) heal(t *rapid.T) {
	f.world.Network.HealAll()
	f.then(t)
}
