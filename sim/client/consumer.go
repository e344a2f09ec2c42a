package client

import (
	"slices"

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
	leaders   *Leaders // nil with one broker
	sources   []*source
	positions []position
	version   int16
	stop      bool
	decoder   batchDecoder
}

// source is a connection to a broker, with the session on it.
type source struct {
	conn    *Conn
	session fetchSession
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
		positions: make([]position, c.Partitions), leaders: newLeaders(h, c.Partitions),
	}
	for i := range k.positions {
		k.positions[i].offset = kafka.NoOffset
	}
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
		for _, s := range k.sources {
			k.fetch(s)
		}
		k.host.Scheduler.Await(k.host.Stream.Delay(k.config.Pace.Low, k.config.Pace.High))
	}
	for _, s := range k.sources {
		s.conn.Close()
	}
	k.leaders.close()
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

// prepare sees to connections, the topic's id and the positions. It says whether all is there.
func (k *Consumer) prepare() bool {
	gone := func(s *source) bool { return s.conn.Closed() }
	if slices.ContainsFunc(k.sources, gone) {
		k.sources = slices.DeleteFunc(k.sources, gone)
		k.leaders.suspect()
	}
	if k.leaders != nil {
		return k.prepareToFollow()
	}
	if len(k.sources) == 0 && k.connect(Server{k.host.Server, k.host.Addr}) == nil {
		return false
	}
	c := k.sources[0].conn
	if k.version >= 13 && k.host.TopicID == (kafka.TopicID{}) {
		if _, code := c.Metadata(12); code != kafka.None {
			return false
		}
	}
	for i := range k.positions {
		if k.positions[i].offset == kafka.NoOffset && !k.locate(i, c) {
			return false
		}
	}
	return true
}

// prepareToFollow does that for a consumer of a cluster. It is content with some of the partitions:
// one without a leader holds up no other.
func (k *Consumer) prepareToFollow() bool {
	if !k.leaders.refresh() {
		return false
	}
	ready := false
	for i := range k.positions {
		leader, known := k.leaders.of(kafka.PartitionID(i))
		if !known {
			continue
		}
		s := k.source(leader)
		if s == nil {
			if s = k.connect(leader); s == nil {
				k.leaders.suspect()
				continue
			}
		}
		if k.positions[i].offset != kafka.NoOffset || k.locate(i, s.conn) {
			ready = true
		}
	}
	return ready
}

// source returns the connection to a broker, or nil.
func (k *Consumer) source(of Server) *source {
	for _, s := range k.sources {
		if s.conn.server == of && !s.conn.Closed() {
			return s
		}
	}
	return nil
}

// connect opens a connection to a broker, nil if it can not.
func (k *Consumer) connect(to Server) *source {
	s := &source{conn: k.host.dialTo(to)}
	s.session.on = k.config.Sessions && k.version >= 7
	if !s.conn.Hello(k.host.version(wire.KeyApiVersions)) {
		s.conn.Close()
		return nil
	}
	k.sources = append(k.sources, s)
	return s
}

// locate asks where to begin.
func (k *Consumer) locate(i int, c *Conn) bool {
	l := &List{
		Partition: kafka.PartitionID(i), Timestamp: kafka.EarliestTimestamp,
		Committed: k.config.Committed,
	}
	if k.config.FromLatest {
		l.Timestamp = kafka.LatestTimestamp
	}
	c.List(l)
	if !l.Answered || l.Code != kafka.None {
		k.leaders.refused(l.Code, l.Partition, int32(kafka.NoLeaderEpoch), "")
		return false
	}
	k.positions[i].offset = l.Offset
	return true
}

// fetch asks once for all partitions that the broker of a connection leads.
func (k *Consumer) fetch(s *source) {
	polls, some := k.polls(s)
	if !some {
		return
	}
	res, ok := s.conn.Call(k.request(s, polls)).(*kmsg.FetchResponse)
	if !ok {
		return
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None {
		s.session.reset()
		return
	}
	if !s.session.answered(res.SessionID) {
		k.host.Observer.Trouble("fetch response of another session")
	}
	for i := range res.Topics {
		for j := range res.Topics[i].Partitions {
			part := &res.Topics[i].Partitions[j]
			if int(part.Partition) >= len(polls) || polls[part.Partition] == nil || polls[part.Partition].Answered {
				k.host.Observer.Trouble("fetch response with a partition that was not asked for")
				continue
			}
			k.take(polls[part.Partition], part)
			k.leaders.refused(kafka.ErrorCode(part.ErrorCode), kafka.PartitionID(part.Partition),
				part.CurrentLeader.LeaderEpoch, fetchAddr(res, part.CurrentLeader.LeaderID))
		}
	}
}

// fetchAddr returns where a broker listens by an answer, "" if it does not say.
func fetchAddr(res *kmsg.FetchResponse, id int32) string {
	for _, b := range res.Brokers {
		if b.NodeID == id {
			return addr(b.Host, b.Port)
		}
	}
	return ""
}

// polls begins those of one fetch, nil for a partition that another broker leads. It says whether there
// are any.
func (k *Consumer) polls(s *source) (polls []*Poll, some bool) {
	polls = make([]*Poll, len(k.positions))
	for i := range polls {
		at := k.positions[i]
		leader, known := k.leaders.of(kafka.PartitionID(i))
		if k.leaders != nil && (!known || leader != s.conn.server || at.offset == kafka.NoOffset) {
			continue
		}
		some = true
		polls[i] = &Poll{
			Partition: kafka.PartitionID(i), Assignment: at.assignment, Position: at.offset,
			Committed: k.config.Committed, HighWatermark: kafka.NoOffset,
			LastStableOffset: kafka.NoOffset, LogStart: kafka.NoOffset,
		}
		k.host.Observer.PollInvoked(polls[i])
	}
	return polls, some
}

func (k *Consumer) request(s *source, polls []*Poll) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MaxWaitMillis, r.MinBytes = k.version, k.config.MaxWaitMs, k.config.MinBytes
	r.MaxBytes = k.config.MaxBytes
	if k.config.Committed {
		r.IsolationLevel = 1
	}
	r.SessionID, r.SessionEpoch = s.session.head()
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = k.host.Topic, k.host.TopicID
	gone := kmsg.NewFetchRequestForgottenTopic()
	gone.Topic, gone.TopicID = t.Topic, t.TopicID
	for i, p := range polls {
		if p == nil {
			if s.session.forgets(i) {
				gone.Partitions = append(gone.Partitions, int32(i))
			}
			continue
		}
		epoch := k.leaders.epoch(p.Partition)
		if !s.session.wants(i, p.Position, epoch) {
			continue
		}
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.CurrentLeaderEpoch = int32(i), int64(p.Position), epoch
		part.PartitionMaxBytes = k.config.PartitionMaxBytes
		t.Partitions = append(t.Partitions, part)
	}
	if len(t.Partitions) > 0 {
		r.Topics = append(r.Topics, t)
	}
	if len(gone.Partitions) > 0 {
		r.ForgottenTopics = append(r.ForgottenTopics, gone)
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
