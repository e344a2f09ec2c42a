package record

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

const testLimit = 64 << 20

var allCodecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

func drawBytes(t *rapid.T, label string) []byte {
	if rapid.IntRange(0, 5).Draw(t, label+" null") == 0 {
		return nil
	}
	b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, label)
	return append(make([]byte, 0), bytes.Repeat(b, rapid.IntRange(1, 30).Draw(t, "repeat"))...)
}

func drawRecord(t *rapid.T) Record {
	r := Record{
		Timestamp: rapid.Int64Range(-1, 1<<41).Draw(t, "timestamp"),
		Key:       drawBytes(t, "key"),
		Value:     drawBytes(t, "value"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		key := rapid.StringN(0, 10, 20).Draw(t, "header")
		r.Headers = append(r.Headers, Header{key, drawBytes(t, "header value")})
	}
	return r
}

func drawSpec(t *rapid.T) Spec {
	return Spec{
		BaseOffset:    kafka.Offset(rapid.Int64Range(0, 1<<60).Draw(t, "base offset")),
		LeaderEpoch:   kafka.LeaderEpoch(rapid.Int32Range(-1, 1<<30).Draw(t, "epoch")),
		Codec:         rapid.SampledFrom(allCodecs).Draw(t, "codec"),
		Transactional: rapid.Bool().Draw(t, "transactional"),
		ProducerID:    kafka.ProducerID(rapid.Int64Range(-1, 1<<60).Draw(t, "producer")),
		ProducerEpoch: kafka.ProducerEpoch(rapid.Int16().Draw(t, "producer epoch")),
		BaseSequence:  kafka.Sequence(rapid.Int32Range(-1, 1<<31-1).Draw(t, "sequence")),
	}
}

func collect(s *Scratch, batch []byte) (records []Record, p Problem) {
	p = s.Records(batch, testLimit, func(r Record) bool {
		r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
		var headers []Header
		for _, h := range r.Headers {
			headers = append(headers, Header{h.Key, bytes.Clone(h.Value)})
		}
		r.Headers = headers
		records = append(records, r)
		return true
	})
	return records, p
}

func TestBuiltBatchesReadBackEqual(t *testing.T) {
	scratch := new(Scratch)
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		records := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 20).Draw(t, "records")
		b := Builder{Spec: spec}
		for i := range records {
			b.Add(records[i])
			records[i].Offset = spec.BaseOffset + kafka.Offset(i)
		}
		batch := b.Build(nil, scratch)
		require.Equal(t, NoProblem, Check(batch))

		got, p := collect(scratch, batch)
		require.Equal(t, NoProblem, p)
		require.Equal(t, records, got)

		facts := scratch.Examine(batch, testLimit)
		requireFacts(t, facts, spec, records)
		require.Equal(t, facts, gobRoundTrip(t, facts))
		require.Equal(t, batch, rebuild(spec, records), "building is deterministic")
	})
}

func rebuild(spec Spec, records []Record) []byte {
	b := Builder{Spec: spec}
	for _, r := range records {
		b.Add(r)
	}
	return b.Build(nil, new(Scratch))
}

// requireFacts computes the findings the slow way.
func requireFacts(t require.TestingT, f Facts, spec Spec, records []Record) {
	require.Equal(t, NoProblem, f.Problem)
	require.True(t, f.Walked)
	require.EqualValues(t, len(records), f.Count)
	require.EqualValues(t, len(records)-1, f.LastOffsetDelta)
	require.Equal(t, spec.ProducerID, f.ProducerID)
	require.Equal(t, spec.ProducerEpoch, f.ProducerEpoch)
	require.Equal(t, spec.BaseSequence, f.BaseSequence)
	require.Equal(t, spec.Codec, f.Attributes.Codec())
	require.Equal(t, spec.Transactional, f.Attributes.IsTransactional())
	minTime, maxTime, unkeyed := kafka.NoTimestamp, kafka.NoTimestamp, int32(-1)
	for i, r := range records {
		if r.Key == nil && unkeyed < 0 {
			unkeyed = int32(i)
		}
		if r.Timestamp != -1 && (minTime == -1 || r.Timestamp < minTime) {
			minTime = r.Timestamp
		}
		maxTime = max(maxTime, r.Timestamp)
	}
	require.Equal(t, unkeyed, f.FirstUnkeyed)
	require.Equal(t, minTime, f.RecordMinTimestamp)
	require.Equal(t, maxTime, f.RecordMaxTimestamp)
	require.Equal(t, maxTime, f.MaxTimestamp)
	if maxTime >= 0 {
		require.Equal(t, maxTime, records[f.RecordMaxIndex].Timestamp)
		require.Equal(t, minTime, records[f.RecordMinIndex].Timestamp)
		require.Equal(t, f.RecordMaxIndex, f.MaxTimestampOffsetDelta)
	}
}

