package partition_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

const lagMax = 400 * time.Millisecond

// model is three replicas of one partition, each over a log on a disk of its own, a network that
// delays, loses and repeats, and a controller. Every step is drawn from one stream.
type model struct {
	rand       *rand.Rand
	now        env.Now
	topic      kafka.TopicConfig
	config     commitlog.Config
	minISR     int
	scratch    record.Scratch
	nodes      [nodeCount]*node
	controller *controller
	network    []message
	pace       pace
	calm       bool // faults have ended

	brokerEpoch kafka.BrokerEpoch
	values      int
	produced    map[int]partition.Acks // by value

	// What the checks know.
	committed []entry // what a leader's high watermark has passed
	leaders   map[kafka.LeaderEpoch]kafka.BrokerID
	acks      int
	durable   int // of acks: in flush mode

	modes *rand.Rand // not nil: the topic's mode changes now and then
}

func newModel(seed uint64, bugs controllerBugs) *model {
	m := &model{
		rand: rand.New(rand.NewPCG(seed, 7)), brokerEpoch: nodeCount,
		topic: kafka.DefaultTopicConfig(), config: commitlog.DefaultConfig(),
		produced: map[int]partition.Acks{}, leaders: map[kafka.LeaderEpoch]kafka.BrokerID{},
	}
	m.pace = drawPace(m.rand)
	m.minISR = 2
	if m.rand.IntN(5) == 0 {
		m.minISR = 1
	}
	m.topic.MinInsyncReplicas = int32(m.minISR)
	m.config.SegmentBytes = 300 + m.rand.Int32N(600)
	m.config.IndexIntervalBytes, m.config.IndexWriteEntries = 100, 1
	if m.rand.IntN(5) == 0 {
		m.config.FlushMessages = 1
	}
	m.controller = newController(m)
	m.controller.bugs = bugs
	for i, id := range all {
		m.nodes[i] = newNode(m, id)
	}
	for _, n := range m.nodes {
		n.boot()
	}
	return m
}

// run is one run of a seed: a time of faults, then calm, in which everything must come right. It
// returns what a check, or an assertion, found.
func (m *model) run() (found error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case finding:
			found = p
		case invariant.Violation:
			found = p
		default:
			panic(p)
		}
	}()
	for range 500 + m.rand.IntN(3000) {
		m.step()
		if m.modes != nil && m.modes.IntN(60) == 0 {
			m.controller.change(func(next *image) { next.flush = !next.flush })
		}
	}
	m.settle()
	return nil
}

// pace says how often each kind of step is drawn, in relation to the others. Every seed has its own:
// slow news leave old leaders in office, slow proposals leave the ISR unsettled.
type pace struct {
	disturb, fence, elect, recover, step, hear, fetch, deliver, propose, check, save, produce int

	repeat, late int // percent of messages that arrive again, and within how many milliseconds
	lose, skip   int // percent of messages that are lost, and of images that are passed over
}

func drawPace(r *rand.Rand) pace {
	between := func(low, high int) int { return low + r.IntN(high-low+1) }
	if r.IntN(3) == 0 {
		return pace{
			fence: between(0, 10), elect: between(2, 20), recover: between(20, 60),
			step: 300, hear: between(20, 60), fetch: between(100, 300), deliver: between(100, 300),
			propose: between(10, 60), check: between(5, 30), produce: between(5, 40),
			repeat: 50, late: between(100, 1500), lose: between(0, 10), skip: between(20, 80),
		}
	}
	return pace{
		disturb: between(0, 8), fence: between(0, 10), elect: between(0, 12), recover: between(5, 60),
		step: between(100, 500), hear: between(5, 100), fetch: between(100, 400),
		deliver: between(60, 400), propose: between(5, 100), check: between(5, 50),
		save: between(0, 30), produce: between(20, 200),
		repeat: between(0, 40), late: between(10, 3000), lose: between(0, 15), skip: between(0, 60),
	}
}

// draw picks one of the weights.
func draw(r *rand.Rand, weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	at := r.IntN(sum)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return 0
}

func (m *model) step() {
	m.now.Mono = m.now.Mono.Add(time.Duration(m.rand.IntN(10)) * time.Millisecond)
	n, p := m.nodes[m.rand.IntN(nodeCount)], &m.pace
	what := draw(m.rand, p.disturb, p.fence, p.elect, p.recover, p.deliver,
		p.step, p.hear, p.fetch, p.propose, p.check, p.save, p.produce)
	switch what {
	case 0:
		m.disturb(n)
	case 1:
		m.controller.fence(n.id)
	case 2:
		m.elect()
	case 3:
		m.recover(n)
	case 4:
		m.deliver()
	default:
		if n.replica != nil {
			n.act(what - 5)
		}
	}
}

// act is a step of a node that runs.
func (n *node) act(what int) {
	switch what {
	case 0:
		n.step()
	case 1:
		n.hear()
	case 2:
		n.fetch()
	case 3:
		n.propose()
	case 4:
		n.checkISR()
	case 5:
		if c, ok := n.replica.Checkpoint(); ok {
			n.saved = c
		}
	case 6:
		if n.replica.LeaderEpoch() != kafka.NoLeaderEpoch {
			acks := partition.AcksAll
			if n.model.rand.IntN(4) == 0 {
				acks = partition.AcksLeader
			}
			n.produce(acks)
		}
	}
}

