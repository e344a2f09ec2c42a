package wire

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
)

// fetchFrame asks for a number of partitions.
func fetchFrame(version int16, partitions int) []byte {
	request := kmsg.NewPtrFetchRequest()
	request.Version = version
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = "orders", goldenID
	for i := range partitions {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition = int32(i)
		topic.Partitions = append(topic.Partitions, p)
	}
	request.Topics = append(request.Topics, topic)
	return AppendRequest(nil, 7, "consumer", request)
}

func decodeAndRecycle(t testing.TB, d *Decoder, frame []byte) {
	var request env.Request
	if err := d.Decode(frame, &request); err != nil {
		t.Fatal(err)
	}
	d.Recycle(request.Body)
}

func BenchmarkDecode(b *testing.B) {
	for name, frame := range map[string][]byte{
		"produce-1x1KB":  produceFrame(9, 1, oneBatch(1000)),
		"produce-16x1KB": produceFrame(9, 16, oneBatch(1000)),
		"fetch-1":        fetchFrame(13, 1),
		"fetch-1000":     fetchFrame(13, 1000),
		"metadata":       AppendRequest(nil, 1, "c", kmsg.NewPtrMetadataRequest()),
	} {
		b.Run(name, func(b *testing.B) {
			d := NewDecoder(BrokerListener, DefaultLimits())
			b.ReportAllocs()
			for b.Loop() {
				decodeAndRecycle(b, d, frame)
			}
		})
	}
}

// BenchmarkProduceForm reads header and form of a Produce request, without the batch.
func BenchmarkProduceForm(b *testing.B) {
	frame := produceFrame(9, 1, oneBatch(16_000))
	limits := DefaultLimits()
	var q ProduceRequest
	b.ReportAllocs()
	for b.Loop() {
		r := newReader(frame, 0, &limits)
		h, err := readHeader(BrokerListener, &r)
		q.read(&r, h.Version)
		if err != nil || !r.ok() {
			b.Fatal(r.fault)
		}
		q.reset()
	}
}

func BenchmarkHeader(b *testing.B) {
	frame := produceFrame(9, 1, oneBatch(16_000))
	limits := DefaultLimits()
	b.ReportAllocs()
	for b.Loop() {
		r := newReader(frame, 0, &limits)
		if _, err := readHeader(BrokerListener, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFetchResponse(b *testing.B) {
	var dst []byte
	var r FetchResponse
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		for range 10 {
			r.AddTopic("orders", goldenID)
			for i := range 10 {
				r.AddPartition(kafka.PartitionID(i)).RecordBytes = 1000
			}
		}
		dst = r.AppendTo(dst[:0], 13, 1)
	}
}

func BenchmarkProduceResponse(b *testing.B) {
	var dst []byte
	var r ProduceResponse
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		r.AddTopic("orders", goldenID)
		r.AddPartition(0).BaseOffset = 1
		dst = r.AppendTo(dst[:0], 13, 1)
	}
}
