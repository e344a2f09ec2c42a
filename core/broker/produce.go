package broker

import (
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/core/record"
	"stet/core/wire"
)

// Produce (key 0), versions 3 to 13. One batch for each partition; the answer waits until all are
// acknowledged, refused, or out of time. With acks=0 there is no answer, and an error ends the
// connection, so that the client asks for metadata.
//
// v7 takes zstd, v8 names refused records (KIP-467), v10 tells the current leader (KIP-951), v13
// names topics by id.

// produceWait is a produce request that waits for its partitions. It is reused.
type produceWait struct {
	origin
	timer
	index, generation uint32 // of its tickets
	acks              partition.Acks
	left              int // partitions without a result
	results           []produced
}

// produced is the result of one partition. Topic is the image's string, or a copy.
type produced struct {
	topic     string
	topicID   kafka.TopicID
	partition kafka.PartitionID
	done      bool
	outcome   partition.Outcome
	message   string
	records   []partition.RecordError
}

// produceWaits holds the produce requests that wait, and those that have been answered, for reuse.
type produceWaits struct {
	all  []*produceWait // by index
	free []uint32
}

func (w *produceWaits) take() *produceWait {
	if n := len(w.free); n > 0 {
		taken := w.all[w.free[n-1]]
		w.free = w.free[:n-1]
		return taken
	}
	made := &produceWait{index: uint32(len(w.all)), generation: 1}
	w.all = append(w.all, made)
	return made
}

// put gives a wait back; tickets of it that are still out find another generation.
func (w *produceWaits) put(p *produceWait) {
	p.generation++
	clear(p.results)
	p.results = p.results[:0]
	p.origin = origin{}
	w.free = append(w.free, p.index)
}

func (b *Broker) produce(r *env.Request, o origin, m *wire.ProduceRequest) {
	w := b.produces.take()
	w.origin, w.acks, w.left = o, partition.Acks(m.Acks), 0
	legal := m.Acks >= -1 && m.Acks <= 1
	for i := range m.Topics {
		t := &m.Topics[i]
		name, id, topic, code := b.produceTopic(r, t)
		if !legal {
			code = kafka.InvalidRequiredAcks
		}
		for j := range t.Partitions {
			b.producePartition(r, w, topic, name, id, &t.Partitions[j], code)
		}
	}
	switch {
	case w.acks == partition.AcksNone:
		w.finishUnacknowledged(b)
	case w.left == 0:
		w.answer(b)
	default:
		timeout := time.Duration(max(0, m.TimeoutMs)) * time.Millisecond
		b.timers.set(&w.timer, b.now.Mono.Add(timeout), w)
	}
}

// produceTopic finds the topic of a request and says what is wrong with it.
func (b *Broker) produceTopic(r *env.Request, t *wire.ProduceTopic) (name string,
	id kafka.TopicID, topic *metadata.Topic, code kafka.ErrorCode,
) {
	if r.Version >= 13 {
		topic, code = b.image.TopicByID(t.ID), kafka.UnknownTopicID
	} else {
		topic, code = b.image.Topic(string(t.Name)), kafka.UnknownTopicOrPartition
	}
	if topic == nil {
		return string(t.Name), t.ID, nil, code
	}
	if code = b.Authorize(r.Info, opWrite, resourceTopic, topic.Name); code == kafka.None &&
		internalTopic(topic.Name) {
		code = kafka.InvalidTopicException
	}
	return topic.Name, topic.ID, topic, code
}

// producePartition appends to one partition, or notes why not.
func (b *Broker) producePartition(r *env.Request, w *produceWait, topic *metadata.Topic,
	name string, id kafka.TopicID, p *wire.ProducePartition, code kafka.ErrorCode,
) {
	n := len(w.results)
	w.results = append(w.results, produced{topic: name, topicID: id, partition: p.Index})
	if code == kafka.None && topic.Partition(p.Index) == nil {
		code = kafka.UnknownTopicOrPartition
	}
	if code != kafka.None {
		w.results[n].refuse(partition.Verdict{Code: code})
		return
	}
	replica := b.host.find(id, p.Index)
	if replica == nil {
		w.results[n].refuse(partition.Verdict{Code: kafka.NotLeaderOrFollower})
		return
	}
	if p.Facts.Problem == record.NoProblem && p.Facts.Attributes.Codec() == record.Zstd &&
		r.Version < 7 {
		w.results[n].refuse(partition.Verdict{
			Code:    kafka.UnsupportedCompressionType,
			Message: "zstd needs version 7 of Produce",
		})
		return
	}
	if w.acks != partition.AcksNone {
		w.left++
	}
	verdict := replica.Produce(b.now, &partition.Produce{
		Ticket: partition.Ticket{Index: w.index, Generation: w.generation, Part: uint32(n)},
		Acks:   w.acks, Facts: &p.Facts, Buf: env.BufRef{Owner: r.Frame, Data: p.Records},
	}, b.out)
	if verdict.Code != kafka.None {
		w.results[n].refuse(verdict)
		if w.acks != partition.AcksNone {
			w.left--
		}
	}
	b.afterReplica(replica)
}

