package wire

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
	"stet/core/record"
)

// fetched builds an answer with the records inserted as a connection does.
func fetched(r *FetchResponse, version int16, records ...[]byte) (frame []byte) {
	for i := range r.Partitions {
		r.Partitions[i].RecordBytes = int64(len(records[i]))
	}
	head := r.AppendTo(nil, version, 7)
	from := uint32(0)
	for i := range r.Partitions {
		at := r.Partitions[i].RecordsAt
		frame = append(append(frame, head[from:at]...), records[i]...)
		from = at
	}
	return append(frame, head[from:]...)
}

func batchAt(offset kafka.Offset, value string) []byte {
	b := record.Builder{Spec: record.Plain()}
	b.Spec.BaseOffset = offset
	b.Add(record.Record{Value: []byte(value)})
	return b.Build(nil, &record.Scratch{})
}

func TestAFollowerReadsWhatALeaderSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := int16(rapid.IntRange(13, 18).Draw(t, "version"))
		var sent FetchResponse
		sent.Reset()
		sent.SessionID, sent.Error = 5, kafka.ErrorCode(rapid.IntRange(0, 2).Draw(t, "error"))
		if version >= 16 {
			sent.Endpoints = drawEndpoints(t)
		}
		drawTopics(t, sent.AddTopic, func(index kafka.PartitionID) {
			p := sent.AddPartition(index)
			p.Error = kafka.ErrorCode(drawNumber(t, "partition error"))
			p.HighWatermark = kafka.Offset(drawNumber(t, "high watermark"))
			p.LogStartOffset = kafka.Offset(drawNumber(t, "log start"))
			p.CurrentLeader = drawLeader(t)
			if rapid.Bool().Draw(t, "diverges") {
				p.DivergingEpoch = DivergingEpoch{3, kafka.Offset(drawNumber(t, "end"))}
			}
		})
		var records [][]byte
		for range sent.Partitions {
			var b []byte
			for i := range rapid.IntRange(0, 3).Draw(t, "batches") {
				b = append(b, batchAt(kafka.Offset(i), "value")...)
			}
			records = append(records, b)
		}
		got, err := DecodeReplicaFetchResponse(version, fetched(&sent, version, records...))
		require.NoError(t, err)
		require.Equal(t, sent.Error, got.Error)
		require.Equal(t, sent.SessionID, got.SessionID)
		require.Equal(t, sent.Endpoints, got.Endpoints)
		require.Len(t, got.Partitions, len(sent.Partitions))
		for i := range got.Partitions {
			g, s := &got.Partitions[i], &sent.Partitions[i]
			require.Equal(t, s.Index, g.Partition)
			require.Equal(t, s.Error, g.Error)
			require.Equal(t, s.HighWatermark, g.HighWatermark)
			require.Equal(t, s.LogStartOffset, g.LogStartOffset)
			require.Equal(t, s.DivergingEpoch, g.DivergingEpoch)
			require.Equal(t, s.CurrentLeader, g.CurrentLeader)
			var data []byte
			for j := range g.Batches {
				require.Equal(t, record.Inspect(g.Data[j]), g.Batches[j])
				data = append(data, g.Data[j]...)
			}
			require.Equal(t, records[i], data)
			require.False(t, g.Corrupt)
		}
	})
}

func onePartition(records []byte) ([]byte, int16) {
	var sent FetchResponse
	sent.Reset()
	sent.AddTopic("", kafka.TopicID{1})
	sent.AddPartition(0)
	return fetched(&sent, 18, records), 18
}

func TestABatchThatIsDamagedEndsWhatAFollowerTakes(t *testing.T) {
	good, bad := batchAt(0, "good"), batchAt(1, "bad")
	bad[len(bad)-1] ^= 1
	frame, version := onePartition(append(append([]byte(nil), good...), bad...))
	got, err := DecodeReplicaFetchResponse(version, frame)
	require.NoError(t, err)
	require.Len(t, got.Partitions[0].Batches, 1)
	require.True(t, got.Partitions[0].Corrupt)
}

func TestABatchThatIsCutOffIsLeftOut(t *testing.T) {
	good := batchAt(0, "good")
	frame, version := onePartition(append(append([]byte(nil), good...), batchAt(1, "cut")[:40]...))
	got, err := DecodeReplicaFetchResponse(version, frame)
	require.NoError(t, err)
	require.Len(t, got.Partitions[0].Batches, 1)
	require.False(t, got.Partitions[0].Corrupt)

	// With nothing in front of it there would be no way on.
	frame, version = onePartition(good[:40])
	got, err = DecodeReplicaFetchResponse(version, frame)
	require.NoError(t, err)
	require.Empty(t, got.Partitions[0].Batches)
	require.True(t, got.Partitions[0].Corrupt)
}

func TestAFollowerAsksByTopicID(t *testing.T) {
	_, err := DecodeReplicaFetchResponse(12, nil)
	require.ErrorContains(t, err, "version 13")
}

func TestTheMemoryOfAReplicaFetchResponseIsCounted(t *testing.T) {
	require.GreaterOrEqual(t, replicaFetchedBytes, int(unsafe.Sizeof(ReplicaFetched{})))
	require.GreaterOrEqual(t, replicaBatchBytes, int(unsafe.Sizeof(record.Facts{})+unsafe.Sizeof([]byte{})))
	require.GreaterOrEqual(t, endpointBytes, int(unsafe.Sizeof(Endpoint{})))
}

func FuzzDecodeReplicaFetchResponse(f *testing.F) {
	frame, version := onePartition(batchAt(0, "value"))
	f.Add(version, frame)
	f.Add(int16(13), frame)
	f.Fuzz(func(t *testing.T, version int16, frame []byte) {
		got, err := DecodeReplicaFetchResponse(13+version&7, frame)
		if err != nil {
			return
		}
		for i := range got.Partitions {
			p := &got.Partitions[i]
			require.Len(t, p.Data, len(p.Batches))
			for j := range p.Data {
				require.Equal(t, record.NoProblem, record.Check(p.Data[j]))
			}
		}
	})
}
