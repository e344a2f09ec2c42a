package sim

import (
	"fmt"
	"time"
)

// Time is virtual time: nanoseconds since the world began. Durations are a Time too, so that no
// conversion stands between the two.
type Time int64

// Units of virtual time.
const (
	Microsecond Time = 1000
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
	Minute           = 60 * Second
)

// Never is later than every event.
const Never Time = 1<<63 - 1

// Duration converts to the standard library's type.
func (t Time) Duration() time.Duration { return time.Duration(t) }

// String prints seconds, with nanoseconds after the point.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	return fmt.Sprintf("%s%d.%09ds", sign, t/Second, t%Second)
}

// Place names a machine of the world, for traces, faults and streams: 0 is the world itself,
// nodes count from 1, clients from ClientPlace.
type Place int32

// ClientPlace is the place of the first client.
const ClientPlace Place = 1000

// String gives world, n1, n2, … c0, c1, …
func (p Place) String() string {
	switch {
	case p == 0:
		return "world"
	case p >= ClientPlace:
		return fmt.Sprintf("c%d", p-ClientPlace)
	}
	return fmt.Sprintf("n%d", p)
}
