package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// batch builds a batch of the values, each with the key "k".
func batch(spec record.Spec, timestamp int64, values ...string) []byte {
	b := record.Builder{Spec: spec}
	for _, v := range values {
		b.Add(record.Record{Timestamp: timestamp, Key: []byte("k"), Value: []byte(v)})
	}
	return b.Build(nil, &record.Scratch{})
}

// produceRequest asks to append one batch.
func (h *harness) produceRequest(topic string, id int32, acks int16, records []byte,
) *kmsg.ProduceRequest {
	m := kmsg.NewPtrProduceRequest()
	m.Version, m.Acks, m.TimeoutMillis = 13, acks, 30_000
	t := kmsg.NewProduceRequestTopic()
	if known := h.controller.image.Topic(topic); known != nil {
		t.TopicID = known.ID
	}
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = id, records
	t.Partitions = append(t.Partitions, p)
	m.Topics = append(m.Topics, t)
	return m
}

// produce appends values and returns the answer of the partition.
func (h *harness) produce(conn env.ConnID, topic string, id int32, values ...string,
) kmsg.ProduceResponseTopicPartition {
	h.t.Helper()
	h.ask(conn, h.produceRequest(topic, id, -1, batch(record.Plain(), h.now.WallMs, values...)))
	h.deliver()
	return h.one().(*kmsg.ProduceResponse).Topics[0].Partitions[0]
}

// fetchRequest asks for partitions of one topic, all from the offset.
func (h *harness) fetchRequest(topic string, offset int64, ids ...int32) *kmsg.FetchRequest {
	m := kmsg.NewPtrFetchRequest()
	m.Version, m.MaxWaitMillis, m.MinBytes, m.MaxBytes = 16, 500, 1, 50<<20
	m.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	if known := h.controller.image.Topic(topic); known != nil {
		t.TopicID = known.ID
	}
	for _, id := range ids {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = id, offset, 1<<20
		p.CurrentLeaderEpoch, p.LastFetchedEpoch = -1, -1
		t.Partitions = append(t.Partitions, p)
	}
	if len(ids) > 0 {
		m.Topics = append(m.Topics, t)
	}
	return m
}

// fetched is what a partition of a fetch response says.
type fetched struct {
	code          kafka.ErrorCode
	highWatermark int64
	values        []string
	base          int64 // of the first batch; -1 without
}

func readFetched(p *kmsg.FetchResponseTopicPartition) fetched {
	f := fetched{code: kafka.ErrorCode(p.ErrorCode), highWatermark: p.HighWatermark, base: -1}
	b := p.RecordBatches
	for len(b) > 0 {
		v, rest, problem := record.First(b)
		if problem != record.NoProblem {
			panic(problem.String())
		}
		if f.base < 0 {
			f.base = int64(v.BaseOffset())
		}
		scratch := &record.Scratch{}
		if problem := scratch.Records(v, 1<<20, func(r record.Record) bool {
			f.values = append(f.values, string(r.Value))
			return true
		}); problem != record.NoProblem {
			panic(problem.String())
		}
		b = rest
	}
	return f
}
