package client

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
	"stet/sim"
)

// fake is a scripted broker at n1 and a client's host at c0, on a network without dice. The script
// answers requests as it likes.
type fake struct {
	t         testing.TB
	scheduler *sim.Scheduler
	network   *sim.Network
	owner     sim.Owner // of the broker
	host      *Host
	seen      *seen

	// script is asked about every request. Without one, or when it returns nil, handle answers.
	script func(a *asked) action
	// log has what was produced, by partition; epochs of producer ids count from 0.
	log       map[int32][]record.View
	asked     []*asked
	conns     int
	nextID    int64
	topicID   kafka.TopicID
	partition int32 // how many the topic has
}

// asked is a request as the broker got it.
type asked struct {
	kmsg.Request
	conn        *brokerConn
	at          sim.Time
	correlation int32
	answered    bool
}

// action is what a script does about a request.
type action func()

// brokerConn is the broker's half of a connection.
type brokerConn struct {
	fake   *fake
	number int
	writer env.ConnWriter
	closed bool
}

func newFake(t testing.TB, seed uint64) *fake {
	entropy := sim.NewEntropy(seed)
	trace := sim.NewTrace(entropy)
	s := sim.NewScheduler(trace)
	t.Cleanup(s.Close)
	n := sim.NewNetwork(s, sim.NewFaultLog(trace), entropy.Stream("network", 0))
	n.SetDefaultProfile(sim.LinkProfile{Delay: exactly(sim.Millisecond)})
	f := &fake{
		t: t, scheduler: s, network: n, owner: s.NewOwner(1), seen: &seen{now: s.Now},
		log: map[int32][]record.View{}, topicID: kafka.TopicID{1, 2, 3}, partition: 3,
	}
	f.host = &Host{
		Scheduler: s, Network: n, Owner: s.NewOwner(sim.ClientPlace), Name: "test",
		Stream: entropy.Stream("client", sim.ClientPlace), Observer: f.seen,
		Server: 1, Addr: "n1:9092", Topic: "orders",
		RequestTimeout: exactly(sim.Second), Pause: exactly(10 * sim.Millisecond),
	}
	n.Listen(f.owner, f.host.Addr, f)
	return f
}

func exactly(d sim.Time) sim.Interval { return sim.Interval{Low: d, High: d} }

// do runs a task of the client to its end, for at most a minute, and says whether it ended.
func (f *fake) do(run func()) bool {
	done := false
	f.scheduler.Spawn(0, f.host.Owner, "test", func() {
		run()
		done = true
	})
	f.scheduler.RunUntil(f.scheduler.Now()+sim.Minute, func() bool { return done })
	return done
}

// Accept implements env.Acceptor.
func (f *fake) Accept(w env.ConnWriter, _ env.ConnInfo) env.ConnReader {
	f.conns++
	return &brokerConn{fake: f, number: f.conns, writer: w}
}

// Reserve implements env.ConnReader.
func (c *brokerConn) Reserve(size int32) (env.Buffer, env.Verdict) {
	return frame(make([]byte, size)), env.Continue
}

// Deliver implements env.ConnReader.
func (c *brokerConn) Deliver(b env.Buffer) env.Verdict {
	f := c.fake
	// The broker of a test speaks every key, so the header is read by hand.
	h := b.Bytes()
	r := kmsg.RequestForKey(int16(binary.BigEndian.Uint16(h)))
	r.SetVersion(int16(binary.BigEndian.Uint16(h[2:])))
	body, named := bytes.CutPrefix(h[8:], []byte("\x00\x04test"))
	require.True(f.t, named)
	if r.IsFlexible() {
		require.Zero(f.t, body[0], "no tagged fields")
		body = body[1:]
	}
	require.NoError(f.t, r.ReadFrom(body))
	a := &asked{Request: r, conn: c, at: f.scheduler.Now(), correlation: int32(binary.BigEndian.Uint32(h[4:]))}
	f.asked = append(f.asked, a)
	var act action
	if f.script != nil {
		act = f.script(a)
	}
	if act == nil {
		act = func() { a.answer(f.handle(a.Request)) }
	}
	act()
	return env.Continue
}

// Closed implements env.ConnReader.
func (c *brokerConn) Closed(env.Errno) { c.closed = true }

// answer sends a response; nil for none.
func (a *asked) answer(r kmsg.Response) {
	a.answered = true
	if r != nil {
		a.conn.send(wire.AppendResponse(nil, a.GetVersion(), a.correlation, 0, r))
	}
}

func (c *brokerConn) send(response []byte) {
	prefix := binary.BigEndian.AppendUint32(nil, uint32(len(response)))
	c.writer.Send([]env.Part{{Bytes: append(prefix, response...)}})
}

// ignore never answers.
func ignore() {}

// hangUp closes the connection instead of answering.
func (a *asked) hangUp() { a.conn.writer.Close() }

