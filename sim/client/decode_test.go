package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
	"stet/core/record"
)

// batch builds a batch of values from a base offset on.
func batch(base kafka.Offset, spec record.Spec, values ...string) []byte {
	b := record.Builder{Spec: spec}
	b.Spec.BaseOffset = base
	for i, v := range values {
		b.Add(record.Record{Timestamp: int64(100 + i), Value: []byte(v)})
	}
	return b.Build(nil, new(record.Scratch))
}

func decode(position kafka.Offset, b []byte) (*Poll, kafka.Offset) {
	p := &Poll{Position: position}
	next := new(batchDecoder).decode(p, b)
	return p, next
}

func TestRecordsFromThePositionOnAreDecoded(t *testing.T) {
	compressed := record.Plain()
	compressed.Codec = record.LZ4
	b := append(batch(4, record.Plain(), "a", "b", "c"), batch(7, compressed, "d")...)
	p, next := decode(5, b)
	require.EqualValues(t, 8, next)
	require.Equal(t, []Fetched{
		{5, 101, []byte("b")}, {6, 102, []byte("c")}, {7, 100, []byte("d")},
	}, p.Records)
	require.Equal(t, []Batch{{Base: 4, Last: 6, Count: 3}, {Base: 7, Last: 7, Count: 1}}, p.Batches)
}

func TestALastPartialBatchIsDropped(t *testing.T) {
	whole, cut := batch(0, record.Plain(), "a"), batch(1, record.Plain(), "b", "c")
	for n := range cut {
		p, next := decode(0, append(append([]byte(nil), whole...), cut[:n]...))
		require.EqualValues(t, 1, next)
		require.Len(t, p.Records, 1)
		require.Equal(t, []Batch{{Base: 0, Last: 0, Count: 1}}, p.Batches)
	}
}

func TestACorruptBatchIsReportedAndNotPassed(t *testing.T) {
	b := batch(0, record.Plain(), "a")
	bad := batch(1, record.Plain(), "b")
	bad[len(bad)-2] ^= 1 // in the value
	p, next := decode(0, append(append(b, bad...), batch(2, record.Plain(), "c")...))
	require.EqualValues(t, 1, next, "nothing behind it is read")
	require.Len(t, p.Records, 1)
	require.Equal(t, []Batch{{Count: 1}, {Base: 1, Last: 1, Count: 1, Corrupt: true}}, p.Batches)
}

func TestALengthThatCanNotBeTrueIsReported(t *testing.T) {
	b := batch(3, record.Plain(), "a")
	b[8], b[9], b[10], b[11] = 0, 0, 0, 1
	p, next := decode(3, b)
	require.EqualValues(t, 3, next)
	require.Equal(t, []Batch{{Base: 3, Last: 3, Corrupt: true}}, p.Batches)
}

func TestAControlBatchMovesThePositionAndHasNoRecords(t *testing.T) {
	spec := record.Plain()
	spec.BaseOffset, spec.ProducerID, spec.ProducerEpoch = 6, 1, 0
	marker := record.AppendMarker(nil, spec, record.Control{Type: record.ControlCommit}, 5)
	p, next := decode(6, marker)
	require.EqualValues(t, 7, next)
	require.Empty(t, p.Records)
	require.Equal(t, []Batch{{Base: 6, Last: 6, Count: 1, Control: true}}, p.Batches)
}

func TestNothingIsDecodedFromNothing(t *testing.T) {
	p, next := decode(6, nil)
	require.EqualValues(t, 6, next)
	require.Empty(t, p.Batches)
}
