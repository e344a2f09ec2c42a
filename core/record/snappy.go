package record

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// Java clients frame snappy as the xerial library does; librdkafka sends one raw block. Readers,
// Kafka's among them, accept both:
//
//	0  8 bytes  82 'S' 'N' 'A' 'P' 'P' 'Y' 00
//	8  int32    version, 1
//	12 int32    lowest compatible version, 1
//	16 chunks   int32 length, then a raw block of that length
const (
	xerialMagic      = "\x82SNAPPY\x00"
	xerialHeader     = xerialMagic + "\x00\x00\x00\x01\x00\x00\x00\x01"
	xerialBlockBytes = 32 << 10
)

func unsnappy(dst, src []byte, limit int64) ([]byte, Problem) {
	if len(src) < len(xerialHeader) || !bytes.HasPrefix(src, []byte(xerialMagic)) {
		return unsnappyBlock(dst, src, limit)
	}
	problem := NoProblem
	for src = src[len(xerialHeader):]; len(src) > 0; {
		if len(src) < 4 || int64(binary.BigEndian.Uint32(src)) > int64(len(src)-4) {
			return dst, ProblemCompression
		}
		end := 4 + int(binary.BigEndian.Uint32(src))
		before := len(dst)
		if dst, problem = unsnappyBlock(dst, src[4:end], limit); problem != NoProblem {
			return dst, problem
		}
		limit -= int64(len(dst) - before)
		src = src[end:]
	}
	return dst, NoProblem
}

// snappyMaxRatio is more than any block can expand: a copy of 64 bytes takes two bytes and more.
const snappyMaxRatio = 32

func unsnappyBlock(dst, src []byte, limit int64) ([]byte, Problem) {
	size, err := s2.DecodedLen(src)
	switch {
	case err != nil || int64(size) > int64(len(src))*snappyMaxRatio || !isSnappy(src):
		return dst, ProblemCompression
	case int64(size) > limit:
		return dst, ProblemTooLarge
	}
	if cap(dst)-len(dst) < size {
		dst = append(make([]byte, 0, max(len(dst)+size, 2*cap(dst))), dst...)
	}
	if _, err := s2.Decode(dst[len(dst):len(dst)+size], src); err != nil {
		return dst, ProblemCompression
	}
	return dst[:len(dst)+size], NoProblem
}

// isSnappy says whether a block uses no instruction that only S2 knows: the library's decoder
// takes an offset of 0 for "repeat the last", and Kafka's clients would fail on it.
func isSnappy(block []byte) bool {
	_, at := binary.Uvarint(block)
	for at >= 0 && at < len(block) {
		tag := block[at]
		switch tag & 3 {
		case 0:
			at = afterLiteral(block, at)
		case 1:
			if at+1 < len(block) && tag>>5 == 0 && block[at+1] == 0 {
				return false
			}
			at += 2
		case 2:
			at += 3
		case 3:
			at += 5
		}
	}
	return true
}

// afterLiteral returns the position after the literal at this position, or -1 when it is cut off.
func afterLiteral(block []byte, at int) int {
	size, width := int64(block[at]>>2), 0
	if size >= 60 {
		width = int(size) - 59
		if at+width >= len(block) {
			return -1
		}
		size = 0
		for i := width; i > 0; i-- {
			size = size<<8 | int64(block[at+i])
		}
	}
	end := int64(at+1+width) + size + 1
	if end > int64(len(block)) {
		return -1
	}
	return int(end)
}

func (s *Scratch) appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		block := src[:min(len(src), xerialBlockBytes)]
		src = src[len(block):]
		at := len(dst)
		dst = s.CompressSnappyBlock(append(dst, 0, 0, 0, 0), block)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// snappyTable holds, for a hash of four bytes, the last position in the window plus one.
type snappyTable [1 << 14]uint16

// snappyWindow is how far back a copy may reach; positions plus one fit a uint16.
const snappyWindow = 1<<16 - 1

// CompressSnappyBlock appends src as one raw snappy block to dst, as librdkafka sends it. The
// library's encoders differ between processors, and a seed must not; this one is plain.
func (s *Scratch) CompressSnappyBlock(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	if s.snappy == nil {
		s.snappy = new(snappyTable)
	}
	for len(src) > 0 {
		window := src[:min(len(src), snappyWindow)]
		src = src[len(window):]
		clear(s.snappy[:])
		dst = s.snappy.compress(dst, window)
	}
	return dst
}

func (t *snappyTable) compress(dst, src []byte) []byte {
	literal, at, misses := 0, 0, 0
	for at+4 <= len(src) {
		word := binary.LittleEndian.Uint32(src[at:])
		slot := &t[word*0x9e3779b1>>(32-14)]
		before := int(*slot) - 1
		*slot = uint16(at + 1)
		if before < 0 || binary.LittleEndian.Uint32(src[before:]) != word {
			misses++
			at += 1 + misses>>5 // hurry through what does not compress
			continue
		}
		dst = appendLiteral(dst, src[literal:at])
		end := at + 4
		for end < len(src) && src[end] == src[before+end-at] {
			end++
		}
		dst = appendCopies(dst, at-before, end-at)
		at, literal, misses = end, end, 0
	}
	return appendLiteral(dst, src[literal:])
}

// appendLiteral appends an instruction to take b as it is; b is shorter than 64 KB.
func appendLiteral(dst, b []byte) []byte {
	switch n := len(b) - 1; {
	case n < 0:
		return dst
	case n < 60:
		dst = append(dst, byte(n)<<2)
	case n < 1<<8:
		dst = append(dst, 60<<2, byte(n))
	default:
		dst = append(dst, 61<<2, byte(n), byte(n>>8))
	}
	return append(dst, b...)
}

// appendCopies appends instructions to repeat length bytes from offset bytes ago.
func appendCopies(dst []byte, offset, length int) []byte {
	for ; length > 0; length -= 64 {
		n := min(length, 64)
		dst = append(dst, byte(n-1)<<2|2, byte(offset), byte(offset>>8))
	}
	return dst
}
