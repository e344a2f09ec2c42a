package broker

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListOffsets (key 2), versions 1 to 11: the ends of a log, or the first record of a time. A look
// into files takes a job, and the answer waits for all of them. v7 brings the largest timestamp
// (-3), v8 the local start (-4), v9 tiered storage (-5), v11 pending uploads (-6).

// offsetsWait is a request that waits for look-ups.
type offsetsWait struct {
	origin
	answer *kmsg.ListOffsetsResponse
	places []offsetPlace // by Ticket.Part
	left   int
}

// offsetPlace is where in the answer a partition stands.
type offsetPlace struct{ topic, partition int }

func (b *Broker) listOffsets(r *env.Request, o origin, m *kmsg.ListOffsetsRequest) {
	w := &offsetsWait{origin: o, answer: kmsg.NewPtrListOffsetsResponse()}
	b.offsetSeq++
	b.offsetWaits[b.offsetSeq] = w
	seen := map[kafka.TopicPartition]bool{}
	for i := range m.Topics {
		t := &m.Topics[i]
		answer := kmsg.NewListOffsetsResponseTopic()
		answer.Topic = t.Topic
		w.answer.Topics = append(w.answer.Topics, answer)
		for j := range t.Partitions {
			tp := kafka.TopicPartition{
				Topic:     t.Topic,
				Partition: kafka.PartitionID(t.Partitions[j].Partition),
			}
			b.listOffset(r, w, i, &t.Partitions[j], tp, seen[tp])
			seen[tp] = true
		}
	}
	if w.left == 0 {
		delete(b.offsetWaits, b.offsetSeq)
		b.reply(o, w.answer)
	}
}

func (b *Broker) listOffset(r *env.Request, w *offsetsWait, topic int,
	p *kmsg.ListOffsetsRequestTopicPartition, tp kafka.TopicPartition, twice bool,
) {
	answers := &w.answer.Topics[topic].Partitions
	ticket := partition.Ticket{
		Index: uint32(b.offsetSeq), Generation: uint32(b.offsetSeq >> 32),
		Part: uint32(len(w.places)),
	}
	w.places = append(w.places, offsetPlace{topic, len(*answers)})
	answer := kmsg.NewListOffsetsResponseTopicPartition()
	answer.Partition = p.Partition
	*answers = append(*answers, answer)
	at, pending := b.offsetAt(r, p, tp, twice, ticket)
	if pending {
		w.left++
		return
	}
	fillOffset(&(*answers)[len(*answers)-1], at)
}

// offsetAt asks a replica, or says why there is none to ask.
func (b *Broker) offsetAt(r *env.Request, p *kmsg.ListOffsetsRequestTopicPartition,
	tp kafka.TopicPartition, twice bool, ticket partition.Ticket,
) (partition.OffsetAt, bool) {
	topic := b.image.Topic(tp.Topic)
	code := b.Authorize(r.Info, opDescribe, resourceTopic, tp.Topic)
	switch {
	case code != kafka.None:
	case twice:
		code = kafka.InvalidRequest
	case p.Timestamp == kafka.MaxTimestamp && r.Version < 7,
		p.Timestamp == kafka.EarliestLocalTimestamp && r.Version < 8,
		p.Timestamp == kafka.LatestTieredTimestamp && r.Version < 9,
		p.Timestamp == kafka.EarliestPendingUpload && r.Version < 11:
		code = kafka.UnsupportedVersion
	case topic == nil || topic.Partition(tp.Partition) == nil:
		code = kafka.UnknownTopicOrPartition
	}
	if code != kafka.None {
		return partition.RefusedOffset(code), false
	}
	replica := b.host.find(topic.ID, tp.Partition)
	if replica == nil {
		return partition.RefusedOffset(kafka.NotLeaderOrFollower), false
	}
	epoch := kafka.NoLeaderEpoch
	if r.Version >= 4 {
		epoch = kafka.LeaderEpoch(p.CurrentLeaderEpoch)
	}
	return replica.OffsetFor(p.Timestamp, epoch, ticket, b.out)
}

func fillOffset(p *kmsg.ListOffsetsResponseTopicPartition, at partition.OffsetAt) {
	p.ErrorCode = int16(at.Code)
	p.Offset = int64(at.Offset)
	p.Timestamp = at.Timestamp
	p.LeaderEpoch = int32(at.Epoch)
}

// offsetFound takes the result of a look-up.
func (b *Broker) offsetFound(found *partition.Lookup) {
	id := uint64(found.Ticket.Generation)<<32 | uint64(found.Ticket.Index)
	w := b.offsetWaits[id]
	if w == nil {
		return
	}
	place := w.places[found.Ticket.Part]
	fillOffset(&w.answer.Topics[place.topic].Partitions[place.partition], found.OffsetAt)
	w.left--
	if w.left == 0 {
		delete(b.offsetWaits, id)
		b.reply(w.origin, w.answer)
	}
}
