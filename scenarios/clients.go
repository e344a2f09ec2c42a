package scenarios

import (
	"fmt"

	"stet/core/kafka"
	"stet/linearizability"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// offset and partitionID keep signatures short.
type offset = kafka.Offset

func partitionID(i int32) kafka.PartitionID { return kafka.PartitionID(i) }

// workload is the clients of a run.
type workload struct {
	*stage
	plan     *schedule.Schedule
	recorder *recorder
	// place says whom a client talks to.
	place func(*client.Host)
	// ends returns where the partitions end now.
	ends func() []offset
	// refuses says that a partition rightly serves nobody any more.
	refuses func(kafka.PartitionID) bool

	busy      int // producers that are not done
	producers []*client.Producer
	consumers []*client.Consumer
	listers   []*client.Lister
	topicID   kafka.TopicID
}

func newWorkload(r *run) *workload {
	return &workload{
		stage: &r.stage, plan: r.plan.Schedule, recorder: r.recorder, refuses: r.monitor.givenUp,
		place: func(h *client.Host) { h.Server, h.Addr = r.machine.Place, r.machine.Addr },
		ends: func() []offset {
			ends := make([]offset, r.plan.Topic.Partitions)
			for i, replica := range replicas(r.machine, r.plan.Topic.Partitions) {
				if replica != nil {
					ends[i] = replica.LogEndOffset()
				}
			}
			return ends
		},
	}
}

// host makes a place for the client of a number.
func (w *workload) host(id int, final bool) (*client.Host, *observer) {
	place, owner := w.world.ClientAt(id)
	o := &observer{
		recorder: w.recorder, id: linearizability.ClientID(id), final: final,
		tried: map[*linearizability.Send]linearizability.Step{},
	}
	h := &client.Host{
		Scheduler: w.world.Scheduler, Network: w.world.Network, Owner: owner,
		Name: fmt.Sprintf("sim-%d", o.id), Stream: w.world.Entropy.Stream("client", place),
		Observer: o, Topic: topicName,
		RequestTimeout: w.plan.Clients.Impatience, Pause: w.plan.Clients.Pause,
	}
	w.place(h)
	return h, o
}

// patient returns a host that waits longer than anything takes that is not broken.
func (w *workload) patient(id int, final bool) (*client.Host, *observer) {
	h, o := w.host(id, final)
	h.RequestTimeout = sim.Interval{Low: 5 * sim.Second, High: 10 * sim.Second}
	h.Pause = sim.Interval{Low: sim.Millisecond, High: 50 * sim.Millisecond}
	return h, o
}

// spawn runs f as a task of the client.
func (w *workload) spawn(h *client.Host, f func()) {
	w.world.Scheduler.Spawn(0, h.Owner, h.Name, f)
}

// create creates the topic, and is done when all its partitions have a leader.
func (w *workload) create() func() bool {
	done := false
	h, _ := w.patient(creatorID, false)
	w.spawn(h, func() {
		for !done {
			done = w.createOnce(h)
			h.Scheduler.Await(10 * sim.Millisecond)
		}
		w.topicID = h.TopicID
	})
	return func() bool { return done }
}

func (w *workload) createOnce(h *client.Host) bool {
	c := h.Dial()
	defer c.Close()
	if !c.Hello(3) {
		return false
	}
	switch code := c.CreateTopic(w.plan.Topic.Partitions, nil, nil); code {
	case kafka.None, kafka.TopicAlreadyExists:
	default:
		w.findings.counters["client.create."+code.String()]++
		return false
	}
	led, code := c.Metadata(12)
	return code == kafka.None && led == int(w.plan.Topic.Partitions)
}

// begin starts the clients that work under faults.
func (w *workload) begin() {
	for i := range w.plan.Producers {
		w.produce(&w.plan.Producers[i])
	}
	for i := range w.plan.Consumers {
		c := &w.plan.Consumers[i]
		h, _ := w.host(c.ID, false)
		k := client.NewConsumer(h, c.ConsumerConfig)
		w.consumers = append(w.consumers, k)
		w.spawn(h, k.Run)
	}
	if w.plan.Topic.Side {
		h, _ := w.host(sideID, false)
		h.Observer, h.Topic = bystander{}, "side"
		w.spawn(h, func() { liveAndDie(h, w.findings) })
	}
	for _, planned := range w.plan.Listers {
		h, _ := w.host(planned.ID, false)
		d := draw{h.Stream}
		l := client.NewLister(h, w.plan.Topic.Partitions, func() *client.List {
			return question(d, w.world.Scheduler, w.plan.Topic.Partitions)
		})
		w.listers = append(w.listers, l)
		w.spawn(h, l.Run)
	}
}

func (w *workload) produce(p *schedule.Producer) {
	h, _ := w.host(p.ID, false)
	producer := client.NewProducer(h, p.ProducerConfig, &source{
		plan: p, recorder: w.recorder, seed: w.seed,
	})
	w.busy++
	w.producers = append(w.producers, producer)
	w.spawn(h, func() {
		producer.Run()
		w.busy--
	})
}

// sent says whether every send was answered or given up.
func (w *workload) sent() bool { return w.busy == 0 }

// probe has a fresh producer send to every partition until each has acknowledged once.
func (w *workload) probe() func() bool {
	acked := make([]bool, w.plan.Topic.Partitions)
	left := len(acked)
	h, o := w.patient(probeID, false)
	plan := &schedule.Producer{ID: probeID, ProducerConfig: client.ProducerConfig{
		Partitions: w.plan.Topic.Partitions, Acks: -1, InFlight: 1, Attempts: 1, AckTimeoutMs: 5000,
	}}
	before := w.recorder.onAnswer
	w.recorder.onAnswer = func(s *linearizability.Send, base offset) {
		before(s, base)
		if s.Client == o.id && !acked[s.Partition.Index] {
			acked[s.Partition.Index] = true
			left--
		}
	}
	source := &probeSource{source: source{
		plan: plan, recorder: w.recorder, seed: w.seed,
	}, acked: acked, left: &left}
	producer := client.NewProducer(h, plan.ProducerConfig, source)
	w.spawn(h, producer.Run)
	return func() bool {
		for i := range acked {
			if !acked[i] && !w.refuses(partitionID(int32(i))) {
				return false
			}
		}
		return left > 0 || w.recorder.open() == 0
	}
}

// probeSource hands out a send for each partition that has not acknowledged yet.
type probeSource struct {
	source
	acked []bool
	left  *int
	turn  int // of the partitions
}

// Next implements client.Source.
func (s *probeSource) Next() (*client.Send, sim.Time) {
	now := s.recorder.scheduler.Now()
	if *s.left == 0 {
		return nil, sim.Never
	}
	if now < s.readyAt {
		return nil, s.readyAt
	}
	for range s.acked {
		s.turn++
		if p := s.turn % len(s.acked); !s.acked[p] {
			s.readyAt = now + 5*sim.Millisecond
			return s.send(&schedule.Send{
				Partition: kafka.PartitionID(p), Records: make([]schedule.Record, 1),
			}), 0
		}
	}
	return nil, sim.Never
}

// stop ends the clients of the background.
func (w *workload) stop() {
	for _, k := range w.consumers {
		k.Stop()
	}
	for _, l := range w.listers {
		l.Stop()
	}
}

// finalRead has a fresh consumer read every partition from its start to its end.
func (w *workload) finalRead() func() bool {
	done := false
	tail := w.ends()
	h, _ := w.patient(finalID, true)
	k := client.NewConsumer(h, client.ConsumerConfig{
		Partitions: w.plan.Topic.Partitions, Tail: tail, MaxWaitMs: 10, MinBytes: 1,
		MaxBytes: 1 << 20, PartitionMaxBytes: 1 << 20, Sessions: true,
	})
	w.spawn(h, func() {
		k.Run()
		done = true
	})
	return func() bool {
		if done {
			return true
		}
		for i, position := range k.Positions() {
			if position < tail[i] && !w.refuses(partitionID(int32(i))) {
				return false
			}
		}
		return true
	}
}
