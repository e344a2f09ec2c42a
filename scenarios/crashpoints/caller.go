package crashpoints

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
	"stet/sim/client"
)

// caller is a client that asks one thing after the other. Its methods run in a task.
type caller struct {
	host    *client.Host
	conn    *client.Conn
	clock   *sim.Clock
	scratch record.Scratch
	trouble []string // what a healthy node never answers
}

func newCaller(w *sim.World, m *sim.Machine) *caller {
	place, owner := w.NewClient()
	c := &caller{clock: m.Clock}
	wait := sim.Interval{Low: 5 * sim.Second, High: 5 * sim.Second}
	c.host = &client.Host{
		Scheduler: w.Scheduler, Network: w.Network, Owner: owner, Name: "crashpoints",
		Stream: w.Entropy.Stream("client", place), Observer: observer{c},
		Server: m.Place, Addr: m.Addr, RequestTimeout: wait,
	}
	return c
}

// call asks, on a new connection if the last one is over; nil without an answer.
func (c *caller) call(r kmsg.Request) kmsg.Response {
	if !c.connect() {
		return nil
	}
	return c.conn.Call(r)
}

func (c *caller) connect() bool {
	if c.conn == nil || c.conn.Closed() {
		c.conn = c.host.Dial()
		if !c.conn.Hello(3) {
			c.conn.Close()
		}
	}
	return !c.conn.Closed()
}

// look asks about a topic.
func (c *caller) look(topic string) (led int, id kafka.TopicID, code kafka.ErrorCode) {
	if !c.connect() {
		return 0, id, kafka.NetworkException
	}
	c.host.Topic, c.host.TopicID = topic, id
	led, code = c.conn.Metadata(12)
	return led, c.host.TopicID, code
}

// led says whether the topic's partition has a leader.
func (c *caller) led(topic string) bool {
	led, _, code := c.look(topic)
	return code == kafka.None && led == 1
}

func (c *caller) create(topic string) kafka.ErrorCode {
	if !c.connect() {
		return kafka.NetworkException
	}
	c.host.Topic = topic
	return c.conn.CreateTopic(1, nil, nil)
}

func (c *caller) delete(topic string) kafka.ErrorCode {
	if !c.connect() {
		return kafka.NetworkException
	}
	c.host.Topic = topic
	return c.conn.DeleteTopic()
}

// newProducer asks for a producer id.
func (c *caller) newProducer() (kafka.ProducerID, kafka.ProducerEpoch, kafka.ErrorCode) {
	r := kmsg.NewPtrInitProducerIDRequest()
	r.Version, r.TransactionTimeoutMillis = 4, 60_000
	res, ok := c.call(r).(*kmsg.InitProducerIDResponse)
	if !ok {
		return kafka.NoProducerID, kafka.NoProducerEpoch, kafka.NetworkException
	}
	return kafka.ProducerID(res.ProducerID), kafka.ProducerEpoch(res.ProducerEpoch),
		kafka.ErrorCode(res.ErrorCode)
}

// batch builds the records [base, end) of a topic.
func (c *caller) batch(t *topicEntry, base, end kafka.Offset) []byte {
	b := record.Builder{Spec: record.Plain()}
	b.Spec.ProducerID, b.Spec.ProducerEpoch = t.producer, t.epoch
	b.Spec.BaseSequence = kafka.Sequence(base)
	for o := base; o < end; o++ {
		b.Add(record.Record{Timestamp: c.clock.Now().WallMs, Value: t.value(o)})
	}
	return b.Build(nil, &c.scratch)
}

// begin sends the records [base, end) of a topic and does not wait; nil without a connection.
func (c *caller) begin(t *topicEntry, base, end kafka.Offset) *client.Call {
	if !c.connect() {
		return nil
	}
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = 9, -1, 5000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = t.name
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = c.batch(t, base, end)
	topic.Partitions = append(topic.Partitions, part)
	r.Topics = append(r.Topics, topic)
	return c.conn.Start(r, true)
}

// finish waits for the answer to begin.
func (c *caller) finish(call *client.Call) (base kafka.Offset, code kafka.ErrorCode) {
	if call == nil {
		return kafka.NoOffset, kafka.NetworkException
	}
	c.conn.Wait(call)
	res, ok := call.Response.(*kmsg.ProduceResponse)
	if !ok {
		return kafka.NoOffset, kafka.NetworkException
	}
	part := &res.Topics[0].Partitions[0]
	return kafka.Offset(part.BaseOffset), kafka.ErrorCode(part.ErrorCode)
}

// produce sends the records [base, end) of a topic and returns where they stand.
func (c *caller) produce(t *topicEntry, base, end kafka.Offset) (kafka.Offset, kafka.ErrorCode) {
	return c.finish(c.begin(t, base, end))
}

// fetched is what a reader gets of a log.
type fetched struct {
	values []string // from offset 0 on
	high   kafka.Offset
	code   kafka.ErrorCode
}

// read reads a topic from its beginning to its end.
func (c *caller) read(topic string) (f fetched) {
	for {
		before := len(f.values)
		if c.fetch(topic, &f); f.code != kafka.None || len(f.values) == before {
			return f
		}
	}
}

// fetch asks once for what follows what f has.
func (c *caller) fetch(topic string, f *fetched) {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MinBytes, r.MaxBytes, r.SessionEpoch = 12, 0, 1<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.FetchOffset, part.PartitionMaxBytes = int64(len(f.values)), 1<<20
	t.Partitions = append(t.Partitions, part)
	r.Topics = append(r.Topics, t)
	res, ok := c.call(r).(*kmsg.FetchResponse)
	if !ok || len(res.Topics) != 1 {
		f.code = kafka.NetworkException
		return
	}
	got := &res.Topics[0].Partitions[0]
	f.code, f.high = kafka.ErrorCode(got.ErrorCode), kafka.Offset(got.HighWatermark)
	for b := got.RecordBatches; len(b) > 0; {
		v, rest, problem := record.First(b)
		if problem != record.NoProblem {
			return
		}
		c.scratch.Records(v, 1<<20, func(r record.Record) bool {
			if int(r.Offset) == len(f.values) {
				f.values = append(f.values, string(r.Value))
			}
			return true
		})
		b = rest
	}
}

// observer implements client.Observer: only troubles are of interest.
type observer struct{ *caller }

func (observer) AttemptStarted(*client.Send)               {}
func (observer) AttemptEnded(*client.Send, client.Attempt) {}
func (observer) SendReturned(*client.Send)                 {}
func (observer) PollInvoked(*client.Poll)                  {}
func (observer) PollReturned(*client.Poll)                 {}
func (observer) ListInvoked(*client.List)                  {}
func (observer) ListReturned(*client.List)                 {}

// Trouble implements client.Observer.
func (o observer) Trouble(name string) { o.trouble = append(o.trouble, name) }
