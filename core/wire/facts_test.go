package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/record"
)

// oneBatch is a valid batch with one record, as a producer sends it.
func oneBatch(valueBytes int) []byte {
	builder := record.Builder{Spec: record.Plain()}
	builder.Add(record.Record{Value: make([]byte, valueBytes)})
	return builder.Build(nil, new(record.Scratch))
}

// produceFrame carries a batch to each of a number of partitions.
func produceFrame(version int16, partitions int, batch []byte) []byte {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = version, -1, 30_000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.TopicID = "orders", goldenID
	for i := range partitions {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = int32(i), batch
		topic.Partitions = append(topic.Partitions, p)
	}
	request.Topics = append(request.Topics, topic)
	return AppendRequest(nil, 7, "producer", request)
}

func TestProducedBatchesComeWithTheirFacts(t *testing.T) {
	batch := oneBatch(100)
	broken := append([]byte(nil), batch...)
	broken[len(broken)-1]++
	for version := int16(3); version <= 13; version++ {
		frame := produceFrame(version, 2, batch)
		q := decodeGolden(t, BrokerListener, frame).Body.(*ProduceRequest)
		for _, p := range q.Topics[0].Partitions {
			require.Equal(t, new(record.Scratch).Examine(batch, 1<<20), p.Facts)
			require.Equal(t, record.NoProblem, p.Facts.Problem)
		}
		frame = produceFrame(version, 1, broken)
		q = decodeGolden(t, BrokerListener, frame).Body.(*ProduceRequest)
		require.Equal(t, record.ProblemCRC, q.Topics[0].Partitions[0].Facts.Problem)
	}
}

func TestRecordsAreAViewOfTheFrame(t *testing.T) {
	frame := produceFrame(9, 1, oneBatch(100))
	q := decodeGolden(t, BrokerListener, frame).Body.(*ProduceRequest)
	records := q.Topics[0].Partitions[0].Records
	require.Same(t, &frame[len(frame)-3-len(records)], &records[0]) // three empty tag sections
	require.Equal(t, len(records), cap(records))
}

func TestTheHotPathDoesNotAllocate(t *testing.T) {
	for _, frame := range [][]byte{
		produceFrame(9, 3, oneBatch(100)), produceFrame(13, 1, oneBatch(1000)), fetchFrame(13, 20),
	} {
		d := NewDecoder(BrokerListener, DefaultLimits())
		decodeAndRecycle(t, d, frame)
		require.Zero(t, testing.AllocsPerRun(100, func() { decodeAndRecycle(t, d, frame) }))
	}
}
