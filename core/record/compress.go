package record

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"stet/core/invariant"
)

// Compress appends src, compressed, to dst. The same bytes give the same result on every
// machine. Snappy is framed as Kafka's clients frame it (xerial).
func (s *Scratch) Compress(dst []byte, c Codec, src []byte) []byte {
	switch c {
	case None:
		return append(dst, src...)
	case Gzip:
		return s.gzip(dst, src)
	case Snappy:
		return s.appendXerial(dst, src)
	case LZ4:
		return s.lz4(dst, src)
	case Zstd:
		return s.zstd(dst, src)
	}
	invariant.Unreachable("compression with an unknown codec")
	return dst
}

// appender collects what is written.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func (s *Scratch) gzip(dst, src []byte) []byte {
	out := &appender{dst}
	if s.gzipWriter == nil {
		s.gzipWriter = gzip.NewWriter(out)
	} else {
		s.gzipWriter.Reset(out)
	}
	return finish(out, s.gzipWriter, src)
}

func (s *Scratch) lz4(dst, src []byte) []byte {
	out := &appender{dst}
	if s.lz4Writer == nil {
		s.lz4Writer = lz4.NewWriter(out)
		err := s.lz4Writer.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false))
		invariant.Always(err == nil, "an lz4 encoder can be made")
	} else {
		s.lz4Writer.Reset(out)
	}
	return finish(out, s.lz4Writer, src)
}

func finish(out *appender, w io.WriteCloser, src []byte) []byte {
	_, err := w.Write(src)
	invariant.Always(err == nil && w.Close() == nil, "compression into memory does not fail")
	return out.b
}

func (s *Scratch) zstd(dst, src []byte) []byte {
	if s.zstdWriter == nil {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true),
			zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false))
		invariant.Always(err == nil, "a zstd encoder can be made")
		s.zstdWriter = w
	}
	return s.zstdWriter.EncodeAll(src, dst)
}
