package sim

import (
	"stet/core/env"
	"stet/core/invariant"
)

// WallEpochMs is the wall time of a clock without offset when the world begins: 2025-01-01.
const WallEpochMs int64 = 1735689600000

// Clock is the pair of clocks of one node. Both drift by the same rate, as one oscillator drives
// them. The wall clock may step; the monotonic one never goes back, and starts anew at a boot.
type Clock struct {
	scheduler *Scheduler
	place     Place
	leap      Time  // that the last boot brought
	ppm       int64 // parts per million that the clocks run fast, negative for slow

	// Readings at the anchor, a moment of virtual time.
	anchor Time
	mono   int64 // nanoseconds
	wall   int64 // nanoseconds since 1970
}

// maxDriftPPM bounds the drift to what keeps time going forward.
const maxDriftPPM = 500_000

// NewClock returns clocks that are right: no offset, no drift.
func NewClock(s *Scheduler, p Place) *Clock {
	return &Clock{
		scheduler: s, place: p, anchor: s.Now(), mono: int64(Second),
		wall: WallEpochMs*int64(Millisecond) + int64(s.Now()),
	}
}

// Now reads both clocks.
func (c *Clock) Now() env.Now {
	e := c.elapsed()
	return env.Now{Mono: env.Mono(c.mono + e), WallMs: floorDiv(c.wall+e, int64(Millisecond))}
}

// elapsed is what the clocks have counted since the anchor.
func (c *Clock) elapsed() int64 { return c.scale(int64(c.scheduler.Now() - c.anchor)) }

// scale converts virtual nanoseconds into those of the clocks, without overflow.
func (c *Clock) scale(d int64) int64 {
	const million = 1_000_000
	return d + d/million*c.ppm + d%million*c.ppm/million
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func (c *Clock) moveAnchor() {
	e := c.elapsed()
	c.anchor, c.mono, c.wall = c.scheduler.Now(), c.mono+e, c.wall+e
}

// When returns the first virtual time at which the monotonic clock reads m or more, given its
// present drift: now if it does already, Never for env.Never.
func (c *Clock) When(m env.Mono) Time {
	if m == env.Never {
		return Never
	}
	left := int64(m) - int64(c.Now().Mono)
	if left <= 0 {
		return c.scheduler.Now()
	}
	const million = 1_000_000
	rate := million + c.ppm
	d := left/rate*million + left%rate*million/rate
	d = max(0, d-8) // more than what the divisions may have cut off
	now := c.scheduler.Now()
	for c.mono+c.scale(int64(now-c.anchor)+d) < int64(m) {
		d++
	}
	if d > int64(Never-now) {
		return Never
	}
	return now + Time(d)
}

// Drift sets how many parts per million the clocks run fast from now on.
func (c *Clock) Drift(ppm int64) {
	invariant.Always(ppm > -maxDriftPPM && ppm < maxDriftPPM, "a drift keeps time going forward")
	c.moveAnchor()
	c.ppm = ppm
	c.note("drift", ppm)
}

// Step moves the wall clock by d, forward or back. The monotonic clock does not notice.
func (c *Clock) Step(d Time) {
	c.moveAnchor()
	c.wall += int64(d)
	c.note("step", int64(d))
}

// Reboot starts the monotonic clock anew at origin and sets the wall clock wrong by leap: a hardware
// clock that was wrong, or none at all. It takes the place of the leap of the last boot, so that the
// error does not grow with the number of boots.
func (c *Clock) Reboot(origin env.Mono, leap Time) {
	c.moveAnchor()
	c.mono = int64(origin)
	c.wall += int64(leap - c.leap)
	c.leap = leap
	c.note("reboot", int64(leap))
}

func (c *Clock) note(what string, n int64) {
	c.scheduler.trace.Record(Record{Place: c.place, Kind: KindFault, What: "clock " + what, A: n})
}
