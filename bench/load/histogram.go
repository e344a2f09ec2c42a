package load

import (
	"math/bits"
	"time"
)

// Histogram counts durations with a relative error below 1/64, from 1 ns to hours.
type Histogram struct {
	counts [64 * subBuckets]int64
	total  int64
	worst  time.Duration
}

const (
	subBits    = 6
	subBuckets = 1 << subBits
)

// Add counts one duration; negative ones count as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(uint64(d))]++
	h.total++
	h.worst = max(h.worst, d)
}

// bucketOf maps small values to themselves and larger ones by their leading bits.
func bucketOf(v uint64) int {
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*subBuckets + int(v>>shift) - subBuckets
}

// lowestOf is the smallest value that bucketOf maps to bucket b.
func lowestOf(b int) uint64 {
	if b < subBuckets {
		return uint64(b)
	}
	shift := b/subBuckets - 1
	return uint64(b%subBuckets+subBuckets) << shift
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.worst = max(h.worst, other.worst)
}

// Quantile returns the duration that the share q of all counted durations does not exceed, and
// zero when nothing was counted.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := int64(q * float64(h.total))
	for i, n := range h.counts {
		if rank -= n; n > 0 && rank < 0 {
			return time.Duration(lowestOf(i))
		}
	}
	return h.worst
}

// Worst returns the largest counted duration.
func (h *Histogram) Worst() time.Duration { return h.worst }
