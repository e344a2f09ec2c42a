package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
	"stet/sim"
)

// ProducerConfig is how a producer behaves.
type ProducerConfig struct {
	Partitions int32
	Acks       int16 // 0, 1 or -1; -1 with Idempotent
	Idempotent bool
	InFlight   int // requests on one connection, 1 to 5
	// Attempts bounds the requests of a send without idempotence, at least 1.
	Attempts int
	// GiveUp is how long an idempotent producer tries to get a send through.
	GiveUp sim.Time
	// PipelinedRetries sends retries behind each other; otherwise each waits for the one before.
	PipelinedRetries bool
	// FirstSequence is where the first producer id begins to count in every partition.
	FirstSequence kafka.Sequence
	Codec         record.Codec
	// AcrossPartitions lets a request carry batches of several partitions.
	AcrossPartitions bool
	AckTimeoutMs     int32
}

// Producer sends what its Source hands out until there is nothing any more.
type Producer struct {
	host    *Host
	config  ProducerConfig
	source  Source
	leaders *Leaders // nil with one broker
	changed *signal  // of all connections
	conns   []*Conn  // one a broker
	lanes   []lane
	flight  []*produceRequest
	id      kafka.ProducerID
	epoch   kafka.ProducerEpoch
	session int32
	askAt   sim.Time
	version int16
	builder record.Builder
	scratch record.Scratch
}

// produceRequest is a request in flight.
type produceRequest struct {
	conn  *Conn
	call  *Call
	sends []*Send
}

// NewProducer returns a producer. Run it in a task.
func NewProducer(h *Host, c ProducerConfig, s Source) *Producer {
	p := &Producer{
		host: h, config: c, source: s, lanes: make([]lane, c.Partitions),
		id: kafka.NoProducerID, epoch: kafka.NoProducerEpoch, version: h.version(wire.KeyProduce),
		leaders: newLeaders(h, c.Partitions), changed: &signal{},
	}
	for i := range p.lanes {
		p.lanes[i].next = c.FirstSequence
	}
	return p
}

// Run works until the source is exhausted and every send is resolved.
func (p *Producer) Run() {
	for {
		p.admit()
		if p.unresolved() == 0 && p.askAt == sim.Never {
			break
		}
		if p.unresolved() > 0 && p.prepare() {
			for _, c := range p.conns {
				p.transmit(c)
			}
		}
		p.collect()
		p.waitForChange()
		p.collect()
	}
	for _, c := range p.conns {
		c.Close()
	}
	p.leaders.close()
}

// String tells where the producer stands, for reports of one that does not end.
func (p *Producer) String() string {
	return fmt.Sprintf("producer %d epoch %d: %d unresolved, %d in flight, next send at %v, "+
		"connected %v", p.id, p.epoch, p.unresolved(), len(p.flight), p.askAt,
		slices.ContainsFunc(p.conns, func(c *Conn) bool { return !c.Closed() }))
}

func (p *Producer) unresolved() (n int) {
	for i := range p.lanes {
		n += len(p.lanes[i].queue)
	}
	return n
}

// buffered is how many sends a producer holds before it asks its source for no more.
const buffered = 12

// admit takes sends from the source, as many as fit into a client's buffer.
func (p *Producer) admit() {
	for p.unresolved() < buffered && p.askAt <= p.host.Scheduler.Now() {
		s, at := p.source.Next()
		if s == nil {
			p.askAt = at
			return
		}
		s.giveUpAt = p.host.Scheduler.Now() + p.config.GiveUp
		l := &p.lanes[s.Partition]
		l.queue = append(l.queue, s)
	}
}

// prepare sees to connections, the topic's id and a producer id. It says whether all is there.
func (p *Producer) prepare() bool {
	if slices.ContainsFunc(p.conns, (*Conn).Closed) {
		p.collect()
		p.conns = slices.DeleteFunc(p.conns, (*Conn).Closed)
		p.leaders.suspect()
	}
	if p.leaders != nil {
		return p.prepareToFollow()
	}
	if len(p.conns) == 0 {
		c := p.host.Dial()
		p.conns, p.changed = append(p.conns, c), c.changed
		if !p.config.Idempotent {
			p.session++
		}
		if !c.Hello(p.host.version(wire.KeyApiVersions)) {
			c.Close()
			p.host.pause()
			return false
		}
	}
	if p.version >= 13 && p.host.TopicID == (kafka.TopicID{}) {
		if _, code := p.conns[0].Metadata(12); code != kafka.None {
			p.host.pause()
			return false
		}
	}
	return !p.config.Idempotent || p.id >= 0 || p.identify(p.conns[0])
}

