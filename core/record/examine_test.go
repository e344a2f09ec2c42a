package record

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
)

func sampleBatch(n int, codec Codec) []byte {
	b := Builder{Spec: Plain()}
	b.Spec.Codec = codec
	for i := range n {
		b.Add(Record{Timestamp: 1000 + int64(i), Key: []byte("key"), Value: []byte("value")})
	}
	return b.Build(nil, new(Scratch))
}

// resealed returns a batch changed by edit, with length and CRC made right again.
func resealed(batch []byte, edit func(v View) View) []byte {
	v := edit(append(View(nil), batch...))
	binary.BigEndian.PutUint32(v[8:], uint32(len(v)-lengthOverhead))
	v.setCRC(crc32.Checksum(v[attributesAt:], castagnoli))
	return v
}

func put32(at int, x int32) func(View) View {
	return func(v View) View {
		binary.BigEndian.PutUint32(v[at:], uint32(x))
		return v
	}
}

func TestExamineNamesTheProblem(t *testing.T) {
	batch := sampleBatch(3, None)
	header := batch[:HeaderSize]
	records := func(raw ...byte) []byte {
		return resealed(append(append([]byte(nil), header...), raw...), put32(countAt, 1))
	}
	one := func(raw ...byte) []byte { return resealed(records(raw...), put32(lastOffsetDeltaAt, 0)) }
	lying := append([]byte(nil), batch...)
	binary.BigEndian.PutUint32(lying[8:], 1<<31-20)
	negative := append([]byte(nil), batch...)
	binary.BigEndian.PutUint32(negative[8:], 1<<31)
	flipped := append([]byte(nil), batch...)
	flipped[70] ^= 4
	magic := append([]byte(nil), batch...)
	magic[magicAt] = 1

	for _, c := range []struct {
		name  string
		batch []byte
		want  Problem
	}{
		{"nothing", nil, ProblemEmpty},
		{"half a header", batch[:40], ProblemTooShort},
		{"cut off", batch[:len(batch)-1], ProblemTooShort},
		{"length beyond the end", lying, ProblemTooShort},
		{"negative length", negative, ProblemLength},
		{"two batches", append(append([]byte(nil), batch...), batch...), ProblemTrailing},
		{"a byte behind", append(append([]byte(nil), batch...), 0), ProblemTrailing},
		{"old magic", magic, ProblemMagic},
		{"flipped bit", flipped, ProblemCRC},
		{"codec 5", resealed(batch, func(v View) View { v[attributesAt+1] |= 5; return v }), ProblemCodec},
		{"not gzip", resealed(batch, func(v View) View { v[attributesAt+1] |= 1; return v }), ProblemCompression},
		{"count 0", resealed(batch, put32(countAt, 0)), ProblemNoRecords},
		{"count -1", resealed(batch, put32(countAt, -1)), ProblemNoRecords},
		{"offset range -1", resealed(batch, put32(lastOffsetDeltaAt, -1)), ProblemNoRecords},
		{"count 4 of range 3", resealed(batch, put32(countAt, 4)), ProblemCount},
		{"range max", resealed(batch, put32(lastOffsetDeltaAt, 1<<31-1)), ProblemCount},
		{"more records announced", resealed(resealed(batch, put32(countAt, 4)), put32(lastOffsetDeltaAt, 3)), ProblemRecord},
		{"fewer records announced", resealed(resealed(batch, put32(countAt, 2)), put32(lastOffsetDeltaAt, 1)), ProblemRecord},
		{"smallest record", one(12, 0, 0, 0, 1, 1, 0), NoProblem},
		{"null by another negative length", one(12, 0, 0, 0, 5, 3, 0), NoProblem},
		{"record longer than its fields", one(14, 0, 0, 0, 1, 1, 0, 0), ProblemRecord},
		{"record shorter than its fields", one(10, 0, 0, 0, 1, 1, 0), ProblemRecord},
		{"empty record", one(0), ProblemRecord},
		{"negative record length", one(1, 0, 0, 0, 1, 1, 0), ProblemRecord},
		{"key beyond the record", one(12, 0, 0, 0, 20, 1, 0), ProblemRecord},
		{"negative header count", one(12, 0, 0, 0, 1, 1, 1), ProblemRecord},
		{"too many headers", one(12, 0, 0, 0, 1, 1, 100), ProblemRecord},
		{"null header key", one(16, 0, 0, 0, 1, 1, 2, 1, 1), ProblemRecord},
		{"header with null value", one(16, 0, 0, 0, 1, 1, 2, 0, 1), NoProblem},
		{"inner offset 1", one(12, 0, 0, 2, 1, 1, 0), ProblemInnerOffsets},
	} {
		facts := new(Scratch).Examine(c.batch, testLimit)
		require.Equal(t, c.want, facts.Problem, c.name)
		require.Equal(t, c.want == NoProblem || c.want == ProblemInnerOffsets, facts.Walked, c.name)
	}
}

func TestRecordsThatAreCutShortAreAProblem(t *testing.T) {
	batch := sampleBatch(3, None)
	for end := HeaderSize; end < len(batch); end++ {
		cut := resealed(batch, func(v View) View { return v[:end] })
		f := new(Scratch).Examine(cut, 1<<20)
		require.Equal(t, ProblemRecord, f.Problem, "cut after %d bytes", end)
	}
}

