package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// drawNumber draws the default (-1) often.
func drawNumber(t *rapid.T, label string) int64 {
	return rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, 1<<30)).Draw(t, label)
}

func drawLeader(t *rapid.T) Leader {
	if rapid.Bool().Draw(t, "no leader") {
		return NoLeader()
	}
	return Leader{kafka.BrokerID(drawNumber(t, "leader")), kafka.LeaderEpoch(drawNumber(t, "epoch"))}
}

func drawText(t *rapid.T) string { return rapid.StringN(0, 4, 300).Draw(t, "text") }

func drawEndpoints(t *rapid.T) (endpoints []Endpoint) {
	for i := range rapid.IntRange(0, 3).Draw(t, "endpoints") {
		endpoints = append(endpoints, Endpoint{kafka.BrokerID(i), drawText(t), 9092, drawText(t)})
	}
	return endpoints
}

// drawTopics calls add for random topics with their partitions.
func drawTopics(t *rapid.T, topic func(string, kafka.TopicID), partition func(kafka.PartitionID)) {
	for i := range rapid.IntRange(0, 3).Draw(t, "topics") {
		topic(fmt.Sprint("topic-", i), kafka.TopicID{byte(i + 1)})
		for j := range rapid.IntRange(0, 3).Draw(t, "partitions") {
			partition(kafka.PartitionID(j))
		}
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func TestProduceResponsesAreReadByKmsg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent ProduceResponse
		sent.Reset()
		sent.ThrottleMs, sent.Endpoints = 31, drawEndpoints(t)
		drawTopics(t, sent.AddTopic, func(index kafka.PartitionID) {
			p := sent.AddPartition(index)
			p.Error = kafka.ErrorCode(drawNumber(t, "error"))
			p.BaseOffset = kafka.Offset(drawNumber(t, "offset"))
			p.AppendTimeMs = drawNumber(t, "time")
			p.LogStartOffset = kafka.Offset(drawNumber(t, "start"))
			p.ErrorMessage = drawText(t)
			p.CurrentLeader = drawLeader(t)
			for i := range rapid.IntRange(0, 2).Draw(t, "record errors") {
				p.RecordErrors = append(p.RecordErrors, RecordError{int32(i), drawText(t)})
			}
		})
		version := rapid.Int16Range(3, 13).Draw(t, "version")
		decoded, err := DecodeResponse(KeyProduce, version, sent.AppendTo(nil, version, 5))
		require.NoError(t, err)
		require.Equal(t, kmsgProduce(&sent, version), decoded)
	})
}

// kmsgProduce says the same as r in kmsg's types.
func kmsgProduce(r *ProduceResponse, version int16) kmsg.Response {
	out := kmsg.NewPtrProduceResponse()
	out.Version, out.ThrottleMillis = version, r.ThrottleMs
	if version >= 10 && len(r.Endpoints) > 0 {
		for _, e := range r.Endpoints {
			b := kmsg.NewProduceResponseBroker()
			b.NodeID, b.Host, b.Port, b.Rack = int32(e.ID), e.Host, e.Port, optional(e.Rack)
			out.Brokers = append(out.Brokers, b)
		}
	}
	next := 0
	for _, topic := range r.topics {
		o := kmsg.NewProduceResponseTopic()
		if version >= 13 {
			o.TopicID = topic.id
		} else {
			o.Topic = topic.name
		}
		for range topic.partitions {
			o.Partitions = append(o.Partitions, kmsgProduced(&r.Partitions[next], version))
			next++
		}
		out.Topics = append(out.Topics, o)
	}
	return out
}

func kmsgProduced(p *ProducedPartition, version int16) kmsg.ProduceResponseTopicPartition {
	o := kmsg.NewProduceResponseTopicPartition()
	o.Partition, o.ErrorCode = int32(p.Index), int16(p.Error)
	o.BaseOffset, o.LogAppendTime = int64(p.BaseOffset), p.AppendTimeMs
	if version >= 5 {
		o.LogStartOffset = int64(p.LogStartOffset)
	}
	if version >= 8 {
		o.ErrorMessage = optional(p.ErrorMessage)
		for _, e := range p.RecordErrors {
			oe := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			oe.RelativeOffset, oe.ErrorMessage = e.BatchIndex, optional(e.Message)
			o.ErrorRecords = append(o.ErrorRecords, oe)
		}
	}
	if version >= 10 {
		o.CurrentLeader.LeaderID = int32(p.CurrentLeader.ID)
		o.CurrentLeader.LeaderEpoch = int32(p.CurrentLeader.Epoch)
	}
	return o
}

