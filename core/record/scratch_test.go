package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestCodecsRoundTripAndHonourTheLimit(t *testing.T) {
	reused := new(Scratch)
	rapid.Check(t, func(t *rapid.T) {
		codec := rapid.SampledFrom(allCodecs).Draw(t, "codec")
		src := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes"),
			rapid.IntRange(1, 1000).Draw(t, "repeat"))
		packed := reused.Compress([]byte("kept"), codec, src)
		require.Equal(t, packed, new(Scratch).Compress([]byte("kept"), codec, src))
		packed = packed[len("kept"):]
		size := int64(len(src))

		out, p := reused.Decompress([]byte("kept"), codec, packed, size)
		require.Equal(t, NoProblem, p)
		require.Equal(t, append([]byte("kept"), src...), out)

		_, p = reused.Decompress(nil, codec, packed, size-1)
		require.Equal(t, ProblemTooLarge, p)
	})
}

func TestRawSnappyRoundTrips(t *testing.T) {
	scratch := new(Scratch)
	rapid.Check(t, func(t *rapid.T) {
		src := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes"),
			rapid.IntRange(1, 1000).Draw(t, "repeat"))
		packed := scratch.CompressSnappyBlock(nil, src)
		out, p := scratch.Decompress(nil, Snappy, packed, int64(len(src)))
		require.Equal(t, NoProblem, p)
		require.Equal(t, src, out)
	})
}

// TestOthersDecompressOurs and the reverse use franz-go's codecs.
func TestOthersDecompressOursAndWeTheirs(t *testing.T) {
	src := bytes.Repeat([]byte("a record, and another one; "), 10_000)
	scratch := new(Scratch)
	for codec, options := range map[Codec]kgo.CompressionCodec{
		Gzip: kgo.GzipCompression(), Snappy: kgo.SnappyCompression(),
		LZ4: kgo.Lz4Compression(), Zstd: kgo.ZstdCompression(),
	} {
		theirs, err := kgo.DefaultDecompressor().Decompress(
			scratch.Compress(nil, codec, src), kgo.CompressionCodecType(codec))
		require.NoError(t, err, codec)
		require.Equal(t, src, theirs, codec)

		compressor, err := kgo.DefaultCompressor(options)
		require.NoError(t, err)
		packed, used := compressor.Compress(new(bytes.Buffer), src)
		require.EqualValues(t, codec, used)
		ours, p := scratch.Decompress(nil, codec, packed, testLimit)
		require.Equal(t, NoProblem, p, codec)
		require.Equal(t, src, ours, codec)
	}
}

// TestCompressionIsTheSameEverywhere pins the encoders' output, which a seed's hash contains; it
// has to hold on every processor (GOARCH=386 among them). A new library version may change it.
func TestCompressionIsTheSameEverywhere(t *testing.T) {
	var src []byte
	for i := range 20_000 {
		src = fmt.Appendf(src, "record %d of %d; ", i*i, i%7)
	}
	got := map[Codec]string{}
	for _, codec := range allCodecs {
		packed := new(Scratch).Compress(nil, codec, src)
		got[codec] = fmt.Sprintf("%d %08x", len(packed), crc32.Checksum(packed, castagnoli))
	}
	require.Equal(t, map[Codec]string{
		None:   "445374 216e3a3b",
		Gzip:   "107098 d9abc79f",
		Snappy: "196274 6d2bf39b",
		LZ4:    "169765 bff189ea",
		Zstd:   "102647 388be840",
	}, got)
}

func TestBombsAreStoppedCheaply(t *testing.T) {
	const bomb, limit = 32 << 20, 1 << 20
	scratch := new(Scratch)
	src := make([]byte, bomb)
	for _, codec := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		packed := scratch.Compress(nil, codec, src)
		fresh := new(Scratch)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, p := fresh.Decompress(nil, codec, packed, limit)
		runtime.ReadMemStats(&after)
		require.Equal(t, ProblemTooLarge, p, codec)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*limit), codec)
	}
}

func TestLyingSizesDoNotAllocate(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<31-2)
	_, p := new(Scratch).Decompress(nil, Snappy, append(huge, 0, 1), 1<<40)
	require.Equal(t, ProblemCompression, p)

	// A zstd frame of one segment that announces 1 GB and ends.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 1, 0, 0}
	_, p = new(Scratch).Decompress(nil, Zstd, frame, 1<<31)
	require.Equal(t, ProblemCompression, p)
}

func TestSnappyRefusesWhatOnlyS2Knows(t *testing.T) {
	// Four literals, a copy from four bytes ago, then "repeat the last offset".
	block := []byte{12, 3 << 2, 'a', 'b', 'c', 'd', 1, 4, 1, 0}
	_, p := new(Scratch).Decompress(nil, Snappy, block, 100)
	require.Equal(t, ProblemCompression, p)
	out, p := new(Scratch).Decompress(nil, Snappy, append(block[:8:8], 1, 4), 100)
	require.Equal(t, NoProblem, p)
	require.Equal(t, "abcdabcdabcd", string(out))
}
