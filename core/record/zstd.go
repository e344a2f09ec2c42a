package record

import (
	"slices"

	"github.com/klauspost/compress/zstd"

	"stet/core/invariant"
)

const (
	// zstdMaxWindow is the largest window that Kafka's clients can decompress (zstd's default).
	zstdMaxWindow = 1 << 27
	// zstdBlockBytes is the most that one block holds.
	zstdBlockBytes = 128 << 10
	// zstdMaxRatio is the most that a byte can stand for: a block takes four bytes.
	zstdMaxRatio = zstdBlockBytes / 4
)

// unzstd lets the decoder fill a buffer that cannot grow. The library's own limit on memory would
// refuse small batches with a large window, and it does not tell a full buffer from a broken block
// in the same way on all processors. So the buffer leaves room for a block behind the limit: what
// fails before that is broken. A guess that is too small is paid for twice.
func (s *Scratch) unzstd(dst, src []byte, limit int64) ([]byte, Problem) {
	if len(src) == 0 {
		return dst, ProblemCompression
	}
	if s.zstdReader == nil {
		s.zstdReader = newZstdReader()
	}
	most := min(limit, int64(len(src))*zstdMaxRatio) + zstdBlockBytes
	room := min(max(zstdGuess(src), int64(cap(dst)-len(dst))), most)
	for {
		dst = slices.Grow(dst, int(room))
		out, err := s.zstdReader.DecodeAll(src, dst[len(dst):len(dst):len(dst)+int(room)])
		size, full := int64(len(out)), err == zstd.ErrDecoderSizeExceeded
		switch {
		case size > limit || full && room == most:
			return dst, ProblemTooLarge
		case err == nil:
			return dst[:len(dst)+len(out)], NoProblem
		case !full && (room == most || size+zstdBlockBytes <= room):
			return dst, ProblemCompression
		}
		room = min(4*room+zstdBlockBytes, most)
	}
}

func newZstdReader() *zstd.Decoder {
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(zstdMaxWindow))
	invariant.Always(err == nil, "a zstd decoder can be made")
	return reader
}

// zstdGuess is the size that the frame announces, or four times its own.
func zstdGuess(src []byte) int64 {
	var header zstd.Header
	if header.Decode(src) == nil && header.HasFCS {
		return int64(min(header.FrameContentSize, uint64(len(src))*zstdMaxRatio))
	}
	return 4 * int64(len(src))
}