// prepareToFollow does that for a producer of a cluster, with a connection to each leader that
// something waits for.
func (p *Producer) prepareToFollow() bool {
	if !p.leaders.refresh() {
		p.host.pause()
		return false
	}
	if p.config.Idempotent && p.id < 0 {
		if len(p.flight) > 0 {
			return false
		}
		c := p.leaders.anyBroker()
		if c == nil {
			p.host.pause()
			return false
		}
		if !p.identify(c) {
			c.Close() // another may be able to
			return false
		}
	}
	for i := range p.lanes {
		s, known := p.leaders.of(kafka.PartitionID(i))
		connected := func(c *Conn) bool { return c.server == s }
		if len(p.lanes[i].queue) > 0 && known && !slices.ContainsFunc(p.conns, connected) {
			p.conns = append(p.conns, p.host.dialFor(s, p.changed))
			if !p.config.Idempotent {
				p.session++
			}
		}
	}
	return true
}

// identify asks for a producer id, once nothing of the last one is in flight.
func (p *Producer) identify(c *Conn) bool {
	if len(p.flight) > 0 {
		return false
	}
	id, epoch, code := c.initProducerID(p.host.version(wire.KeyInitProducerID))
	if code != kafka.None {
		p.host.pause()
		return false
	}
	p.id, p.epoch = id, epoch
	p.session++
	return true
}

// transmit fills the pipe to a broker.
func (p *Producer) transmit(c *Conn) {
	for p.on(c) < p.config.InFlight && !c.Closed() {
		sends := p.choose(c)
		if len(sends) == 0 {
			return
		}
		r := p.request(sends)
		pr := &produceRequest{conn: c, sends: sends}
		p.flight = append(p.flight, pr)
		pr.call = c.Start(r, p.config.Acks != 0)
	}
}

// on counts the requests in flight on a connection.
func (p *Producer) on(c *Conn) (n int) {
	for _, r := range p.flight {
		if r.conn == c {
			n++
		}
	}
	return n
}

// choose takes the sends of the next request to a broker: at most one a partition.
func (p *Producer) choose(c *Conn) (sends []*Send) {
	now := p.host.Scheduler.Now()
	first := p.host.Stream.Index(len(p.lanes))
	for i := range p.lanes {
		at := (first + i) % len(p.lanes)
		if leader, _ := p.leaders.of(kafka.PartitionID(at)); p.leaders != nil && leader != c.server {
			continue
		}
		l := &p.lanes[at]
		s := l.ready(now, &p.config)
		if s == nil {
			continue
		}
		if s.batch == nil {
			p.encode(l, s)
			s.ordinal = l.sent
			l.sent++
		}
		s.state = inFlight
		s.Attempts++
		s.Server = c.server
		p.host.Observer.AttemptStarted(s)
		sends = append(sends, s)
		if !p.config.AcrossPartitions {
			break
		}
	}
	return sends
}

// encode builds the batch of a send. Retries send the same bytes.
func (p *Producer) encode(l *lane, s *Send) {
	p.builder.Spec = record.Plain()
	p.builder.Spec.Codec = p.config.Codec
	if p.config.Idempotent {
		p.builder.Spec.ProducerID, p.builder.Spec.ProducerEpoch = p.id, p.epoch
		p.builder.Spec.BaseSequence, s.sequence = l.next, l.next
		l.next = l.next.Add(int32(len(s.Records)))
	}
	for _, r := range s.Records {
		p.builder.Add(record.Record{Timestamp: r.Timestamp, Key: r.Key, Value: r.Value})
	}
	s.batch = p.builder.Build(nil, &p.scratch)
	s.Session = p.session
}

func (p *Producer) request(sends []*Send) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = p.version, p.config.Acks, p.config.AckTimeoutMs
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = p.host.Topic, p.host.TopicID
	for _, s := range sends {
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = int32(s.Partition), s.batch
		t.Partitions = append(t.Partitions, part)
	}
	r.Topics = append(r.Topics, t)
	return r
}

// waitForChange suspends the task until there may be something to do.
func (p *Producer) waitForChange() {
	if p.unresolved() == 0 && p.askAt == sim.Never {
		return
	}
	deadline := p.askAt
	if p.unresolved() >= buffered {
		deadline = sim.Never
	}
	if p.unresolved() > 0 {
		deadline = min(deadline, p.leaders.wake())
	}
	if len(p.flight) < p.config.InFlight*max(1, len(p.conns)) {
		deadline = min(deadline, p.nextReady())
	}
	for _, r := range p.flight {
		deadline = min(deadline, r.call.Deadline)
	}
	p.host.wait(p.changed, deadline, p.anyDone)
	for _, r := range p.flight {
		if !r.call.Done && r.call.Deadline <= p.host.Scheduler.Now() {
			r.conn.Close()
			return
		}
	}
}

// nextReady returns when a send that can not go now may go. Without requests in flight, one that
// could go now counts as well: it waits for a connection or a producer id.
func (p *Producer) nextReady() sim.Time {
	now, next := p.host.Scheduler.Now(), sim.Never
	for i := range p.lanes {
		at := p.lanes[i].wake(p.config.Idempotent)
		if _, known := p.leaders.of(kafka.PartitionID(i)); known && (at > now || len(p.flight) == 0) {
			next = min(next, at)
		}
	}
	return next
}

func (p *Producer) anyDone() bool {
	for _, r := range p.flight {
		if r.call.Done {
			return true
		}
	}
	return false
}
