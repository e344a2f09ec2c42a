package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/wire"
	"stet/sim"
)

// ConsumerConfig is how a consumer behaves.
type ConsumerConfig struct {
	Partitions int32
	Committed  bool // read_committed
	Sessions   bool // fetch sessions (KIP-227)
	FromLatest bool // where it begins, and where it goes when its position is gone
	// Tail has it end when it has read up to these offsets, by partition; nil for no end.
	Tail []kafka.Offset

	MaxWaitMs, MinBytes         int32
	MaxBytes, PartitionMaxBytes int32
	// Pace is the time between an answer and the next fetch.
	Pace sim.Interval
}

// Consumer reads all partitions until it is told to stop.
type Consumer struct {
	host      *Host
	config    ConsumerConfig
	conn      *Conn
	session   fetchSession
	positions []position
	version   int16
	stop      bool
	decoder   batchDecoder
}

// position is where a consumer is in one partition.
type position struct {
	offset     kafka.Offset // kafka.NoOffset: to be asked for
	assignment int32
}

// NewConsumer returns a consumer. Run it in a task.
func NewConsumer(h *Host, c ConsumerConfig) *Consumer {
	k := &Consumer{
		host: h, config: c, version: h.version(wire.KeyFetch),
		positions: make([]position, c.Partitions),
	}
	for i := range k.positions {
		k.positions[i].offset = kafka.NoOffset
	}
	k.session.on = c.Sessions && k.version >= 7
	return k
}

// Stop has the consumer end before its next fetch.
func (k *Consumer) Stop() { k.stop = true }

// Positions returns where the consumer is, by partition.
func (k *Consumer) Positions() []kafka.Offset {
	out := make([]kafka.Offset, len(k.positions))
	for i := range k.positions {
		out[i] = k.positions[i].offset
	}
	return out
}

// Seek makes the consumer ask for its position anew.
func (k *Consumer) seek(i int) {
	k.positions[i].offset = kafka.NoOffset
	k.positions[i].assignment++
}

// Run reads until Stop or until it has read up to its Tail.
func (k *Consumer) Run() {
	for !k.stop && !k.done() {
		if !k.prepare() {
			k.host.pause()
			continue
		}
		k.fetch()
		k.host.Scheduler.Await(k.host.Stream.Delay(k.config.Pace.Low, k.config.Pace.High))
	}
	if k.conn != nil {
		k.conn.Close()
	}
}

func (k *Consumer) done() bool {
	if k.config.Tail == nil {
		return false
	}
	for i, end := range k.config.Tail {
		if k.positions[i].offset < end {
			return false
		}
	}
	return true
}

// prepare sees to a connection, the topic's id and the positions. It says whether all is there.
func (k *Consumer) prepare() bool {
	if k.conn == nil || k.conn.Closed() {
		k.conn = k.host.Dial()
		k.session.reset()
		if !k.conn.Hello(k.host.version(wire.KeyApiVersions)) {
			k.conn.Close()
			return false
		}
	}
	if k.version >= 13 && k.host.TopicID == (kafka.TopicID{}) {
		if _, code := k.conn.Metadata(12); code != kafka.None {
			return false
		}
	}
	for i := range k.positions {
		if k.positions[i].offset == kafka.NoOffset && !k.locate(i) {
			return false
		}
	}
	return true
}

// locate asks where to begin.
func (k *Consumer) locate(i int) bool {
	l := &List{
		Partition: kafka.PartitionID(i), Timestamp: kafka.EarliestTimestamp,
		Committed: k.config.Committed,
	}
	if k.config.FromLatest {
		l.Timestamp = kafka.LatestTimestamp
	}
	k.conn.List(l)
	if !l.Answered || l.Code != kafka.None {
		return false
	}
	k.positions[i].offset = l.Offset
	return true
}

// fetch asks once for all partitions.
func (k *Consumer) fetch() {
	polls := k.polls()
	res, ok := k.conn.Call(k.request(polls)).(*kmsg.FetchResponse)
	if !ok {
		return
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None {
		k.session.reset()
		return
	}
	if !k.session.answered(res.SessionID) {
		k.host.Observer.Trouble("fetch response of another session")
	}
	for i := range res.Topics {
		for j := range res.Topics[i].Partitions {
			part := &res.Topics[i].Partitions[j]
			if int(part.Partition) >= len(polls) || polls[part.Partition].Answered {
				k.host.Observer.Trouble("fetch response with a partition that was not asked for")
				continue
			}
			k.take(polls[part.Partition], part)
		}
	}
}

func (k *Consumer) polls() []*Poll {
	polls := make([]*Poll, len(k.positions))
	for i := range polls {
		at := k.positions[i]
		polls[i] = &Poll{
			Partition: kafka.PartitionID(i), Assignment: at.assignment, Position: at.offset,
			Committed: k.config.Committed, HighWatermark: kafka.NoOffset,
			LastStableOffset: kafka.NoOffset, LogStart: kafka.NoOffset,
		}
		k.host.Observer.PollInvoked(polls[i])
	}
	return polls
}

func (k *Consumer) request(polls []*Poll) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MaxWaitMillis, r.MinBytes = k.version, k.config.MaxWaitMs, k.config.MinBytes
	r.MaxBytes = k.config.MaxBytes
	if k.config.Committed {
		r.IsolationLevel = 1
	}
	r.SessionID, r.SessionEpoch = k.session.head()
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = k.host.Topic, k.host.TopicID
	for i, p := range polls {
		if !k.session.wants(i, p.Position) {
			continue
		}
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset = int32(i), int64(p.Position)
		part.PartitionMaxBytes = k.config.PartitionMaxBytes
		t.Partitions = append(t.Partitions, part)
	}
	if len(t.Partitions) > 0 {
		r.Topics = append(r.Topics, t)
	}
	return r
}

// take hands on what a fetch returned of one partition, and moves the position.
func (k *Consumer) take(p *Poll, part *kmsg.FetchResponseTopicPartition) {
	p.Answered, p.Code = true, kafka.ErrorCode(part.ErrorCode)
	p.HighWatermark = kafka.Offset(part.HighWatermark)
	p.LastStableOffset = kafka.Offset(part.LastStableOffset)
	if k.version >= 5 {
		p.LogStart = kafka.Offset(part.LogStartOffset)
	}
	at := &k.positions[p.Partition]
	if p.Code == kafka.None {
		at.offset = k.decoder.decode(p, part.RecordBatches)
	}
	k.host.Observer.PollReturned(p)
	if p.Code == kafka.OffsetOutOfRange {
		k.seek(int(p.Partition))
	}
}
