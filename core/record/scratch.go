package record

// Scratch holds what is expensive to make: compressors, decompressors and the buffer that records
// are decompressed into. The zero value is ready and small; parts are made when first needed.
// It is for one caller at a time, and results do not depend on what it was used for before.
type Scratch struct {
}

// Examine validates exactly one batch as Kafka validates what clients produce, in one pass, and
// reports facts. maxDecompressed bounds the decompressed records, in bytes. It does not allocate
// for an uncompressed batch, and a nil Scratch will do for one.
func (s *Scratch) Examine(b []byte, maxDecompressed int64) Facts { panic("not yet") }

// Compress appends src, compressed, to dst. The same bytes give the same result on every
// machine. Snappy is framed as Kafka's clients frame it (xerial).
func (s *Scratch) Compress(dst []byte, c Codec, src []byte) []byte { panic("not yet") }

// Decompress appends src, decompressed, to dst. It fails with ProblemTooLarge, and without
// allocating much more than that, when the result would exceed limit bytes, with
// ProblemCompression for bytes that are not of the codec, and with ProblemCodec.
func (s *Scratch) Decompress(dst []byte, c Codec, src []byte, limit int64) ([]byte, Problem) {
	panic("not yet")
}
