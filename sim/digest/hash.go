package digest

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Sum is a finished 128-bit hash.
type Sum [16]byte

// String gives 32 hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Hash is a running 128-bit hash of words and bytes. It is the same on every architecture, costs
// about a nanosecond a word, and is no defence against anyone who wants a collision. The zero
// value is ready to use; copying a Hash forks it.
//
// Two lanes take every word through a step that is a bijection of the lane for a fixed word and of
// the word for a fixed lane, so no state swallows what follows.
type Hash struct{ a, b uint64 }

const (
	mulA = 0x9e3779b97f4a7c15
	mulB = 0xd6e8feb86659fd93
	addB = 0xa0761d6478bd642f
)

// Word takes in a number.
func (h *Hash) Word(x uint64) {
	a := (h.a ^ x) * mulA
	h.a = a ^ a>>29
	b := bits.RotateLeft64(h.b^(x+addB), 31) * mulB
	h.b = b ^ b>>32
}

// Int takes in a signed number.
func (h *Hash) Int(x int64) { h.Word(uint64(x)) }

// Bytes takes in p and its length.
func (h *Hash) Bytes(p []byte) {
	h.Word(uint64(len(p)))
	for len(p) >= 8 {
		h.Word(binary.LittleEndian.Uint64(p))
		p = p[8:]
	}
	if len(p) > 0 {
		var tail [8]byte
		copy(tail[:], p)
		h.Word(binary.LittleEndian.Uint64(tail[:]))
	}
}

// Text takes in s and its length, as Bytes does.
func (h *Hash) Text(s string) {
	h.Word(uint64(len(s)))
	for len(s) > 0 {
		var word [8]byte
		n := copy(word[:], s)
		h.Word(binary.LittleEndian.Uint64(word[:]))
		s = s[n:]
	}
}

// Add takes in a finished hash.
func (h *Hash) Add(s Sum) {
	h.Word(binary.BigEndian.Uint64(s[:8]))
	h.Word(binary.BigEndian.Uint64(s[8:]))
}

// Sum finishes a copy of h; h goes on.
func (h *Hash) Sum() (s Sum) {
	a, b := h.a, h.b
	a, b = finish(a+bits.RotateLeft64(b, 17)), finish(b^bits.RotateLeft64(a, 41))
	binary.BigEndian.PutUint64(s[:8], a)
	binary.BigEndian.PutUint64(s[8:], b)
	return s
}

// Short returns 64 bits of the sum, for a line of a trace.
func (h *Hash) Short() uint64 { return finish(h.a + bits.RotateLeft64(h.b, 17)) }

// finish spreads every bit of x over all (the finalizer of MurmurHash3).
func finish(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
