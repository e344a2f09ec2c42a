package partition_test

import (
	"math"
	"math/rand/v2"

	"stet/core/commitlog"
	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

const (
	nodeCount = 3
	logName   = "t-0"
)

var all = []kafka.BrokerID{1, 2, 3}

// node is one broker with its replica. replica is nil while it is down.
type node struct {
	model   *model
	id      kafka.BrokerID
	world   *logtest.World
	replica *partition.Replica
	life    int
	epoch   kafka.BrokerEpoch // of this life, as it was registered
	out     env.Effects

	news   []*image // published, and not seen yet
	image  *image   // what it believes
	saved  partition.Checkpointed
	exists bool
	clean  bool // it goes on with what the last life had
	asking int  // fetches of this life under way

	// damaged: it may have lost records that were committed, and has not been seen with all of them.
	damaged bool
	told    []kafka.ErrorCode // producers, in this life
	content content
}

func newNode(m *model, id kafka.BrokerID) *node {
	seed := m.rand.Uint64()
	return &node{model: m, id: id, clean: true, world: logtest.NewWorld(rand.New(rand.NewPCG(seed, uint64(id))))}
}

// boot begins a life. Its registration precedes anything else that it learns.
func (n *node) boot() {
	n.life++
	id := partition.Identity{Topic: "t", TopicID: kafka.TopicID{1}, Broker: n.id}
	handles := commitlog.NewHandles(0, env.Owner(n.life))
	n.replica = partition.New(id, handles, &n.model.topic, &n.model.config, n.exists, n.saved, false)
	n.news, n.image, n.asking, n.content, n.told = nil, nil, 0, content{}, nil
	n.epoch = n.model.controller.image.brokers[n.id].epoch
	n.news = append(n.news, n.model.controller.image)
	n.tend()
}

// crash ends a life; a loss of power takes what was not synced.
func (n *node) crash(power bool) {
	n.world.Perform(&n.out)
	n.world.Crash()
	if power {
		n.world.Disk.LosePower()
		n.damaged = true
	} else {
		n.world.Disk.Kill()
	}
	n.clean = n.clean && !power
	n.replica = nil
}

// tend does what a broker does after every call: it starts jobs, passes answers on.
func (n *node) tend() {
	switch n.replica.State() {
	case partition.Absent:
		n.replica.Create(&n.out)
	case partition.Waiting:
		n.exists = true
		n.replica.Recover(n.model.now, &n.out)
	}
	n.world.Perform(&n.out)
	for _, o := range n.replica.Outcomes(nil) {
		n.told = append(n.told, o.Code)
		n.model.acknowledged(n, o)
	}
	n.model.check(n)
}

// step performs one effect.
func (n *node) step() {
	ev, ok := n.world.Step()
	if !ok || ev.Token == 0 {
		return
	}
	if ev.Kind == env.EventJobDone {
		n.replica.OnJobDone(&ev, &n.out)
	} else {
		n.replica.OnFileDone(&ev, &n.out)
	}
	n.tend()
}

// hear takes the next image, or the newest at once, as a broker does that was behind.
func (n *node) hear() {
	if len(n.news) == 0 {
		return
	}
	next := 0
	if n.model.rand.IntN(100) < n.model.pace.skip {
		next = len(n.news) - 1
	}
	i := n.news[next]
	n.configure(i.flush)
	n.news, n.image = n.news[next+1:], i
	if i.leader == n.id {
		n.replica.Lead(partition.Leadership{
			Epoch: i.epoch, PartitionEpoch: i.partitionEpoch, ISR: i.isr, Replicas: all,
			ReplicationFactor: nodeCount,
		}, &n.out)
	} else {
		n.replica.Follow(partition.Following{
			Leader: i.leader, Epoch: i.epoch, PartitionEpoch: i.partitionEpoch,
		}, &n.out)
	}
	n.tend()
}

// configure takes the mode of the topic from an image.
func (n *node) configure(flush bool) {
	config := n.model.config
	if config.FlushMessages = math.MaxInt64; flush {
		config.FlushMessages = 1
	}
	n.replica.SetDurably(flush)
	n.replica.SetConfig(&n.model.topic, &config, &n.out)
}

// produce appends one batch of a value that no other has.
func (n *node) produce(acks partition.Acks) {
	m := n.model
	m.values++
	b := record.Builder{Spec: record.Plain()}
	for range 1 + m.rand.IntN(2) {
		b.Add(record.Record{Timestamp: 1, Value: []byte{byte(m.values >> 8), byte(m.values)}})
	}
	data := b.Build(nil, nil)
	facts := m.scratch.Examine(data, 1<<20)
	p := partition.Produce{
		Ticket: partition.Ticket{Index: uint32(m.values), Generation: uint32(n.id)},
		Acks:   acks, Facts: &facts, Buf: env.BufRef{Data: data},
	}
	m.produced[m.values] = acks
	n.replica.Produce(m.now, &p, &n.out)
	n.tend()
}

// checkISR is the timer of the broker.
func (n *node) checkISR() {
	if n.image == nil {
		return
	}
	n.replica.CheckISR(n.model.now, lagMax, func(id kafka.BrokerID) (kafka.BrokerEpoch, bool) {
		return n.image.brokers[id].epoch, n.image.active(id)
	}, &n.out)
	n.tend()
}