func (p *produced) refuse(v partition.Verdict) {
	p.done, p.message, p.records = true, v.Message, v.Records
	p.outcome = partition.Outcome{
		Code: v.Code, BaseOffset: kafka.NoOffset,
		AppendTimeMs: kafka.NoTimestamp, LogStartOffset: kafka.NoOffset,
	}
}

// finish takes an acknowledgement. The answer is not sent from here while the request is still
// being read: then left counts partitions to come only after they have been asked.
func (w *produceWaits) finish(b *Broker, outcome *partition.Outcome) {
	ticket := outcome.Ticket
	wait := w.all[ticket.Index]
	if wait.generation != ticket.Generation {
		return // answered with REQUEST_TIMED_OUT
	}
	result := &wait.results[ticket.Part]
	if result.done {
		return
	}
	result.done, result.outcome = true, *outcome
	wait.left--
	if wait.left == 0 && wait.place != 0 {
		wait.answer(b)
	}
}

// due answers what is not acknowledged in time; it may be in the log nevertheless.
func (w *produceWait) due(b *Broker) {
	b.Metrics.ProduceTimeouts++
	for i := range w.results {
		if !w.results[i].done {
			w.results[i].refuse(partition.Verdict{Code: kafka.RequestTimedOut})
		}
	}
	w.answer(b)
}

// finishUnacknowledged ends a request with acks=0.
func (w *produceWait) finishUnacknowledged(b *Broker) {
	for i := range w.results {
		if w.results[i].done && w.results[i].outcome.Code != kafka.None {
			b.hangUp(w.origin, env.EOther)
			break
		}
	}
	b.produces.put(w)
}

// answer encodes the answer and forgets the request.
func (w *produceWait) answer(b *Broker) {
	b.timers.clear(&w.timer)
	if !w.conn.closed {
		m := &b.produceResponse
		m.Reset()
		for i := range w.results {
			p := &w.results[i]
			if i == 0 || p.topic != w.results[i-1].topic || p.topicID != w.results[i-1].topicID {
				m.AddTopic(p.topic, p.topicID)
			}
			p.encode(b, w.conn.info, m)
		}
		start := b.out.Mark()
		b.out.Bytes = m.AppendTo(b.out.Bytes, w.version, w.correlation)
		b.respond(w.origin, start)
	}
	b.produces.put(w)
}

func (p *produced) encode(b *Broker, info *env.ConnInfo, m *wire.ProduceResponse) {
	out := m.AddPartition(p.partition)
	out.Error = p.outcome.Code
	out.BaseOffset = p.outcome.BaseOffset
	out.AppendTimeMs = p.outcome.AppendTimeMs
	out.LogStartOffset = p.outcome.LogStartOffset
	out.ErrorMessage = p.message
	for _, e := range p.records {
		out.RecordErrors = append(out.RecordErrors, wire.RecordError{
			BatchIndex: e.Index,
			Message:    e.Message,
		})
	}
	if p.outcome.Code == kafka.NotLeaderOrFollower {
		out.CurrentLeader = b.leaderHint(info, p.topicID, p.partition, &m.Endpoints)
	}
}

// leaderHint tells a client that asked the wrong broker whom to ask (KIP-951), and adds the
// leader's address to endpoints once.
func (b *Broker) leaderHint(info *env.ConnInfo, topicID kafka.TopicID, id kafka.PartitionID,
	endpoints *[]wire.Endpoint,
) wire.Leader {
	topic := b.image.TopicByID(topicID)
	if topic == nil {
		return wire.NoLeader()
	}
	p := topic.Partition(id)
	if p == nil || p.Leader == kafka.NoBroker {
		return wire.NoLeader()
	}
	leader := wire.Leader{ID: p.Leader, Epoch: p.LeaderEpoch}
	broker := b.image.Broker(p.Leader)
	if broker == nil {
		return leader
	}
	e, ok := endpointFor(info, broker)
	if !ok {
		return leader
	}
	for i := range *endpoints {
		if (*endpoints)[i].ID == p.Leader {
			return leader
		}
	}
	*endpoints = append(*endpoints, wire.Endpoint{
		ID: p.Leader, Host: e.Host, Port: int32(e.Port),
		Rack: broker.Rack,
	})
	return leader
}

// internalTopic says whether clients may not write to the topic.
func internalTopic(name string) bool {
	switch name {
	case "__consumer_offsets", "__transaction_state", "__share_group_state":
		return true
	}
	return false
}