// handle answers as a broker does whose topic has 3 partitions and that recognises no duplicates.
func (f *fake) handle(r kmsg.Request) kmsg.Response {
	switch r := r.(type) {
	case *kmsg.ApiVersionsRequest:
		return r.ResponseKind()
	case *kmsg.InitProducerIDRequest:
		res := r.ResponseKind().(*kmsg.InitProducerIDResponse)
		res.ProducerID, res.ProducerEpoch = f.nextID, 0
		f.nextID++
		return res
	case *kmsg.MetadataRequest:
		return f.metadata(r)
	case *kmsg.ProduceRequest:
		return f.produce(r, nil)
	case *kmsg.ListOffsetsRequest:
		return f.list(r)
	case *kmsg.FetchRequest:
		return f.fetch(r, 0)
	case *kmsg.CreateTopicsRequest:
		res := r.ResponseKind().(*kmsg.CreateTopicsResponse)
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic = r.Topics[0].Topic
		res.Topics = append(res.Topics, t)
		return res
	case *kmsg.DeleteTopicsRequest:
		res := r.ResponseKind().(*kmsg.DeleteTopicsResponse)
		t := kmsg.NewDeleteTopicsResponseTopic()
		t.Topic = &r.TopicNames[0]
		res.Topics = append(res.Topics, t)
		return res
	}
	f.t.Fatalf("request %T", r)
	return nil
}

func (f *fake) metadata(r *kmsg.MetadataRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.MetadataResponse)
	b := kmsg.NewMetadataResponseBroker()
	b.NodeID, b.Host, b.Port = 1, "n1", 9092
	res.Brokers = append(res.Brokers, b)
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID = r.Topics[0].Topic, f.topicID
	for i := range f.partition {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader = i, 1
		t.Partitions = append(t.Partitions, p)
	}
	res.Topics = append(res.Topics, t)
	return res
}

// produce appends what a request carries, or refuses it by partition.
func (f *fake) produce(r *kmsg.ProduceRequest, codes map[int32]kafka.ErrorCode) kmsg.Response {
	res := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		out := kmsg.NewProduceResponseTopic()
		out.Topic, out.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			answer := kmsg.NewProduceResponseTopicPartition()
			answer.Partition, answer.ErrorCode = p.Partition, int16(codes[p.Partition])
			answer.BaseOffset = -1
			if answer.ErrorCode == 0 {
				answer.BaseOffset = int64(f.append(p.Partition, p.Records))
			}
			out.Partitions = append(out.Partitions, answer)
		}
		res.Topics = append(res.Topics, out)
	}
	if r.Acks == 0 {
		return nil
	}
	return res
}

// append stores a batch and returns its base offset.
func (f *fake) append(p int32, batch []byte) (base kafka.Offset) {
	require.Equal(f.t, record.NoProblem, record.Check(batch))
	if n := len(f.log[p]); n > 0 {
		base = f.log[p][n-1].NextOffset()
	}
	stored := slices.Clone(batch)
	record.Stamp(stored, env.Patch{Stamp: true, BaseOffset: int64(base)})
	f.log[p] = append(f.log[p], stored)
	return base
}

func (f *fake) end(p int32) (end kafka.Offset) {
	for _, b := range f.log[p] {
		end = b.NextOffset()
	}
	return end
}

func (f *fake) list(r *kmsg.ListOffsetsRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.ListOffsetsResponse)
	t := kmsg.NewListOffsetsResponseTopic()
	t.Topic = r.Topics[0].Topic
	p := kmsg.NewListOffsetsResponseTopicPartition()
	p.Partition = r.Topics[0].Partitions[0].Partition
	p.Offset, p.Timestamp = 0, 7
	if r.Topics[0].Partitions[0].Timestamp == kafka.LatestTimestamp {
		p.Offset = int64(f.end(p.Partition))
	}
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	return res
}

// fetch answers with all batches that end behind the offset asked for.
func (f *fake) fetch(r *kmsg.FetchRequest, session int32) *kmsg.FetchResponse {
	res := r.ResponseKind().(*kmsg.FetchResponse)
	res.SessionID = session
	for _, t := range r.Topics {
		out := kmsg.NewFetchResponseTopic()
		out.Topic, out.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			answer := kmsg.NewFetchResponseTopicPartition()
			answer.Partition = p.Partition
			answer.HighWatermark = int64(f.end(p.Partition))
			answer.LastStableOffset = answer.HighWatermark
			for _, b := range f.log[p.Partition] {
				if int64(b.NextOffset()) > p.FetchOffset {
					answer.RecordBatches = append(answer.RecordBatches, b...)
				}
			}
			out.Partitions = append(out.Partitions, answer)
		}
		res.Topics = append(res.Topics, out)
	}
	return res
}

// of lists the requests of a kind that the broker got.
func of[R kmsg.Request](f *fake) (all []R) {
	for _, a := range f.asked {
		if r, ok := a.Request.(R); ok {
			all = append(all, r)
		}
	}
	return all
}
