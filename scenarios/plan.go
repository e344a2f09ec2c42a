package scenarios

import (
	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// plan is what a seed decides before its run begins: a schedule whose faults are still to come, and
// how they are to be drawn.
type plan struct {
	*schedule.Schedule
	faults faultPlan
}

// draw draws the parts of a plan from the seed's own stream.
type draw struct{ *sim.Stream }

// pick returns one of the values.
func pick[T any](d draw, values ...T) T { return values[d.Index(len(values))] }

// Numbers of clients, and so their places. Those of a schedule come first, by kinds, so that one
// that is left out moves no other.
const (
	firstProducer = 1
	firstConsumer = 100
	firstLister   = 200
	creatorID     = 300 + iota
	sideID
	probeID
	finalID
)

// minSends is what a run has to send to be worth its name.
const minSends = 600

// newPlan draws what all scenarios have in common. Its scenario adapts it, and calls workload.
func newPlan(d draw) *plan {
	s := &schedule.Schedule{}
	p := &plan{Schedule: s}
	s.Topic = schedule.Topic{Partitions: int32(pick(d, 1, 1, 2, 3, 5)), Side: d.Chance(1, 3)}
	s.Clients = schedule.Clients{
		Pause: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(5), 20, 100) * sim.Millisecond},
		Impatience: sim.Interval{
			Low:  pick(d, sim.Time(15), 50, 300) * sim.Millisecond,
			High: pick(d, sim.Time(400), 1000, 3000) * sim.Millisecond,
		},
	}
	s.End = schedule.End{CleanStop: d.Chance(1, 2), Idle: sim.Second}
	if d.Chance(1, 6) {
		s.End.Idle = 130 * sim.Second
	}
	p.configureNode(d)
	p.configureTimeouts(d)
	p.configureWorld(d)
	return p
}

// configureNode draws limits that make rolls, index entries and snapshots frequent.
func (p *plan) configureNode(d draw) {
	p.Node = schedule.BaseNode()
	c := &p.Node
	c.RequestBudgetBytes = pick(d, int64(64<<10), 1<<20, 64<<20)
	c.MaxOpenFiles = pick(d, 0, 0, 4, 12)
	c.Broker.RecoveryJobs = int(d.Between(1, 3))
	c.Broker.CheckpointInterval = (pick(d, sim.Time(20), 200, 5000) * sim.Millisecond).Duration()
	c.Broker.IndexWriteEntries = pick(d, 1, 3, 64)
	c.Broker.FetchSessionSlots = pick(d, 1, 2, 1000)
	c.Broker.FetchMaxBytes = pick(d, c.Broker.FetchMaxBytes, c.Broker.FetchMaxBytes, 3000)
	c.Controller.Quorum.SnapshotEntries = pick(d, 3, 10, 20_000)
	t := &c.Broker.Topic
	t.SegmentBytes = pick(d, int32(2<<10), 6<<10, 20<<10, 1<<20)
	t.IndexIntervalBytes = pick(d, int32(1), 200, 1500, 4096)
	t.SegmentIndexBytes = pick(d, int32(48), 200, 10<<20)
	t.SegmentMs = pick(d, int64(300), 3000, 7*24*3600*1000)
	t.LogAppendTime = d.Chance(1, 8)
	if d.Chance(1, 8) {
		t.MaxMessageBytes = 900
	}
	if d.Chance(1, 2) {
		t.FlushMessages = 1
	} else {
		t.FlushMessages = pick(d, t.FlushMessages, t.FlushMessages, 20)
	}
}

// calm takes all faults out of a plan, and what only a generator of faults would do: clients that give
// up a request before it can be answered and retry it, nodes that are late, sequences near overflow.
func (p *plan) calm() {
	p.faults = faultPlan{}
	p.World = schedule.BaseWorld()
	p.World.Pace.LateOf256 = 0
	p.Clients.Impatience = sim.Interval{Low: 5 * sim.Second, High: 10 * sim.Second}
	for i := range p.Producers {
		c := &p.Producers[i].ProducerConfig
		c.FirstSequence, c.AckTimeoutMs, c.GiveUp = 0, 30_000, 100*sim.Second
	}
}

// patient gives the clients more patience than a healthy but slow network and disk take: without it,
// nothing would ever be answered.
func (p *plan) patient() {
	high := &p.Clients.Impatience.High
	*high = max(*high, 15*p.World.Link.Delay.High, 8*p.World.Disk.Sync.High)
}

