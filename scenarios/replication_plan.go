package scenarios

import (
	"time"

	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// replicationPlan is what a seed decides before a run begins whose topic is replicated. It is a plan of
// a cluster with a generator of its own: of that of the other clusters it draws faults and clocks.
type replicationPlan struct {
	*clusterPlan
	d draw
}

// newReplicationPlan draws what all scenarios of replication have in common: limits, clients' patience,
// how fast the world is. Its scenario then calls topic, and adds faults.
func newReplicationPlan(d draw) *replicationPlan {
	s := &schedule.Schedule{}
	p := &replicationPlan{&clusterPlan{Schedule: s}, d}
	p.aim = p.strikeSend
	s.Clients = schedule.Clients{
		Pause: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 100, 300) * sim.Millisecond},
		Impatience: sim.Interval{
			Low:  pick(d, sim.Time(30), 100, 500) * sim.Millisecond,
			High: pick(d, sim.Time(800), 2000, 6000) * sim.Millisecond,
		},
	}
	s.End = schedule.End{CleanStop: d.Chance(1, 2), Idle: pick(d, sim.Second, sim.Second, 20*sim.Second)}
	p.configureLimits(d)
	p.configureWorld(d)
	return p
}

// configureLimits draws limits that make rolls, index entries, snapshots, elections and changes of the
// ISR frequent.
func (p *replicationPlan) configureLimits(d draw) {
	p.Node = schedule.BaseNode()
	b, c := &p.Node.Broker, &p.Node.Controller
	c.Quorum.SnapshotEntries = pick(d, 6, 20, 60, 500)
	c.TickInterval = pick(d, time.Duration(20), 50, 100) * time.Millisecond
	c.SessionTimeout = pick(d, time.Duration(600), 1000, 3000, 9000) * time.Millisecond
	c.RestartPause = pick(d, c.RestartPause, 20*time.Millisecond)
	b.HeartbeatInterval = pick(d, time.Duration(100), 200) * time.Millisecond
	b.RequestTimeout = pick(d, b.RequestTimeout, 2*time.Second)
	b.CheckpointInterval = (pick(d, sim.Time(20), 200, 5000) * sim.Millisecond).Duration()
	b.IndexWriteEntries = pick(d, 1, 3, 64)
	b.FetchSessionSlots = pick(d, 2, 1000, 1000)
	b.Replica.LagTime = pick(d, time.Duration(300), 1000, 5000) * time.Millisecond
	b.Replica.FetchWait = pick(d, time.Duration(20), 100, 500) * time.Millisecond
	b.Replica.FetchBytes = pick(d, int32(200), 4000, 1<<20)
	b.Replica.FetchBackoff = pick(d, time.Duration(20), 200, 1000) * time.Millisecond
	t := &b.Topic
	t.SegmentBytes = pick(d, int32(2<<10), 6<<10, 20<<10, 1<<20)
	t.IndexIntervalBytes = pick(d, int32(1), 200, 4096)
	t.SegmentIndexBytes = pick(d, int32(48), 200, 10<<20)
	t.SegmentMs = pick(d, int64(3000), 7*24*3600*1000)
	t.LogAppendTime = d.Chance(1, 8)
	if d.Chance(1, 3) {
		t.FlushMessages = 1
	}
	p.Node.MaxOpenFiles = pick(d, 0, 0, 12)
	p.Node.RequestBudgetBytes = pick(d, int64(256<<10), 64<<20)
}

// topic draws the machines of a cluster, and a topic with at least so many replicas, with its clients.
func (p *replicationPlan) topic(d draw, least int16) {
	combined := d.Chance(1, 2)
	controllers, brokers := pick(d, 1, 3, 3), int(d.Between(3, 5))
	if combined {
		brokers = max(0, brokers-controllers)
	}
	p.machines(controllers, brokers, combined)
	p.clocks(d, 1)
	p.Topic.Partitions = int32(pick(d, 1, 1, 2, 3))
	p.Replicas.Factor = max(least, int16(pick(d, 1, 2, 3, 3, 3, 3)))
	p.Replicas.MinISR = int16(pick(d, 0, 0, 1, 2))
	p.clients(d)
}

// clients draws producers, consumers and listers. One in five runs has eight producers and more on one
// partition, and is judged by what clients saw alone.
func (p *replicationPlan) clients(d draw) {
	producers := int(d.Between(2, 4))
	if p.Replicas.BlackBox = d.Chance(1, 5); p.Replicas.BlackBox {
		p.Topic.Partitions, producers = 1, int(d.Between(8, 10))
	}
	pace := pick(d, sim.Time(20), 60, 200) * sim.Millisecond * sim.Time(producers) / 3
	for i := range producers {
		c := p.producerConfig(d)
		if i == 0 {
			c.Acks, c.Idempotent = -1, d.Chance(2, 3)
		}
		p.Producers = append(p.Producers, p.producer(d, firstProducer+i, c, int(d.Between(60, 300))/producers+40, pace))
	}
	for i := range d.Between(1, 3) {
		p.Consumers = append(p.Consumers, schedule.Consumer{ID: firstConsumer + int(i), ConsumerConfig: p.consumer(d)})
	}
	for i := range d.Index(3) {
		p.Listers = append(p.Listers, schedule.Lister{ID: firstLister + i})
	}
}

