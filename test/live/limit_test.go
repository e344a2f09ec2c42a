//go:build live

package live

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// maxMessageBytes is the default limit of a batch, its header included.
const maxMessageBytes = 1_048_588

// TestBatchAboveTheLimitIsRefused finds the limit to the byte.
func TestBatchAboveTheLimitIsRefused(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "limit", 1, nil)
	c := dial(t, b)
	overhead := len(load.BatchOf(make([]byte, 1_000_000))) - 1_000_000
	for _, excess := range []int{0, 1} {
		batch := load.BatchOf(make([]byte, maxMessageBytes-overhead+excess))
		require.Equal(t, maxMessageBytes+excess, len(batch))
		resp, err := c.Do(load.ProduceRequest("limit", 0, -1, batch))
		require.NoError(t, err)
		answer := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if excess == 0 {
			require.Zero(t, answer.ErrorCode)
			continue
		}
		require.Equal(t, kerr.MessageTooLarge.Code, answer.ErrorCode)
		require.EqualValues(t, -1, answer.BaseOffset)
		require.EqualValues(t, -1, answer.LogAppendTime)
	}
	ends, err := load.EndOffsets(c, "limit", 1, -1)
	require.NoError(t, err)
	require.Equal(t, []int64{1}, ends)
}

func TestFranzGoSeesTheRefusalOfALargeRecord(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "limit", 1, nil)
	client := franzClient(t, b, kgo.ProducerBatchMaxBytes(4<<20),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	record := &kgo.Record{Topic: "limit", Value: []byte(strings.Repeat("x", 1_100_000))}
	require.ErrorIs(t, client.ProduceSync(ctx, record).FirstErr(), kerr.MessageTooLarge)
	small := &kgo.Record{Topic: "limit", Value: []byte("fits")}
	require.NoError(t, client.ProduceSync(ctx, small).FirstErr())
}

// TestBrokenChecksumIsRefused sends a batch with one bit flipped behind its checksum.
func TestBrokenChecksumIsRefused(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "checksum", 1, nil)
	batch := load.BatchOf([]byte("value"))
	batch[len(batch)-3] ^= 1
	resp, err := dial(t, b).Do(load.ProduceRequest("checksum", 0, -1, batch))
	require.NoError(t, err)
	code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
	require.Equal(t, kerr.CorruptMessage.Code, code)
}

// TestIncrementalFetchOfIdlePartitionsIsSmall looks at the size of an empty answer of a session.
func TestIncrementalFetchOfIdlePartitionsIsSmall(t *testing.T) {
	const partitions = 1000
	b := startBroker(t)
	createTopic(t, b, "idle", partitions, nil)
	c := dial(t, b)
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = "idle"
	for i := range partitions {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.PartitionMaxBytes = int32(i), 1<<20
		topic.Partitions = append(topic.Partitions, p)
	}
	full := load.FetchRequest(topic)
	full.SessionEpoch, full.MaxWaitMillis = 0, 0
	resp, err := c.Do(full)
	require.NoError(t, err)
	session := resp.(*kmsg.FetchResponse).SessionID
	require.NotZero(t, session)

	incremental := load.FetchRequest()
	incremental.SessionID, incremental.SessionEpoch, incremental.MaxWaitMillis = session, 1, 0
	require.NoError(t, c.Send(load.AppendFrame(nil, incremental, 77)))
	_, body, err := c.Receive()
	require.NoError(t, err)
	require.Less(t, len(body), 300)
	answer := kmsg.NewPtrFetchResponse()
	answer.SetVersion(incremental.GetVersion())
	require.NoError(t, load.Decode(answer, body))
	require.Zero(t, answer.ErrorCode)
	require.Empty(t, answer.Topics)

	// What arrives then is all that the next answer holds.
	_, err = c.Do(load.ProduceRequest("idle", 7, -1, load.BatchOf([]byte("woken"))))
	require.NoError(t, err)
	incremental.SessionEpoch, incremental.MaxWaitMillis = 2, 500
	resp, err = c.Do(incremental)
	require.NoError(t, err)
	woken := resp.(*kmsg.FetchResponse).Topics
	require.Len(t, woken, 1)
	require.Len(t, woken[0].Partitions, 1)
	require.EqualValues(t, 7, woken[0].Partitions[0].Partition)
	require.EqualValues(t, 0, binary.BigEndian.Uint64(woken[0].Partitions[0].RecordBatches))
}