func TestTheFirstOfEqualTimestampsIsTheLatest(t *testing.T) {
	b := Builder{Spec: Plain()}
	for _, at := range []int64{5, 9, 9, 7} {
		b.Add(Record{Timestamp: at, Value: []byte("v")})
	}
	f := new(Scratch).Examine(b.Build(nil, new(Scratch)), 1<<20)
	require.EqualValues(t, 9, f.RecordMaxTimestamp)
	require.EqualValues(t, 1, f.MaxTimestampOffsetDelta)
}

func TestEveryProblemHasWordsAndACode(t *testing.T) {
	seen := map[string]bool{}
	for p := range problemCount {
		require.NotEqual(t, "unknown problem", p.String())
		require.False(t, seen[p.String()])
		seen[p.String()] = true
		require.Equal(t, p == NoProblem, p.ErrorCode() == kafka.None)
	}
}

func TestClientRules(t *testing.T) {
	facts := Facts{Attributes: timestampTypeFlag}
	require.Equal(t, ProblemTimestampType, facts.ClientProblem())
	facts = Facts{ProducerID: 0, BaseSequence: -1}
	require.Equal(t, ProblemSequence, facts.ClientProblem())
	facts = Facts{ProducerID: -1, BaseSequence: -1}
	require.Equal(t, NoProblem, facts.ClientProblem())
	facts = Facts{Problem: ProblemCRC, Attributes: controlFlag}
	require.Equal(t, ProblemCRC, facts.ClientProblem())
}

func TestFirstSplitsARun(t *testing.T) {
	a, b := sampleBatch(1, None), sampleBatch(5, Zstd)
	run := append(append(append([]byte(nil), a...), b...), a[:20]...)
	first, rest, p := First(run)
	require.Equal(t, NoProblem, p)
	require.Equal(t, View(a), first)
	first, rest, p = First(rest)
	require.Equal(t, NoProblem, p)
	require.Equal(t, View(b), first)
	_, rest, p = First(rest)
	require.Equal(t, ProblemTooShort, p)
	require.Len(t, rest, 20)
}

func TestStampAgreesWithRecomputation(t *testing.T) {
	scratch := new(Scratch)
	rapid.Check(t, func(t *rapid.T) {
		b := Builder{Spec: drawSpec(t)}
		for range rapid.IntRange(1, 30).Draw(t, "count") {
			b.Add(drawRecord(t))
		}
		batch := b.Build(nil, scratch)
		patch := env.Patch{
			Stamp:       true,
			AppendTime:  rapid.Bool().Draw(t, "append time"),
			LeaderEpoch: rapid.Int32().Draw(t, "epoch"),
			BaseOffset:  rapid.Int64().Draw(t, "offset"),
			MaxStamp:    rapid.Int64().Draw(t, "stamp"),
		}
		patch.CreateTime = !patch.AppendTime && rapid.Bool().Draw(t, "create time")
		before := View(batch).MaxTimestamp()
		Stamp(batch, patch)

		require.Equal(t, NoProblem, Check(batch))
		require.EqualValues(t, patch.BaseOffset, View(batch).BaseOffset())
		require.EqualValues(t, patch.LeaderEpoch, View(batch).LeaderEpoch())
		want := before
		if patch.AppendTime || patch.CreateTime {
			want = patch.MaxStamp
		}
		require.Equal(t, want, View(batch).MaxTimestamp())
		require.Equal(t, patch.AppendTime, View(batch).Attributes().TimestampType() == kafka.LogAppendTime)
	})
}

func TestStampKeepsCorruptionVisible(t *testing.T) {
	batch := sampleBatch(10, None)
	batch[len(batch)-3] ^= 1
	Stamp(batch, env.Patch{Stamp: true, AppendTime: true, MaxStamp: 77})
	require.Equal(t, ProblemCRC, Check(batch))
}

func TestStampWithoutStampChangesNothing(t *testing.T) {
	batch := sampleBatch(1, None)
	before := append([]byte(nil), batch...)
	Stamp(batch, env.Patch{BaseOffset: 9, AppendTime: true})
	require.Equal(t, before, batch)
}

func TestCombineAgreesWithRecomputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := make([]byte, rapid.IntRange(1, 1<<17).Draw(t, "size"))
		start := rapid.IntRange(0, len(message)-1).Draw(t, "start")
		change := rapid.SliceOfN(rapid.Byte(), 1, min(40, len(message)-start)).Draw(t, "change")
		before := crc32.Checksum(message, castagnoli)
		for i, x := range change {
			message[start+i] ^= x
		}
		after := len(message) - start - len(change)
		require.Equal(t, crc32.Checksum(message, castagnoli), combine(before, change, after))
	})
}

func TestAppendTimeRulesRecordTimestamps(t *testing.T) {
	batch := sampleBatch(3, None)
	Stamp(batch, env.Patch{Stamp: true, AppendTime: true, MaxStamp: 5000})
	records, p := collect(nil, batch)
	require.Equal(t, NoProblem, p)
	for _, r := range records {
		require.EqualValues(t, 5000, r.Timestamp)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	batch := sampleBatch(200, None)
	scratch := new(Scratch)
	patch := env.Patch{Stamp: true, AppendTime: true, MaxStamp: 5000}
	for name, f := range map[string]func(){
		"examine": func() { scratch.Examine(batch, testLimit) },
		"check":   func() { Check(batch) },
		"inspect": func() { Inspect(batch) },
		"stamp":   func() { patch.MaxStamp++; Stamp(batch, patch) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