func (p *replicationPlan) producerConfig(d draw) client.ProducerConfig {
	c := client.ProducerConfig{
		Partitions: p.Topic.Partitions, Acks: -1, InFlight: int(pick(d, 1, 2, 5, 5)),
		Attempts: pick(d, 1, 3, 8), GiveUp: 100 * sim.Second, PipelinedRetries: d.Chance(1, 2),
		Codec:            pick(d, record.None, record.None, record.None, record.LZ4),
		AcrossPartitions: d.Chance(1, 2), AckTimeoutMs: pick(d, int32(100), 1000, 30_000),
	}
	if c.Idempotent = d.Chance(2, 3); !c.Idempotent {
		c.Acks = pick(d, int16(0), 1, -1, -1)
	}
	return c
}

// producer draws what a producer sends: bursts now and then, and pauses long enough for elections
// without a record between them.
func (p *replicationPlan) producer(d draw, id int, c client.ProducerConfig, sends int, pace sim.Time) schedule.Producer {
	out := schedule.Producer{ID: id, ProducerConfig: c}
	most, size := pick(d, int64(1), 3, 8), pick(d, int64(40), 120, 900)
	for n := range sends {
		s := schedule.Send{Number: n + 1, Partition: kafka.PartitionID(d.Index(int(c.Partitions)))}
		switch d.Index(12) {
		case 0:
			s.After = d.Delay(0, 20*pace)
		case 1, 2, 3:
		default:
			s.After = d.Delay(0, pace)
		}
		for range 1 + d.Skewed(most-1) {
			s.Records = append(s.Records, schedule.Record{
				Bytes: int(d.Skewed(size)), Stamp: d.Between(-500, 500), Key: d.Index(len(keys)),
			})
		}
		out.Sends = append(out.Sends, s)
	}
	return out
}

func (p *replicationPlan) consumer(d draw) client.ConsumerConfig {
	return client.ConsumerConfig{
		Partitions: p.Topic.Partitions, Committed: d.Chance(1, 3), Sessions: d.Chance(2, 3),
		FromLatest: d.Chance(1, 4), MaxWaitMs: pick(d, int32(10), 50, 200),
		MinBytes: 1, MaxBytes: pick(d, int32(500), 3000, 1<<20),
		PartitionMaxBytes: pick(d, int32(1), 500, 1<<20),
		Pace:              sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 100, 400) * sim.Millisecond},
	}
}

// strikeSend draws when a fault comes, mostly a little after a send, and means the leader or a follower
// of its partition.
func (p *replicationPlan) strikeSend(d draw) clusterStrike {
	s := clusterStrike{target: pick(d, leaderOne, leaderOne, leaderOne, followerOne, followerOne, activeOne, anyOne)}
	s.partition = kafka.PartitionID(d.Index(int(p.Topic.Partitions)))
	if d.Chance(1, 4) {
		s.since, s.delay = schedule.Work, d.Delay(0, 20*sim.Second)
		return s
	}
	producer := &p.Producers[d.Index(len(p.Producers))]
	send := &producer.Sends[d.Index(len(producer.Sends))]
	s.operator, s.operation, s.partition = producer.ID, send.Number, send.Partition
	s.delay = d.Delay(0, pick(d, sim.Time(1), 10, 100)*sim.Millisecond)
	return s
}

// partitions cuts machines off from others, both ways or one, for about as long as it takes to be missed.
func (p *replicationPlan) partitions(d draw, count int, both bool, targets ...target) {
	for range count {
		s := p.strikeSend(d)
		s.verb, s.target, s.both = schedule.Stall, targets[d.Index(len(targets))], both
		s.peer = pick(d, everyOther, everyOther, followersAll, followersAll, controllersAll, leaderOne, followerOne, activeOne)
		s.span = d.Delay(100*sim.Millisecond, pick(d, sim.Time(1000), 5000, 15_000)*sim.Millisecond)
		p.faults.strikes = append(p.faults.strikes, s)
	}
}

// bereave takes a leader's followers away for so long that it stands alone, and then its power.
func (p *replicationPlan) bereave(d draw) {
	session := sim.Time(p.Node.Controller.SessionTimeout)
	s := p.strikeSend(d)
	s.verb, s.target, s.span = schedule.Pause, followerOne, min(3*session, 15*sim.Second)
	for range 4 { // whichever it is each time, most likely all of them
		p.faults.strikes = append(p.faults.strikes, s)
		s.delay += d.Delay(0, 10*sim.Millisecond)
	}
	s.verb, s.target = schedule.Power, leaderOne
	s.delay += d.Delay(session, 2*session)
	s.crash = crash{cause: sim.PowerLost, when: atOnce, down: d.Delay(sim.Millisecond, sim.Second)}
	p.faults.strikes = append(p.faults.strikes, s)
}

// calm takes all faults out of a plan, and what only a generator of faults would do.
func (p *replicationPlan) calm() {
	p.faults = clusterFaults{}
	p.World = schedule.BaseWorld()
	p.World.Pace.LateOf256 = 0
	p.Clients.Impatience = sim.Interval{Low: 5 * sim.Second, High: 10 * sim.Second}
	for i := range p.Producers {
		p.Producers[i].AckTimeoutMs = 30_000
	}
}
