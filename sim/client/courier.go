package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
)

// Layout is what a broker tells of a topic.
type Layout struct {
	ID      kafka.TopicID
	Leaders []Server // by partition; Addr is empty where there is none
}

// Layout asks for the topic of a name.
func (a *Administrator) Layout(name string) (Layout, kafka.ErrorCode) {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 12
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	r.Topics = append(r.Topics, topic)
	res, ok := a.ask(r).(*kmsg.MetadataResponse)
	if !ok || !a.expect("Metadata", len(res.Topics)) {
		return Layout{}, kafka.NetworkException
	}
	t := &res.Topics[0]
	out := Layout{ID: t.TopicID, Leaders: make([]Server, len(t.Partitions))}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if int(p.Partition) >= len(out.Leaders) || p.ErrorCode != 0 {
			continue
		}
		for j := range res.Brokers {
			if b := &res.Brokers[j]; b.NodeID == p.Leader {
				out.Leaders[p.Partition] = a.server(fmt.Sprintf("%s:%d", b.Host, b.Port))
			}
		}
	}
	return out, kafka.ErrorCode(t.ErrorCode)
}

func (a *Administrator) server(addr string) Server {
	for _, s := range a.Servers {
		if s.Addr == addr {
			return s
		}
	}
	return Server{}
}

// goTo has the next request go to a leader.
func (a *Administrator) goTo(leader Server) {
	if leader.Addr != "" {
		a.Prefer(leader.Place)
	}
}

// Address says where a record goes or comes from. Version is of the request: up to 12 the name says
// which topic is meant, from 13 on the id.
type Address struct {
	Name      string
	ID        kafka.TopicID
	Partition kafka.PartitionID
	Leader    Server
	Version   int16
}

// Write sends a batch with acks=all, and returns the offset of its first record.
func (a *Administrator) Write(to Address, values [][]byte, nowMs int64) (kafka.Offset, kafka.ErrorCode) {
	a.goTo(to.Leader)
	var builder record.Builder
	var scratch record.Scratch
	builder.Spec = record.Plain()
	for _, v := range values {
		builder.Add(record.Record{Timestamp: nowMs, Value: v})
	}
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = to.Version, -1, 5000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = to.Name, to.ID
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = int32(to.Partition), builder.Build(nil, &scratch)
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.ProduceResponse)
	if !ok || !a.expect("Produce", len(res.Topics)) || !a.expect("Produce", len(res.Topics[0].Partitions)) {
		return kafka.NoOffset, kafka.NetworkException
	}
	answer := &res.Topics[0].Partitions[0]
	return kafka.Offset(answer.BaseOffset), kafka.ErrorCode(answer.ErrorCode)
}

// Read fetches what a partition has from an offset on: some of it. next is where to go on.
func (a *Administrator) Read(from Address, offset kafka.Offset) (
	records []Fetched, next, highWatermark kafka.Offset, code kafka.ErrorCode,
) {
	a.goTo(from.Leader)
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MaxBytes, r.SessionEpoch = from.Version, 1<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = from.Name, from.ID
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = int32(from.Partition), int64(offset), 1<<20
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.FetchResponse)
	if !ok {
		return nil, offset, -1, kafka.NetworkException
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None {
		return nil, offset, -1, code
	}
	if !a.expect("Fetch", len(res.Topics)) || !a.expect("Fetch", len(res.Topics[0].Partitions)) {
		return nil, offset, -1, kafka.NetworkException
	}
	answer := &res.Topics[0].Partitions[0]
	poll := Poll{Position: offset}
	var decoder batchDecoder
	next = decoder.decode(&poll, answer.RecordBatches)
	for _, b := range poll.Batches {
		if b.Corrupt {
			a.Host.Observer.Trouble("fetch response with a corrupt batch")
		}
	}
	return poll.Records, next, kafka.Offset(answer.HighWatermark), kafka.ErrorCode(answer.ErrorCode)
}
