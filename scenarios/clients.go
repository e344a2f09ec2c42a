package scenarios

import (
	"fmt"

	"stet/core/kafka"
	"stet/linearizability"
	"stet/sim"
	"stet/sim/client"
)

// offset and partitionID keep signatures short.
type offset = kafka.Offset

func partitionID(i int32) kafka.PartitionID { return kafka.PartitionID(i) }

// workload is the clients of a run.
type workload struct {
	*run
	nextClient linearizability.ClientID
	busy       int // producers that are not done
	producers  []*client.Producer
	consumers  []*client.Consumer
	listers    []*client.Lister
	topicID    kafka.TopicID
}

func newWorkload(r *run) *workload { return &workload{run: r} }

// host makes a place for another client.
func (w *workload) host(final bool) (*client.Host, *observer) {
	place, owner := w.world.NewClient()
	o := &observer{recorder: w.recorder, id: w.nextClient, final: final}
	w.nextClient++
	return &client.Host{
		Scheduler: w.world.Scheduler, Network: w.world.Network, Owner: owner,
		Name: fmt.Sprintf("sim-%d", o.id), Stream: w.world.Entropy.Stream("client", place),
		Observer: o, Server: w.machine.Place, Addr: w.machine.Addr, Topic: topicName,
		RequestTimeout: w.plan.impatience, Pause: w.plan.pause,
	}, o
}

// patient returns a host that waits longer than anything takes that is not broken.
func (w *workload) patient(final bool) (*client.Host, *observer) {
	h, o := w.host(final)
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
	h, _ := w.patient(false)
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
	switch code := c.CreateTopic(w.plan.partitions, nil, nil); code {
	case kafka.None, kafka.TopicAlreadyExists:
	default:
		w.findings.counters["client.create."+code.String()]++
		return false
	}
	led, code := c.Metadata(12)
	return code == kafka.None && led == int(w.plan.partitions)
}

// begin starts the clients that work under faults.
func (w *workload) begin() {
	for i := range w.plan.producers {
		w.produce(&w.plan.producers[i], w.plan.producers[i].sends)
	}
	for _, c := range w.plan.consumers {
		h, _ := w.host(false)
		k := client.NewConsumer(h, c)
		w.consumers = append(w.consumers, k)
		w.spawn(h, k.Run)
	}
	if w.plan.sideTopic {
		h, _ := w.host(false)
		h.Observer, h.Topic = bystander{}, "side"
		w.spawn(h, func() { liveAndDie(h) })
	}
	for range w.plan.listers {
		h, _ := w.host(false)
		d := draw{h.Stream}
		l := client.NewLister(h, func() *client.List {
			return question(d, w.world.Scheduler, w.plan.partitions)
		})
		w.listers = append(w.listers, l)
		w.spawn(h, l.Run)
	}
}

func (w *workload) produce(p *producerPlan, sends int) {
	h, o := w.host(false)
	producer := client.NewProducer(h, p.ProducerConfig, &source{
		plan: p, recorder: w.recorder, stream: h.Stream, client: o.id, left: sends,
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
	acked := make([]bool, w.plan.partitions)
	left := len(acked)
	h, o := w.patient(false)
	plan := &producerPlan{ProducerConfig: client.ProducerConfig{
		Partitions: w.plan.partitions, Acks: -1, InFlight: 1, Attempts: 1, AckTimeoutMs: 5000,
	}, batch: 1}
	before := w.recorder.onAnswer
	w.recorder.onAnswer = func(s *linearizability.Send, base offset) {
		before(s, base)
		if s.Client == o.id && !acked[s.Partition.Index] {
			acked[s.Partition.Index] = true
			left--
		}
	}
	source := &probeSource{source: source{
		plan: plan, recorder: w.recorder, stream: h.Stream,
		client: o.id,
	}, acked: acked, left: &left}
	producer := client.NewProducer(h, plan.ProducerConfig, source)
	w.spawn(h, producer.Run)
	return func() bool { return left == 0 && w.recorder.open() == 0 }
}

// probeSource hands out a send for each partition that has not acknowledged yet.
type probeSource struct {
	source
	acked []bool
	left  *int
	next  int
}

// Next implements client.Source.
func (s *probeSource) Next() (*client.Send, sim.Time) {
	now := s.recorder.scheduler.Now()
	if *s.left == 0 {
		return nil, sim.Never
	}
	if now < s.askAt {
		return nil, s.askAt
	}
	for range s.acked {
		s.next++
		if p := s.next % len(s.acked); !s.acked[p] {
			s.askAt = now + 5*sim.Millisecond
			return s.send(kafka.PartitionID(p)), 0
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
	tail := make([]offset, w.plan.partitions)
	for i, r := range replicas(w.machine.Node(), w.plan.partitions) {
		if r != nil {
			tail[i] = r.LogEndOffset()
		}
	}
	h, _ := w.patient(true)
	k := client.NewConsumer(h, client.ConsumerConfig{
		Partitions: w.plan.partitions, Tail: tail, MaxWaitMs: 10, MinBytes: 1,
		MaxBytes: 1 << 20, PartitionMaxBytes: 1 << 20, Sessions: true,
	})
	w.spawn(h, func() {
		k.Run()
		done = true
	})
	return func() bool { return done }
}