// workload draws the clients. Producers are as many as configs are given.
func (p *plan) workload(d draw, configs []client.ProducerConfig) {
	p.patient()
	first := &configs[0]
	if first.Acks != -1 {
		first.Acks, first.Idempotent = -1, d.Chance(1, 2)
	}
	sends := make([]int, len(configs))
	total := 0
	for i := range sends {
		sends[i] = int(d.Between(60, 160))
		total += sends[i]
	}
	for ; total < minSends; total += 20 {
		sends[d.Index(len(sends))] += 20
	}
	for i, c := range configs {
		p.Producers = append(p.Producers, p.producer(d, firstProducer+i, c, sends[i]))
	}
	for i := range d.Between(1, 3) {
		p.Consumers = append(p.Consumers, schedule.Consumer{
			ID: firstConsumer + int(i), ConsumerConfig: p.consumer(d),
		})
	}
	for i := range d.Index(3) {
		p.Listers = append(p.Listers, schedule.Lister{ID: firstLister + i})
	}
}

// producers draws the configurations of low to high producers.
func (p *plan) producers(d draw, low, high int64) (configs []client.ProducerConfig) {
	for range d.Between(low, high) {
		configs = append(configs, p.producerConfig(d))
	}
	return configs
}

func (p *plan) producerConfig(d draw) client.ProducerConfig {
	c := client.ProducerConfig{
		Partitions: p.Topic.Partitions, Acks: -1, InFlight: int(pick(d, 1, 2, 5, 5)),
		Attempts: 1, GiveUp: 100 * sim.Second, PipelinedRetries: d.Chance(1, 2),
		Codec:            pick(d, record.None, record.None, record.None, record.Gzip, record.LZ4),
		AcrossPartitions: d.Chance(1, 2), AckTimeoutMs: pick(d, int32(1), 500, 30_000),
	}
	if c.Idempotent = d.Chance(2, 3); c.Idempotent {
		if d.Chance(1, 3) {
			c.FirstSequence = nearOverflow(d)
		}
		if d.Chance(1, 8) {
			c.GiveUp = d.Delay(10*sim.Millisecond, 2*sim.Second)
		}
	} else {
		c.Acks = pick(d, int16(0), 1, 1, -1)
		c.Attempts = pick(d, 1, 3, 8)
	}
	return c
}

// nearOverflow draws a sequence that a short run counts past 2^31-1.
func nearOverflow(d draw) kafka.Sequence { return kafka.Sequence(1<<31 - 1 - d.Between(0, 60)) }

// producer draws what a producer sends. Now and then several sends come at once, so that a pipe
// fills; timestamps are about now, and not in order; some producers take their keys from a few,
// among them such as control records have.
func (p *plan) producer(d draw, id int, c client.ProducerConfig, sends int) schedule.Producer {
	out := schedule.Producer{ID: id, ProducerConfig: c}
	most, size := pick(d, int64(1), 3, 12), pick(d, int64(40), 120, 900)
	pace := pick(d, sim.Time(2), 10, 30) * sim.Millisecond
	keyed := d.Chance(1, 2)
	for n := range sends {
		s := schedule.Send{Number: n + 1, Partition: kafka.PartitionID(d.Index(int(c.Partitions)))}
		if d.Chance(1, 3) {
			s.After = 1 + d.Delay(0, pace)
		}
		for range 1 + d.Skewed(most-1) {
			r := schedule.Record{Bytes: int(d.Skewed(size)), Stamp: d.Between(-500, 500)}
			if keyed {
				r.Key = d.Index(len(keys))
			}
			s.Records = append(s.Records, r)
		}
		out.Sends = append(out.Sends, s)
	}
	return out
}

func (p *plan) consumer(d draw) client.ConsumerConfig {
	return client.ConsumerConfig{
		Partitions: p.Topic.Partitions, Committed: d.Chance(1, 3), Sessions: d.Chance(2, 3),
		FromLatest: d.Chance(1, 4), MaxWaitMs: pick(d, int32(0), 10, 50),
		MinBytes: pick(d, int32(1), 1, 300), MaxBytes: pick(d, int32(200), 3000, 1<<20),
		PartitionMaxBytes: pick(d, int32(1), 500, 1<<20),
		Pace:              sim.Interval{High: pick(d, sim.Time(1), 10, 40) * sim.Millisecond},
	}
}
