package partition

import (
	"time"

	"stet/core/env"
)

// ExpiryClock is wall time for expiry, clamped: it goes on no faster than the monotonic clock,
// and never back. A wall clock that leaps forward forgets no producer; what it leapt is made up
// for only by a restart.
type ExpiryClock struct {
	mono   env.Mono
	wallMs int64
	set    bool
}

// Advance returns now with the clamped wall time.
func (c *ExpiryClock) Advance(now env.Now) env.Now {
	if !c.set {
		c.mono, c.wallMs, c.set = now.Mono, now.WallMs, true
		return now
	}
	passed := int64(now.Mono-c.mono) / int64(time.Millisecond)
	if now.WallMs > c.wallMs {
		c.wallMs += min(now.WallMs-c.wallMs, passed)
	}
	c.mono += env.Mono(passed * int64(time.Millisecond))
	return env.Now{Mono: now.Mono, WallMs: c.wallMs}
}