func gobRoundTrip(t require.TestingT, f Facts) (out Facts) {
	var buffer bytes.Buffer
	require.NoError(t, gob.NewEncoder(&buffer).Encode(f))
	require.NoError(t, gob.NewDecoder(&buffer).Decode(&out))
	return out
}

// TestBatchesAgreeWithKmsg reads what Builder writes with code that others wrote.
func TestBatchesAgreeWithKmsg(t *testing.T) {
	scratch := new(Scratch)
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		records := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 20).Draw(t, "records")
		b := Builder{Spec: spec}
		for _, r := range records {
			b.Add(r)
		}
		batch := b.Build(nil, scratch)

		var other kmsg.RecordBatch
		require.NoError(t, other.ReadFrom(batch))
		require.EqualValues(t, spec.BaseOffset, other.FirstOffset)
		require.EqualValues(t, len(batch)-12, other.Length)
		require.EqualValues(t, len(records), other.NumRecords)
		require.Equal(t, int32(View(batch).CRC()), other.CRC)
		require.EqualValues(t, spec.ProducerID, other.ProducerID)

		raw, err := kgo.DefaultDecompressor().Decompress(other.Records, kgo.CompressionCodecType(spec.Codec))
		require.NoError(t, err)
		for i, want := range records {
			var got kmsg.Record
			length, n := kmsgVarint(raw)
			require.NoError(t, got.ReadFrom(raw[:n+length]))
			raw = raw[n+length:]
			require.EqualValues(t, i, got.OffsetDelta)
			require.Equal(t, want.Timestamp, other.FirstTimestamp+got.TimestampDelta64)
			require.Equal(t, want.Key, got.Key)
			require.Equal(t, want.Value, got.Value)
			require.Len(t, got.Headers, len(want.Headers))
			for j, h := range want.Headers {
				require.Equal(t, h, Header{got.Headers[j].Key, got.Headers[j].Value})
			}
		}
		require.Empty(t, raw)
	})
}

func kmsgVarint(b []byte) (value, n int) {
	c := cursor{b: b}
	value = int(c.varint())
	return value, c.at
}

func TestVarintsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small, large := rapid.Int32().Draw(t, "small"), rapid.Int64().Draw(t, "large")
		c := cursor{b: appendVarlong(appendVarint(nil, small), large)}
		require.Equal(t, small, c.varint())
		require.Equal(t, large, c.varlong())
		require.False(t, c.bad)
		require.Equal(t, len(c.b), c.at)
	})
}

func TestVarintsRefuseOverflow(t *testing.T) {
	for _, b := range [][]byte{
		nil,
		{0x80},
		{0xff, 0xff, 0xff, 0xff, 0x1f},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
	} {
		c := cursor{b: b}
		c.varint()
		require.True(t, c.bad, "%x", b)
	}
	c := cursor{b: bytes.Repeat([]byte{0xff}, 11)}
	c.varlong()
	require.True(t, c.bad)
}

func TestGapsAndEmptyBatchesAreRead(t *testing.T) {
	b := Builder{Spec: Plain()}
	b.Spec.BaseOffset = 100
	b.AddAt(2, Record{Value: []byte("a")})
	b.AddAt(7, Record{Value: []byte("b")})
	batch := b.Build(nil, nil)
	require.Equal(t, kafka.Offset(107), View(batch).LastOffset())
	records, p := collect(nil, batch)
	require.Equal(t, NoProblem, p)
	require.Equal(t, kafka.Offset(102), records[0].Offset)
	require.Equal(t, kafka.Offset(107), records[1].Offset)

	empty := b.Build(nil, nil)
	require.Equal(t, NoProblem, Check(empty))
	records, p = collect(nil, empty)
	require.Equal(t, NoProblem, p)
	require.Empty(t, records)
	require.Equal(t, ProblemNoRecords, new(Scratch).Examine(empty, testLimit).Problem)
}

func TestMarkersReadBack(t *testing.T) {
	spec := Plain()
	spec.ProducerID, spec.ProducerEpoch, spec.BaseOffset = 9, 3, 44
	batch := AppendMarker(nil, spec, Control{ControlCommit, 12}, 1000)
	facts := Inspect(batch)
	require.Equal(t, NoProblem, facts.Problem)
	require.Equal(t, Control{ControlCommit, 12}, facts.Control)
	require.True(t, facts.Attributes.IsControl() && facts.Attributes.IsTransactional())
	require.Equal(t, facts.Control, new(Scratch).Examine(batch, testLimit).Control)
	require.Equal(t, ProblemControl, facts.ClientProblem())
}
