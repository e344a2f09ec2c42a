package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

func TestClockStepsMoveOnlyTheWall(t *testing.T) {
	s := newTestScheduler(t)
	c := NewClock(s, 1)
	s.RunUntil(5*Second, nil)
	before := c.Now()
	require.Equal(t, WallEpochMs+5000, before.WallMs)
	c.Step(-2 * Minute)
	require.Equal(t, before.Mono, c.Now().Mono)
	require.Equal(t, before.WallMs-120_000, c.Now().WallMs)
	c.Step(3 * Minute)
	require.Equal(t, before.WallMs+60_000, c.Now().WallMs)
}

func TestClockDriftsByItsRate(t *testing.T) {
	s := newTestScheduler(t)
	c := NewClock(s, 1)
	before := c.Now()
	c.Drift(100_000)
	s.RunUntil(10*Second, nil)
	require.EqualValues(t, 11*Second, c.Now().Mono-before.Mono)
	c.Drift(-100_000)
	s.RunUntil(20*Second, nil)
	require.EqualValues(t, 20*Second, c.Now().Mono-before.Mono)
	require.EqualValues(t, 20_000, c.Now().WallMs-before.WallMs)
}

func TestClockRebootRestartsTheMonotonicClockAndLeapsTheWall(t *testing.T) {
	s := newTestScheduler(t)
	c := NewClock(s, 1)
	s.RunUntil(100*Second, nil)
	wall := c.Now().WallMs
	c.Reboot(7, -Minute)
	require.Equal(t, env.Now{Mono: 7, WallMs: wall - 60_000}, c.Now())
}

func TestClockWhenIsTheFirstMomentOfAReading(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := NewScheduler(NewTrace(nil))
		c := NewClock(s, 1)
		s.RunUntil(Time(rapid.Int64Range(0, int64(Minute)).Draw(r, "start")), nil)
		c.Drift(rapid.Int64Range(-400_000, 400_000).Draw(r, "ppm"))
		s.RunUntil(s.Now()+Time(rapid.Int64Range(0, int64(Minute)).Draw(r, "run")), nil)
		m := c.Now().Mono + env.Mono(rapid.Int64Range(1, int64(Minute)).Draw(r, "wait"))
		at := c.When(m)
		s.RunUntil(at-1, nil)
		require.Less(r, c.Now().Mono, m)
		s.RunUntil(at, nil)
		require.GreaterOrEqual(r, c.Now().Mono, m)
		require.Equal(r, at, c.When(m))
		require.Equal(r, Never, c.When(env.Never))
	})
}

func TestLeapsOfBootsDoNotAddUp(t *testing.T) {
	s := NewScheduler(NewTrace(nil))
	c := NewClock(s, 1)
	for range 20 {
		c.Reboot(7, Minute)
	}
	require.Equal(t, WallEpochMs+int64(Minute/Millisecond), c.Now().WallMs)
}
