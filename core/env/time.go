package env

import "time"

// Mono is a reading of a node's monotonic clock, in nanoseconds since an arbitrary origin. It
// never goes back while the process lives. Timeouts use it.
type Mono int64

// Never is later than every reading.
const Never Mono = 1<<63 - 1

// Add returns the reading d after m, and Never if that lies beyond it.
func (m Mono) Add(d time.Duration) Mono {
	if r := m + Mono(d); r >= m || d < 0 {
		return r
	}
	return Never
}

// Now is what a turn is told of time. Mono is for timeouts; WallMs, milliseconds since 1970, is
// for record timestamps and expiry only, and may step in both directions.
type Now struct {
	Mono   Mono
	WallMs int64
}
