//go:build live

package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// codecs are the compression types by the number that a batch carries.
var codecs = []struct {
	name  string
	franz kgo.CompressionCodec
}{
	{"none", kgo.NoCompression()},
	{"gzip", kgo.GzipCompression()},
	{"snappy", kgo.SnappyCompression()},
	{"lz4", kgo.Lz4Compression()},
	{"zstd", kgo.ZstdCompression()},
}

const (
	smallCount, largeCount = 10_000, 20
	largeBytes             = 900_000
	timeout                = 2 * time.Minute
	firstTime              = 1_700_000_000_000 // milliseconds; the records are one apart
)

// smallRecords has null keys, null values, empty ones, and headers, some of them null.
func smallRecords(topic string) []*kgo.Record {
	records := make([]*kgo.Record, smallCount)
	for i := range records {
		r := &kgo.Record{
			Topic: topic, Timestamp: time.UnixMilli(firstTime + int64(i)),
			Key: fmt.Appendf(nil, "key-%d", i%97), Value: fmt.Appendf(nil, "value of record %d", i),
		}
		switch {
		case i%7 == 0:
			r.Key = nil
		case i%7 == 1:
			r.Key = []byte{}
		}
		switch {
		case i%11 == 0:
			r.Value = nil
		case i%11 == 1:
			r.Value = []byte{}
		}
		if i%5 == 0 {
			r.Headers = []kgo.RecordHeader{
				{Key: "number", Value: fmt.Append(nil, i)}, {Key: "null"}, {Key: "", Value: []byte{0x80, 0xff}},
			}
		}
		records[i] = r
	}
	return records
}

// largeRecords compress to about half.
func largeRecords(topic string) []*kgo.Record {
	records := make([]*kgo.Record, largeCount)
	for i := range records {
		records[i] = &kgo.Record{
			Topic: topic, Timestamp: time.UnixMilli(firstTime + int64(i)),
			Key: fmt.Append(nil, i), Value: largeValue(i),
		}
	}
	return records
}

func largeValue(i int) []byte {
	random := rand.New(rand.NewPCG(uint64(i), 2))
	value := make([]byte, largeBytes)
	for k := range value[:largeBytes/2] {
		value[k] = "0123456789abcdef"[random.IntN(16)]
	}
	for k := largeBytes / 2; k < largeBytes; k++ {
		value[k] = 'x'
	}
	return value
}

func TestFranzGoReadsBackWhatItProduced(t *testing.T) {
	b := startBroker(t)
	for number, codec := range codecs {
		for _, kind := range []struct {
			name  string
			make  func(string) []*kgo.Record
			count int
		}{{"small", smallRecords, smallCount}, {"large", largeRecords, largeCount}} {
			t.Run(codec.name+"/"+kind.name, func(t *testing.T) {
				topic := "franz-" + codec.name + "-" + kind.name
				createTopic(t, b, topic, 1, nil)
				records := kind.make(topic)
				franzProduce(t, b, codec.franz, records)
				require.Equal(t, number, storedCodec(t, b, topic))

				requireRecords(t, records, franzConsume(t, b, topic, 0, kgo.NewOffset().At(0), kind.count))
				half := kind.count / 2
				byOffset := franzConsume(t, b, topic, 0, kgo.NewOffset().At(int64(half)), kind.count-half)
				requireRecords(t, records[half:], byOffset)
				at := records[half+3].Timestamp.UnixMilli()
				byTime := franzConsume(t, b, topic, 0, kgo.NewOffset().AfterMilli(at), kind.count-half-3)
				requireRecords(t, records[half+3:], byTime)
			})
		}
	}
}

func franzClient(t *testing.T, b *Broker, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(b.Address))...)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// franzProduce sends with the client's defaults: idempotent, acks=all.
func franzProduce(t *testing.T, b *Broker, codec kgo.CompressionCodec, records []*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	client := franzClient(t, b, kgo.ProducerBatchCompression(codec))
	results := client.ProduceSync(ctx, records...)
	require.NoError(t, results.FirstErr())
	for i, r := range results {
		require.EqualValues(t, i, r.Record.Offset)
	}
}

func franzConsume(
	t *testing.T, b *Broker, topic string, partition int32, from kgo.Offset, count int,
) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	client := franzClient(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {partition: from},
	}))
	var records []*kgo.Record
	for len(records) < count {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		records = append(records, fetches.Records()...)
	}
	return records
}

func requireRecords(t *testing.T, want, got []*kgo.Record) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, w := range want {
		g := got[i]
		require.Equal(t, w.Offset, g.Offset)
		require.True(t, same(w.Key, g.Key), "key of %d: %q, not %q", w.Offset, g.Key, w.Key)
		require.True(t, same(w.Value, g.Value), "value of %d", w.Offset)
		require.Equal(t, w.Timestamp.UnixMilli(), g.Timestamp.UnixMilli())
		require.Len(t, g.Headers, len(w.Headers))
		for k, h := range w.Headers {
			require.Equal(t, h.Key, g.Headers[k].Key)
			require.True(t, same(h.Value, g.Headers[k].Value), "header %d of %d", k, w.Offset)
		}
	}
}

// same compares bytes and tells null from empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// storedCodec reads the first batch of partition 0 as it is stored.
func storedCodec(t *testing.T, b *Broker, topic string) int {
	t.Helper()
	batches := fetchBytes(t, dial(t, b), topic, 0, 0)
	require.Greater(t, len(batches), 61)
	return int(binary.BigEndian.Uint16(batches[21:]) & 7)
}

// fetchBytes returns the batches that one fetch of up to a megabyte gives.
func fetchBytes(t *testing.T, c *load.Conn, topic string, partition int32, offset int64) []byte {
	t.Helper()
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 1<<20
	request := kmsg.NewFetchRequestTopic()
	request.Topic, request.Partitions = topic, []kmsg.FetchRequestTopicPartition{p}
	resp, err := c.Do(load.FetchRequest(request))
	require.NoError(t, err)
	fetched := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	require.Zero(t, fetched.ErrorCode)
	return fetched.RecordBatches
}
