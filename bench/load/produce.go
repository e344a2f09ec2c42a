package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

// ProduceOptions say what to send.
type ProduceOptions struct {
	Address    string
	Topic      string
	Partitions int
	Conns      int
	InFlight   int // requests on each connection that wait for an answer, at most
	Acks       int16
	Shape      BatchShape
	Bytes      int64   // stop once this many bytes of batches were sent
	Rate       float64 // requests a second over all connections; 0: as fast as answers come
}

// ProduceResult counts what was acknowledged, not what was asked for.
type ProduceResult struct {
	Bytes, Records, Requests int64
	Wall                     time.Duration
	Latency                  Histogram // from the intended time of sending
}

// Produce sends pre-encoded batches until Bytes are out and all answers are in. Any error in an
// answer ends it.
func Produce(o ProduceOptions) (*ProduceResult, error) {
	batch, records := EncodeBatch(o.Shape)
	shared := &producing{options: o, batchBytes: int64(len(batch)), records: int64(records)}
	shared.left.Store((o.Bytes + int64(len(batch)) - 1) / int64(len(batch)))
	start := time.Now()
	senders, err := newSenders(shared, batch, start)
	if err != nil {
		return nil, err
	}
	result := &ProduceResult{}
	var wait sync.WaitGroup
	failures := make([]error, len(senders))
	for i, s := range senders {
		wait.Go(func() { failures[i] = s.run() })
	}
	wait.Wait()
	for _, s := range senders {
		result.Requests += s.answered
		result.Latency.Merge(&s.latency)
	}
	result.Wall = time.Since(start)
	result.Bytes = result.Requests * shared.batchBytes
	result.Records = result.Requests * shared.records
	return result, errors.Join(failures...)
}

// producing is what all connections of a run share.
type producing struct {
	options             ProduceOptions
	batchBytes, records int64
	left                atomic.Int64 // requests not yet taken by a sender
}

// sender drives one connection: one goroutine writes, one reads.
type sender struct {
	*producing
	conn     *Conn
	frames   [][]byte // one for each partition, pre-encoded
	tokens   chan time.Time
	next     time.Time
	interval time.Duration
	answered int64
	latency  Histogram
}

func newSenders(shared *producing, batch []byte, start time.Time) ([]*sender, error) {
	o := shared.options
	senders := make([]*sender, o.Conns)
	for i := range senders {
		c, err := Dial(o.Address)
		if err != nil {
			return nil, err
		}
		s := &sender{producing: shared, conn: c, tokens: make(chan time.Time, o.InFlight)}
		for p := range o.Partitions {
			// Connections start at different partitions, so that they meet rarely.
			s.frames = append(s.frames, produceFrame(o, (p+i)%o.Partitions, batch))
		}
		if o.Rate > 0 {
			s.interval = time.Duration(float64(time.Second) * float64(o.Conns) / o.Rate)
			s.next = start.Add(s.interval * time.Duration(i) / time.Duration(o.Conns))
		}
		senders[i] = s
	}
	return senders, nil
}

func produceFrame(o ProduceOptions, partition int, batch []byte) []byte {
	return AppendFrame(nil, ProduceRequest(o.Topic, partition, o.Acks, batch), 0)
}

// ProduceRequest asks for one batch to be appended to one partition.
func ProduceRequest(topic string, partition int, acks int16, batch []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(produceVersion)
	req.Acks, req.TimeoutMillis = acks, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = int32(partition), batch
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// run sends until nothing is left; the tokens in the channel are the requests in flight, each
// with the time at which it should have been sent.
func (s *sender) run() error {
	defer s.conn.Close()
	received := make(chan error, 1)
	go func() { received <- s.receive() }()
	sent := s.send()
	close(s.tokens)
	if err := <-received; err != nil {
		return err // why the writer failed too
	}
	return sent
}

func (s *sender) send() error {
	for k := 0; s.left.Add(-1) >= 0; k++ {
		intended := s.pace()
		s.tokens <- intended
		frame := s.frames[k%len(s.frames)]
		binary.BigEndian.PutUint32(frame[CorrelationAt:], uint32(k))
		if err := s.conn.Send(frame); err != nil {
			return err
		}
	}
	return nil
}

// pace waits until the next request is due. The runtime's timers are too coarse for this.
func (s *sender) pace() time.Time {
	if s.interval == 0 {
		return time.Now()
	}
	due := s.next
	s.next = due.Add(s.interval)
	if wait := time.Until(due); wait > 0 {
		t := unix.NsecToTimespec(int64(wait))
		_ = unix.Nanosleep(&t, nil)
	}
	return due
}

func (s *sender) receive() error {
	resp := kmsg.NewPtrProduceResponse()
	resp.SetVersion(produceVersion)
	for intended := range s.tokens {
		_, body, err := s.conn.Receive()
		if err == nil {
			err = Decode(resp, body)
		}
		if err == nil {
			err = ProduceError(resp)
		}
		if err != nil {
			s.drain()
			return err
		}
		s.latency.Add(time.Since(intended))
		s.answered++
	}
	return nil
}

// drain lets the writer run out after a failure.
func (s *sender) drain() {
	s.left.Store(0)
	s.conn.Close()
	for range s.tokens {
	}
}

// ProduceError returns the first error in an answer.
func ProduceError(resp *kmsg.ProduceResponse) error {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("produce to %s/%d: %w", t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}
