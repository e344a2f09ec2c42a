package record

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Scratch holds what is expensive to make: compressors, decompressors and the buffer that records
// are decompressed into. The zero value is ready and small; parts are made when first needed.
// It is for one caller at a time, and results do not depend on what it was used for before.
type Scratch struct {
	buffer []byte // of the last decompressed batch

	source     bytes.Reader
	gzipReader *gzip.Reader
	lz4Reader  *lz4.Reader
	zstdReader *zstd.Decoder

	gzipWriter *gzip.Writer
	lz4Writer  *lz4.Writer
	zstdWriter *zstd.Encoder
	snappy     *snappyTable
}

// keepBytes is the largest buffer that a Scratch keeps between batches.
const keepBytes = 1 << 20

// payload returns the records of a batch, decompressed. They live until the next call.
func (s *Scratch) payload(batch View, limit int64) ([]byte, Problem) {
	codec := batch.Attributes().Codec()
	if codec == None {
		if int64(len(batch)-HeaderSize) > limit {
			return nil, ProblemTooLarge
		}
		return batch.Payload(), NoProblem
	}
	payload, problem := s.Decompress(s.buffer[:0], codec, batch.Payload(), limit)
	s.buffer = nil
	if cap(payload) <= keepBytes {
		s.buffer = payload
	}
	return payload, problem
}

// Decompress appends src, decompressed, to dst. It fails with ProblemTooLarge, and without
// allocating much more than that, when the result would exceed limit bytes, with
// ProblemCompression for bytes that are not of the codec, and with ProblemCodec.
func (s *Scratch) Decompress(dst []byte, c Codec, src []byte, limit int64) ([]byte, Problem) {
	switch c {
	case None:
		if int64(len(src)) > limit {
			return dst, ProblemTooLarge
		}
		return append(dst, src...), NoProblem
	case Gzip:
		return s.gunzip(dst, src, limit)
	case Snappy:
		return unsnappy(dst, src, limit)
	case LZ4:
		return s.unlz4(dst, src, limit)
	case Zstd:
		return s.unzstd(dst, src, limit)
	}
	return dst, ProblemCodec
}

func (s *Scratch) gunzip(dst, src []byte, limit int64) ([]byte, Problem) {
	s.source.Reset(src)
	if s.gzipReader == nil {
		s.gzipReader = new(gzip.Reader)
	}
	if s.gzipReader.Reset(&s.source) != nil {
		return dst, ProblemCompression
	}
	return readUpTo(dst, s.gzipReader, limit)
}

// lz4Magic starts a frame. The library would also read legacy and skippable frames; Kafka's
// Lz4BlockInputStream does not.
const lz4Magic = "\x04\x22\x4d\x18"

func (s *Scratch) unlz4(dst, src []byte, limit int64) ([]byte, Problem) {
	if !bytes.HasPrefix(src, []byte(lz4Magic)) {
		return dst, ProblemCompression
	}
	s.source.Reset(src)
	if s.lz4Reader == nil {
		s.lz4Reader = lz4.NewReader(&s.source)
	} else {
		s.lz4Reader.Reset(&s.source)
	}
	return readUpTo(dst, s.lz4Reader, limit)
}

// readUpTo appends what r yields to dst.
func readUpTo(dst []byte, r io.Reader, limit int64) ([]byte, Problem) {
	start := len(dst)
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)-start) > limit:
			return dst, ProblemTooLarge
		case err == io.EOF:
			return dst, NoProblem
		case err != nil:
			return dst, ProblemCompression
		}
	}
}
