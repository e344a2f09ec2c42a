package campaign

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Seeds is a range of seeds, both ends inclusive.
type Seeds struct{ From, To uint64 }

// maxSeeds keeps the number of runs countable.
const maxSeeds = 1 << 48

// ParseSeeds reads A..B, decimal or 0x.
func ParseSeeds(text string) (s Seeds, err error) {
	a, b, ok := strings.Cut(text, "..")
	if ok {
		if s.From, err = strconv.ParseUint(a, 0, 64); err == nil {
			s.To, err = strconv.ParseUint(b, 0, 64)
		}
	}
	if !ok || err != nil || s.From > s.To || s.To-s.From >= maxSeeds {
		return Seeds{}, fmt.Errorf("seeds: %q: give A..B with A <= B, at most %d of them", text,
			uint64(maxSeeds))
	}
	return s, nil
}

// String is the form that ParseSeeds reads.
func (s Seeds) String() string { return fmt.Sprintf("%d..%d", s.From, s.To) }

func (s Seeds) has(seed uint64) bool { return s.From <= seed && seed <= s.To }

// Shard is the Index-th part of Count; 1 <= Index <= Count. The zero Shard is all.
type Shard struct{ Index, Count uint64 }

// ParseShard reads i/n; "" is all.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return Shard{}, nil
	}
	a, b, ok := strings.Cut(text, "/")
	if ok {
		if s.Index, err = strconv.ParseUint(a, 10, 64); err == nil {
			s.Count, err = strconv.ParseUint(b, 10, 64)
		}
	}
	if !ok || err != nil || s.Index == 0 || s.Index > s.Count {
		return Shard{}, fmt.Errorf("shard: %q: give i/n with 1 <= i <= n", text)
	}
	return s, nil
}

// String is the form that ParseShard reads.
func (s Shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// has says whether a seed belongs to the shard. It is decided by the seed alone, so that it stays
// with its shard whatever the range is.
func (s Shard) has(seed uint64) bool { return s.Count == 0 || seed%s.Count == s.Index-1 }

// seeds yields the shard's seeds of a range, in order.
func (s Shard) seeds(r Seeds) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := r.From; ; seed++ {
			if s.has(seed) && !yield(seed) || seed == r.To {
				return
			}
		}
	}
}

// count counts the shard's seeds of a range.
func (s Shard) count(r Seeds) uint64 {
	if s.Count == 0 {
		return r.To - r.From + 1
	}
	below := func(end uint64) uint64 { // seeds of the shard in [0, end)
		return end/s.Count + b2u(end%s.Count >= s.Index)
	}
	return below(r.To) - below(r.From) + b2u(s.has(r.To))
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
