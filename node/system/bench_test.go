package system_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/record"
)

// benchTopic has one partition.
const benchTopic = "bench"

// rawClient sends prepared frames and allocates nothing, so that what a benchmark counts is the
// broker's.
type rawClient struct {
	conn net.Conn
	size [4]byte
	body []byte
}

// trip sends a frame and returns the size of its answer.
func (c *rawClient) trip(b testing.TB, frame []byte) int {
	if _, err := c.conn.Write(frame); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(c.conn, c.size[:]); err != nil {
		b.Fatal(err)
	}
	size := int(binary.BigEndian.Uint32(c.size[:]))
	if size > cap(c.body) {
		c.body = make([]byte, size)
	}
	c.body = c.body[:size]
	if _, err := io.ReadFull(c.conn, c.body); err != nil {
		b.Fatal(err)
	}
	return size
}

// newRawClient starts a node with one topic.
func newRawClient(b testing.TB) *rawClient {
	addr, stop := serve(b, options(b))
	b.Cleanup(func() { require.NoError(b, stop()) })
	return dialRaw(b, addr)
}

// dialRaw connects to a node and makes its topic.
func dialRaw(b testing.TB, addr string) *rawClient {
	roundTrip(b, addr, benchTopic, 1)
	require.False(b, b.Failed())
	conn, err := net.Dial("tcp", addr)
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	return &rawClient{conn: conn}
}

func prefixed(r kmsg.Request, version int16) []byte {
	r.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, r, 7)
}

// produceFrame asks for a batch of about bytes to be appended.
func produceFrame(bytes int) []byte {
	builder := record.Builder{Spec: record.Plain()}
	const each = 1000
	for builder.RecordsBytes() < bytes-each {
		builder.Add(record.Record{Value: make([]byte, each), Timestamp: 1})
	}
	r := kmsg.NewPtrProduceRequest()
	r.Acks, r.TimeoutMillis = -1, 30_000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = benchTopic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = builder.Build(nil, new(record.Scratch))
	topic.Partitions = append(topic.Partitions, p)
	r.Topics = append(r.Topics, topic)
	return prefixed(r, 9)
}

// fetchFrame asks for up to bytes from an offset on, outside of a session.
func fetchFrame(offset int64, bytes int) []byte {
	r := kmsg.NewPtrFetchRequest()
	r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.SessionEpoch = 500, 1, int32(bytes), -1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = benchTopic
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = offset, int32(bytes), -1
	topic.Partitions = append(topic.Partitions, p)
	r.Topics = append(r.Topics, topic)
	return prefixed(r, 12)
}

// BenchmarkProduce is one connection with one request in flight, through the production host.
func BenchmarkProduce(b *testing.B) {
	for _, bytes := range []int{2 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKB", bytes>>10), func(b *testing.B) {
			c := newRawClient(b)
			frame := produceFrame(bytes)
			requireAppended(b, c, frame)
			benchTrips(b, c, frame)
		})
	}
}

// BenchmarkFetch reads the same records over and over: by copy, and by sendfile.
func BenchmarkFetch(b *testing.B) {
	for _, bytes := range []int{16 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKB", bytes>>10), func(b *testing.B) {
			c := newRawClient(b)
			for range 20 {
				requireAppended(b, c, produceFrame(64<<10))
			}
			frame := fetchFrame(1, bytes)
			require.Greater(b, c.trip(b, frame), bytes/2)
			benchTrips(b, c, frame)
		})
	}
}

// TestARequestCostsFewAllocations bounds what BenchmarkProduce and BenchmarkFetch report. What is
// left of a fetch is the session that one without a session is given.
func TestARequestCostsFewAllocations(t *testing.T) {
	c := newRawClient(t)
	produce, fetch := produceFrame(2<<10), fetchFrame(1, 2<<10)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { c.trip(t, produce) }), 2.0)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { c.trip(t, fetch) }), 9.0)
}

// requireAppended sends a produce frame and fails unless the batch was taken.
func requireAppended(b testing.TB, c *rawClient, frame []byte) {
	c.trip(b, frame)
	answer := kmsg.NewPtrProduceResponse()
	answer.SetVersion(9)
	require.NoError(b, answer.ReadFrom(c.body[5:])) // behind the correlation id and no tags
	require.Zero(b, answer.Topics[0].Partitions[0].ErrorCode)
}

func benchTrips(b *testing.B, c *rawClient, frame []byte) {
	for range 100 {
		c.trip(b, frame) // what is pooled is there, then
	}
	total := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		total = len(frame) + c.trip(b, frame)
	}
	b.SetBytes(int64(total))
}