func TestFetchResponsesWithRecordsInsertedAreReadByKmsg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent FetchResponse
		sent.Reset()
		sent.ThrottleMs, sent.Endpoints = 31, drawEndpoints(t)
		sent.Error, sent.SessionID = kafka.InvalidFetchSessionEpoch, 9
		drawTopics(t, sent.AddTopic, func(index kafka.PartitionID) {
			p := sent.AddPartition(index)
			p.Error = kafka.ErrorCode(drawNumber(t, "error"))
			p.HighWatermark = kafka.Offset(drawNumber(t, "high watermark"))
			p.LastStableOffset = kafka.Offset(drawNumber(t, "stable"))
			p.LogStartOffset = kafka.Offset(drawNumber(t, "start"))
			p.PreferredReplica = kafka.BrokerID(drawNumber(t, "preferred"))
			p.CurrentLeader = drawLeader(t)
			if rapid.Bool().Draw(t, "diverges") {
				p.DivergingEpoch = DivergingEpoch{3, kafka.Offset(drawNumber(t, "end"))}
			}
			if rapid.Bool().Draw(t, "committed") {
				p.Aborted = []AbortedTransaction{}
				for i := range rapid.IntRange(0, 2).Draw(t, "aborted") {
					p.Aborted = append(p.Aborted, AbortedTransaction{kafka.ProducerID(i), 7})
				}
			}
			p.RecordBytes = rapid.SampledFrom([]int64{0, 1, 126, 127, 128, 20_000}).Draw(t, "bytes")
		})
		version := rapid.Int16Range(4, 18).Draw(t, "version")
		before := []byte("what the turn wrote before")
		head := sent.AppendTo(before, version, 5)[len(before):]
		decoded, err := DecodeResponse(KeyFetch, version, insertRecords(head, &sent))
		require.NoError(t, err)
		require.Equal(t, kmsgFetch(&sent, version), decoded)
	})
}

// records is what partition i returns.
func records(i int, n int64) []byte {
	b := make([]byte, n)
	for j := range b {
		b[j] = byte(i + j)
	}
	return b
}

// insertRecords does what a connection does with a head and its ranges.
func insertRecords(head []byte, r *FetchResponse) (frame []byte) {
	from := uint32(0)
	for i := range r.Partitions {
		p := &r.Partitions[i]
		frame = append(frame, head[from:p.RecordsAt]...)
		frame = append(frame, records(i, p.RecordBytes)...)
		from = p.RecordsAt
	}
	return append(frame, head[from:]...)
}

// kmsgFetch says the same as r in kmsg's types.
func kmsgFetch(r *FetchResponse, version int16) kmsg.Response {
	out := kmsg.NewPtrFetchResponse()
	out.Version, out.ThrottleMillis = version, r.ThrottleMs
	if version >= 7 {
		out.ErrorCode, out.SessionID = int16(r.Error), r.SessionID
	}
	if version >= 16 {
		for _, e := range r.Endpoints {
			b := kmsg.NewFetchResponseBroker()
			b.NodeID, b.Host, b.Port, b.Rack = int32(e.ID), e.Host, e.Port, optional(e.Rack)
			out.Brokers = append(out.Brokers, b)
		}
	}
	next := 0
	for _, topic := range r.topics {
		o := kmsg.NewFetchResponseTopic()
		if version >= 13 {
			o.TopicID = topic.id
		} else {
			o.Topic = topic.name
		}
		for range topic.partitions {
			o.Partitions = append(o.Partitions, kmsgFetched(r, next, version))
			next++
		}
		out.Topics = append(out.Topics, o)
	}
	return out
}

func kmsgFetched(r *FetchResponse, i int, version int16) kmsg.FetchResponseTopicPartition {
	p := &r.Partitions[i]
	o := kmsg.NewFetchResponseTopicPartition()
	o.Partition, o.ErrorCode = int32(p.Index), int16(p.Error)
	o.HighWatermark, o.LastStableOffset = int64(p.HighWatermark), int64(p.LastStableOffset)
	o.RecordBatches = records(i, p.RecordBytes)
	if version >= 5 {
		o.LogStartOffset = int64(p.LogStartOffset)
	}
	if version >= 11 {
		o.PreferredReadReplica = int32(p.PreferredReplica)
	}
	if p.Aborted != nil {
		o.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		for _, a := range p.Aborted {
			oa := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
			oa.ProducerID, oa.FirstOffset = int64(a.ProducerID), int64(a.FirstOffset)
			o.AbortedTransactions = append(o.AbortedTransactions, oa)
		}
	}
	if version >= 12 {
		o.DivergingEpoch.Epoch = int32(p.DivergingEpoch.Epoch)
		o.DivergingEpoch.EndOffset = int64(p.DivergingEpoch.EndOffset)
		o.CurrentLeader.LeaderID = int32(p.CurrentLeader.ID)
		o.CurrentLeader.LeaderEpoch = int32(p.CurrentLeader.Epoch)
	}
	return o
}
