package scenarios

import (
	"stet/core/broker"
	"stet/core/controller"
	"stet/core/kafka"
	"stet/core/record"
	"stet/node"
	"stet/sim"
	"stet/sim/client"
)

// plan is everything that a seed decides before its run begins: a scenario as data.
type plan struct {
	partitions int32
	flushMode  bool
	node       node.Config
	producers  []producerPlan
	consumers  []client.ConsumerConfig
	listers    int
	pause      sim.Interval // of clients, between tries
	impatience sim.Interval // of clients, with a request
	faults     faultPlan
	cleanStop  bool // ends with a clean stop
	sideTopic  bool // another topic is created, written to and deleted meanwhile
	// idle is how long nobody asks for anything before the final read: sessions and producers age.
	idle sim.Time
}

// producerPlan is one producer and what it sends.
type producerPlan struct {
	client.ProducerConfig
	sends      int
	batch      int64 // most records in a batch
	valueBytes int64 // most bytes of a value
	pace       sim.Interval
}

// sends counts what all producers send.
func (p *plan) sends() (n int) {
	for i := range p.producers {
		n += p.producers[i].sends
	}
	return n
}

// draw draws the parts of a plan from the seed's own stream.
type draw struct{ *sim.Stream }

// pick returns one of the values.
func pick[T any](d draw, values ...T) T { return values[d.Index(len(values))] }

func newPlan(d draw) *plan {
	p := &plan{
		partitions: int32(pick(d, 1, 1, 2, 3, 5)),
		flushMode:  d.Chance(1, 2),
		listers:    d.Index(3),
		pause:      sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(5), 20, 100) * sim.Millisecond},
		impatience: sim.Interval{
			Low:  pick(d, sim.Time(15), 50, 300) * sim.Millisecond,
			High: pick(d, sim.Time(400), 1000, 3000) * sim.Millisecond,
		},
		cleanStop: d.Chance(1, 2), sideTopic: d.Chance(1, 3),
		idle: sim.Second,
	}
	if d.Chance(1, 6) {
		p.idle = 130 * sim.Second
	}
	p.node = p.nodeConfig(d)
	for range d.Between(1, 3) {
		p.producers = append(p.producers, p.producer(d))
	}
	for range d.Between(1, 3) {
		p.consumers = append(p.consumers, p.consumer(d))
	}
	p.enough(d)
	return p
}

// enough sees to it that a run is worth its name: 600 sends, some of them with acks=all.
func (p *plan) enough(d draw) {
	first := &p.producers[0]
	if first.Acks != -1 {
		first.Acks, first.Idempotent = -1, d.Chance(1, 2)
	}
	for p.sends() < 600 {
		p.producers[d.Index(len(p.producers))].sends += 20
	}
}

// nodeConfig draws limits that make rolls, index entries and snapshots frequent.
func (p *plan) nodeConfig(d draw) node.Config {
	c := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: pick(d, int64(64<<10), 1<<20, 64<<20), MaxFrameBytes: 4 << 20,
	}
	c.Broker.NodeID, c.Controller.NodeID = 1, 1
	c.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	c.Broker.RecoveryJobs = int(d.Between(1, 3))
	c.Broker.CheckpointInterval = (pick(d, sim.Time(20), 200, 5000) * sim.Millisecond).Duration()
	c.Broker.IndexWriteEntries = pick(d, 1, 3, 64)
	c.Broker.FetchSessionSlots = pick(d, 1, 2, 1000)
	c.Controller.Quorum.SnapshotEntries = pick(d, 3, 10, 20_000)
	t := &c.Broker.Topic
	t.SegmentBytes = pick(d, int32(2<<10), 6<<10, 20<<10, 1<<20)
	t.IndexIntervalBytes = pick(d, int32(1), 200, 1500, 4096)
	t.SegmentIndexBytes = pick(d, int32(48), 200, 10<<20)
	t.SegmentMs = pick(d, int64(300), 3000, 7*24*3600*1000)
	t.LogAppendTime = d.Chance(1, 8)
	if p.flushMode {
		t.FlushMessages = 1
	} else {
		t.FlushMessages = pick(d, t.FlushMessages, t.FlushMessages, 20)
	}
	return c
}

func (p *plan) producer(d draw) producerPlan {
	c := client.ProducerConfig{
		Partitions: p.partitions, Acks: -1, InFlight: int(pick(d, 1, 2, 5, 5)),
		Attempts: 1, GiveUp: 100 * sim.Second, PipelinedRetries: d.Chance(1, 2),
		Codec:            pick(d, record.None, record.None, record.None, record.Gzip, record.LZ4),
		AcrossPartitions: d.Chance(1, 2), AckTimeoutMs: pick(d, int32(1), 500, 30_000),
	}
	if c.Idempotent = d.Chance(2, 3); c.Idempotent {
		if d.Chance(1, 3) {
			c.FirstSequence = kafka.Sequence(1<<31 - 1 - d.Between(0, 60))
		}
		if d.Chance(1, 8) {
			c.GiveUp = d.Delay(10*sim.Millisecond, 2*sim.Second)
		}
	} else {
		c.Acks = pick(d, int16(0), 1, 1, -1)
		c.Attempts = pick(d, 1, 3, 8)
	}
	return producerPlan{
		ProducerConfig: c, sends: int(d.Between(60, 160)), batch: pick(d, int64(1), 3, 12),
		valueBytes: pick(d, int64(40), 120, 900),
		pace:       sim.Interval{High: pick(d, sim.Time(2), 10, 30) * sim.Millisecond},
	}
}

func (p *plan) consumer(d draw) client.ConsumerConfig {
	return client.ConsumerConfig{
		Partitions: p.partitions, Committed: d.Chance(1, 3), Sessions: d.Chance(2, 3),
		FromLatest: d.Chance(1, 4), MaxWaitMs: pick(d, int32(0), 10, 50),
		MinBytes: pick(d, int32(1), 1, 300), MaxBytes: pick(d, int32(200), 3000, 1<<20),
		PartitionMaxBytes: pick(d, int32(1), 500, 1<<20),
		Pace:              sim.Interval{High: pick(d, sim.Time(1), 10, 40) * sim.Millisecond},
	}
}
