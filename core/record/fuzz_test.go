package record

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

const fuzzLimit = 1 << 20 // decompressed bytes of a batch

// fuzzAllowed is what examining or decompressing size bytes with a new Scratch may allocate: the
// growing result, and the codecs, of which lz4 takes blocks of 4 MB.
func fuzzAllowed(size int) uint64 { return uint64(4*size + 8*fuzzLimit + 16<<20) }

// allocated measures the bytes that f takes from the allocator.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzExamine(f *testing.F) {
	for _, codec := range allCodecs {
		f.Add(sampleBatch(3, codec))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < HeaderSize {
			return
		}
		batch := resealed(raw, func(v View) View { v[magicAt] = Magic; return v })
		scratch := new(Scratch)
		var facts Facts
		require.Less(t, allocated(func() { facts = scratch.Examine(batch, fuzzLimit) }),
			fuzzAllowed(len(batch)))
		require.Equal(t, facts, scratch.Examine(batch, fuzzLimit), "facts are a function of the bytes")
		require.LessOrEqual(t, facts.UncompressedBytes, int64(fuzzLimit))
		if !facts.Walked {
			require.NotEqual(t, NoProblem, facts.Problem)
			return
		}
		count := int32(0)
		p := scratch.Records(batch, fuzzLimit, func(Record) bool { count++; return true })
		require.Equal(t, NoProblem, p)
		require.Equal(t, facts.Count, count)
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(sampleBatch(2, None))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := Check(b)
		require.Equal(t, p, Inspect(b).Problem)
		facts := new(Scratch).Examine(b, fuzzLimit)
		if p != NoProblem {
			require.Equal(t, p, facts.Problem)
		}
		for rest, p := b, NoProblem; p == NoProblem; {
			before := len(rest)
			var batch View
			batch, rest, p = First(rest)
			require.Equal(t, before, len(batch)+len(rest))
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, codec := range allCodecs {
		f.Add(uint8(codec), new(Scratch).Compress(nil, codec, []byte("some bytes, some bytes")))
	}
	f.Fuzz(func(t *testing.T, codec uint8, src []byte) {
		scratch := new(Scratch)
		var out []byte
		var p Problem
		require.Less(t, allocated(func() {
			out, p = scratch.Decompress(nil, Codec(codec), src, fuzzLimit)
		}), fuzzAllowed(len(src)))
		again, q := scratch.Decompress(nil, Codec(codec), src, fuzzLimit)
		require.Equal(t, p, q, "a result does not depend on what came before")
		if p == NoProblem {
			require.LessOrEqual(t, len(out), fuzzLimit)
			require.Equal(t, len(out), len(again))
		}
	})
}
