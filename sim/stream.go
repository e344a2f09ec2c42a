package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"stet/core/invariant"
)

// Stream is one independent source of randomness that counts what is drawn from it. All draws are
// integers: a probability is a ratio.
//
// What the methods of Stream itself draw are decisions. They can be taped, and played from a tape
// instead: see Entropy. What Read and the embedded Rand draw are identifiers and garbage, whose
// value decides nothing, and a library's own draws; they always come from the seed.
type Stream struct {
	*rand.Rand // for consumers that want one; its draws count too
	source     *countingSource
	tape       *tape // nil: nothing is taped or played

	entropy *Entropy // whose stream it is
	name    streamName
}

// Sub returns the stream of a part of the purpose, at the same place: what one part draws does not
// move the others.
func (s *Stream) Sub(part string) *Stream {
	return s.entropy.Stream(s.name.purpose+" "+part, s.name.place)
}

// countingSource is ChaCha8 with a cursor.
type countingSource struct {
	name   string // purpose and place, for reports
	chacha *rand.ChaCha8
	draws  uint64
	weight uint64 // of one draw in the fold of all cursors
	fold   *uint64
}

// Uint64 implements rand.Source.
func (c *countingSource) Uint64() uint64 {
	c.draws++
	*c.fold += c.weight
	return c.chacha.Uint64()
}

// Draws returns how many 64-bit words were drawn.
func (s *Stream) Draws() uint64 { return s.source.draws }

// Chance is true in num of den cases. A num of 0 draws nothing, so that a fault that is off does
// not move its stream.
func (s *Stream) Chance(num, den uint64) bool {
	invariant.Always(den > 0 && num <= den, "a chance is a ratio of at most one")
	if num == 0 {
		return false
	}
	hit := int64(0)
	if s.Uint64N(den) < num {
		hit = 1
	}
	return s.decide(hit, 0, 1, 0) == 1
}

// Between draws from [low, high].
func (s *Stream) Between(low, high int64) int64 {
	return s.decide(s.between(low, high), low, high, low+(high-low)/2)
}

func (s *Stream) between(low, high int64) int64 {
	invariant.Always(low <= high, "a range has its bounds in order")
	if low == high {
		return low
	}
	span := uint64(high-low) + 1
	if span == 0 { // all 2^64 values
		return int64(s.Uint64())
	}
	return low + int64(s.Uint64N(span))
}

// Delay draws from [low, high].
func (s *Stream) Delay(low, high Time) Time { return Time(s.Between(int64(low), int64(high))) }

// Skewed draws from [0, high] with small numbers far more often than large ones: each power of two
// is about as likely as the next.
func (s *Stream) Skewed(high int64) int64 {
	if high <= 0 {
		return 0
	}
	bits := 0
	for v := high; v > 0; v >>= 1 {
		bits++
	}
	limit := int64(1)<<s.between(0, int64(bits)) - 1
	return s.decide(s.between(0, min(limit, high)), 0, high, 0)
}

// Index draws from [0, n), n > 0.
func (s *Stream) Index(n int) int {
	return int(s.decide(int64(s.Uint64N(uint64(n))), 0, int64(n-1), 0))
}

// decide puts a decision on tape, or takes it from there: drawn is what the seed says, steady what
// a schedule without a tape says.
func (s *Stream) decide(drawn, low, high, steady int64) int64 {
	if s.tape == nil || low == high {
		return drawn
	}
	return s.tape.decide(drawn, low, high, steady)
}

// Read fills p and counts a draw for each eight bytes or part of them. It never fails.
func (s *Stream) Read(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], s.source.Uint64())
		p = p[copy(p, word[:]):]
	}
	return n, nil
}
