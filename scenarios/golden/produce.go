package golden

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
	"stet/sim/client"
)

// producerID takes a producer id.
func producerID(s *stage, a *args) {
	name, c := a.next("a name"), s.caller(a)
	s.call(c, a, func(conn *client.Conn) {
		r := kmsg.NewPtrInitProducerIDRequest()
		r.Version, r.TransactionTimeoutMillis = 5, 60_000
		res, ok := conn.Call(r).(*kmsg.InitProducerIDResponse)
		switch {
		case !ok:
			c.lost("a question for a producer id")
		case res.ErrorCode != 0:
			s.say(name, "%s", kafka.ErrorCode(res.ErrorCode))
		default:
			p := identity{kafka.ProducerID(res.ProducerID), kafka.ProducerEpoch(res.ProducerEpoch)}
			s.producers[name] = p
			s.say(name, "producer %d epoch %d", p.id, p.epoch)
		}
	})
}

// produce sends one batch.
func produce(s *stage, a *args) {
	c, tp := s.caller(a), a.partition(a.next("a partition"))
	batch := s.batch(a)
	acks, ok := map[string]int16{"all": -1, "1": 1, "0": 0}[a.option("acks", "all")]
	if !ok {
		a.fails("acks are all, 1 or 0")
	}
	s.call(c, a, func(conn *client.Conn) {
		id, ok := c.learn(conn, tp.Topic)
		if !ok {
			return
		}
		r := kmsg.NewPtrProduceRequest()
		r.Version, r.Acks, r.TimeoutMillis = 13, acks, 30_000
		t := kmsg.NewProduceRequestTopic()
		t.TopicID = id
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = int32(tp.Partition), batch
		t.Partitions = append(t.Partitions, part)
		r.Topics = append(r.Topics, t)
		call := conn.Start(r, acks != 0)
		if acks == 0 {
			s.say(c.name, "%s sent", tp)
			return
		}
		conn.Wait(call)
		c.produced(tp, record.View(batch), call)
	})
}

// produced tells how a produce request ended.
func (c *caller) produced(tp kafka.TopicPartition, batch record.View, call *client.Call) {
	res, ok := call.Response.(*kmsg.ProduceResponse)
	if !ok || len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
		c.lost("produce")
		return
	}
	p := &res.Topics[0].Partitions[0]
	if code := kafka.ErrorCode(p.ErrorCode); code != kafka.None {
		c.stage.say(c.name, "%s %s", tp, code)
		return
	}
	c.stage.say(c.name, "%s [%d,%d) acknowledged", tp, p.BaseOffset,
		p.BaseOffset+int64(batch.Count()))
}

// batch builds the batch that a command describes.
func (s *stage) batch(a *args) []byte {
	b := record.Builder{Spec: record.Plain()}
	if name := a.option("producer", ""); name != "" {
		p, ok := s.producers[name]
		if !ok {
			a.fails("%q is no producer", name)
		}
		b.Spec.ProducerID, b.Spec.ProducerEpoch = p.id, p.epoch
		b.Spec.BaseSequence = kafka.Sequence(a.number(a.option("seq", "")))
	}
	size := int(a.number(a.option("size", "0")))
	words := a.rest()
	if len(words) == 0 {
		a.fails("it wants values")
	}
	for _, word := range words {
		value, at, timed := strings.Cut(word, "@")
		stamp := sim.WallEpochMs + int64(s.world.Scheduler.Now()/sim.Millisecond)
		if timed {
			stamp = a.stamp(at)
		}
		value += strings.Repeat(padding, max(0, size-len(value)))
		b.Add(record.Record{Timestamp: stamp, Value: []byte(value)})
	}
	if !a.ok() {
		return nil
	}
	return b.Build(nil, nil)
}