// disturb does something bad to a node. At most minISR-1 replicas may be damaged at a time.
func (m *model) disturb(n *node) {
	switch what := m.rand.IntN(3); {
	case n.replica == nil:
	case what == 0:
		n.crash(false)
	case what == 1:
		damaged := 0
		for _, other := range m.nodes {
			if other != n && other.damaged {
				damaged++
			}
		}
		n.crash(damaged+1 < m.minISR)
	case what == 2:
		left := m.rand.IntN(30)
		n.world.Disk.Fail = func(op, _ string) env.Errno {
			left--
			if left < 0 {
				n.world.Disk.Fail = nil
				if op == "sync" || op == "write" {
					return env.EIO
				}
			}
			return env.OK
		}
	}
}

// elect moves the leadership, with or without records in between.
func (m *model) elect() {
	m.controller.change(func(next *image) {
		if next.leader != kafka.NoBroker {
			next.elect(all[m.rand.IntN(nodeCount)])
		}
	})
}

// recover brings a node back.
func (m *model) recover(n *node) {
	switch {
	case n.replica == nil:
		m.controller.register(n.id, !n.clean)
		n.clean = true
		n.boot()
	case !m.controller.image.active(n.id):
		m.controller.unfence(n.id)
	}
}

// settle ends the faults. Within a while all replicas are in sync, equal, and know it, and what is
// produced is acknowledged.
func (m *model) settle() {
	m.calm = true
	for _, n := range m.nodes {
		n.world.Disk.Fail = nil
		m.recover(n)
	}
	for range nodeCount {
		for _, n := range m.nodes {
			m.recover(n)
		}
	}
	asked, acks := false, 0
	for i := range 20000 {
		m.now.Mono = m.now.Mono.Add(5 * time.Millisecond)
		n := m.nodes[m.rand.IntN(nodeCount)]
		n.act(m.rand.IntN(5))
		m.deliver()
		if i%50 > 0 || !m.settled() {
			continue
		}
		if asked && m.acks > acks {
			return
		}
		if leader := m.nodes[m.controller.image.leader-1]; !asked {
			asked, acks = true, m.acks
			leader.produce(partition.AcksAll)
		}
	}
	fail("L", "the replicas do not come right: %s", m.describe())
}

func (m *model) settled() bool {
	i := m.controller.image
	if i.leader == kafka.NoBroker || len(i.isr) < nodeCount {
		return false
	}
	end := m.nodes[i.leader-1].replica.LogEndOffset()
	for _, n := range m.nodes {
		if !n.online() || len(n.news) > 0 || n.replica.LogEndOffset() != end || n.replica.HighWatermark() != end {
			return false
		}
	}
	return true
}

func (m *model) describe() string {
	i := m.controller.image
	s := fmt.Sprintf("leader %d epoch %d/%d isr %v elr %v", i.leader, i.epoch, i.partitionEpoch, i.isr, i.elr)
	for _, n := range m.nodes {
		if n.replica == nil {
			s += fmt.Sprintf("\n%d down", n.id)
			continue
		}
		s += fmt.Sprintf("\n%d %s fenced %v leads %d end %d high watermark %d", n.id, n.replica.State(),
			!i.active(n.id), n.replica.LeaderEpoch(), n.replica.LogEndOffset(), n.replica.HighWatermark())
		if at, ok := n.replica.FetchPosition(); ok {
			s += fmt.Sprintf(" position %+v", at)
		}
	}
	return s
}

// TestReplicasKeepWhatIsCommitted runs many seeds. STET_MODEL_SEEDS=from..to chooses others, and
// more.
func TestReplicasKeepWhatIsCommitted(t *testing.T) {
	from, to := seeds(t, 1, 150)
	acks := 0
	for seed := from; seed <= to; seed++ {
		m := newModel(seed, controllerBugs{})
		require.NoError(t, m.run(), "seed %d", seed)
		acks += m.acks
	}
	require.Greater(t, acks, int(to-from+1), "a model that commits nothing proves nothing")
	t.Logf("%d seeds, %d acknowledgements", to-from+1, acks)
}

// TestAcknowledgedInFlushModeMeansSyncedWhereItCounts switches the mode of the topic, of which every
// replica hears in its own time.
func TestAcknowledgedInFlushModeMeansSyncedWhereItCounts(t *testing.T) {
	from, to := seeds(t, 1, 60)
	durable := 0
	for seed := from; seed <= to; seed++ {
		m := newModel(seed, controllerBugs{})
		m.modes = rand.New(rand.NewPCG(seed, 8))
		require.NoError(t, m.run(), "seed %d", seed)
		durable += m.durable
	}
	require.Greater(t, durable, int(to-from+1))
}

func seeds(t *testing.T, from, to uint64) (uint64, uint64) {
	s := os.Getenv("STET_MODEL_SEEDS")
	if s == "" {
		return from, to
	}
	_, err := fmt.Sscanf(s, "%d..%d", &from, &to)
	require.NoError(t, err, strconv.Quote(s))
	return from, to
}
