package campaign

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

func TestADyingWorkerTakesOnlyItsRunAlong(t *testing.T) {
	for mode, check := range map[string]scenarios.Check{
		"killed": scenarios.OutOfMemory, "out of memory": scenarios.OutOfMemory,
		"panics": scenarios.Panic, "babbles": scenarios.Panic,
	} {
		t.Run(mode, func(t *testing.T) {
			c := fake(t, mode, 1, 10)
			s, err := c.Run(context.Background())
			require.NoError(t, err)
			require.EqualValues(t, 18, s.OK)
			require.EqualValues(t, 2, s.Failed)
			require.Len(t, s.Classes, 1)
			require.Equal(t, check, s.Classes[0].Check, s.Classes[0].First.Evidence)
			require.EqualValues(t, badSeed, s.Classes[0].First.Seed)
			require.Equal(t, scenarios.ExitCrash, s.ExitCode(true, true))
		})
	}
}

func TestARunThatTakesTooLongFails(t *testing.T) {
	c := fake(t, "hangs", badSeed, badSeed)
	c.Timeout = 100 * time.Millisecond
	s, err := c.Run(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 2, s.Failed)
	require.Len(t, s.Classes, 1)
	require.Equal(t, scenarios.Timeout, s.Classes[0].Check)
	require.Equal(t, scenarios.ExitCrash, s.ExitCode(false, false))
}

func TestAWorkerThatRefusesItsCommandIsNoFailedRun(t *testing.T) {
	s, err := fake(t, "refuses", 1, 10).Run(context.Background())
	require.ErrorContains(t, err, "no such canary")
	require.Zero(t, s.Runs())
	c := fake(t, "passes", 1, 10)
	c.Worker = []string{filepath.Join(t.TempDir(), "nothing")}
	_, err = c.Run(context.Background())
	require.ErrorContains(t, err, "no such file")
}

func TestAnInterruptedRunIsNotCounted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := fake(t, "hangs", badSeed, badSeed)
	time.AfterFunc(300*time.Millisecond, cancel)
	s, err := c.Run(ctx)
	require.NoError(t, err)
	require.Zero(t, s.Runs())
	require.EqualValues(t, 2, s.Total)
	require.Zero(t, s.ExitCode(false, false))
}

func TestTheBudgetStopsBetweenRuns(t *testing.T) {
	c := fake(t, "slow", 1, 100_000)
	c.Budget = 400 * time.Millisecond
	start := time.Now()
	s, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Less(t, time.Since(start), 15*time.Second)
	require.Positive(t, s.OK)
	require.Less(t, s.Runs(), s.Total)
	require.Zero(t, s.Failed, "runs under way end by themselves")
}

func TestFailuresOfOneCauseAreOneClassWithTheSmallestSeed(t *testing.T) {
	c := fake(t, "fails", 1, 40)
	var firsts, failures int
	c.Failed = func(_ *scenarios.Result, first bool) {
		failures++
		if first {
			firsts++
		}
	}
	var told []string
	c.OnClass = func(class *Class) {
		told = append(told, class.ID)
		class.Notes = append(class.Notes, "shrunk")
	}
	s, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, 20, failures)
	require.Equal(t, 1, firsts)
	require.Len(t, s.Classes, 1)
	class := s.Classes[0]
	require.Equal(t, []string{class.ID}, told)
	require.Equal(t, "S1", string(class.Check))
	require.Equal(t, "orders-#: recovered to # after power loss, # had to survive", class.Signature)
	require.EqualValues(t, 20, class.Count)
	require.Equal(t, map[string]int64{"single-node-kill": 10, "disk-faults": 10}, class.Scenarios)
	require.EqualValues(t, 1, class.First.Seed)
	require.Equal(t, "disk-faults", class.First.Scenario)
	require.Equal(t, scenarios.ExitSafety, s.ExitCode(true, true))
	require.Equal(t, "stet sim run --scenario disk-faults --seed 0x1 --canary 48", class.ReplayCommand("48"))
}

func TestSumsAreTheSameInWhateverOrderRunsEnd(t *testing.T) {
	c := fake(t, "fails", 1, 30)
	first, err := c.Run(context.Background())
	require.NoError(t, err)
	c.Jobs = 1
	second, err := c.Run(context.Background())
	require.NoError(t, err)
	second.Wall = first.Wall
	require.Equal(t, first, second)
	require.EqualValues(t, 60, first.Runs())
	require.EqualValues(t, 60*6000, first.Events)
	require.EqualValues(t, 180, first.Counters["checked.H1"])
	require.EqualValues(t, 30, first.Scenarios[1].Marks["a segment is rolled"])
	require.EqualValues(t, 30, first.Scenarios[0].Crashed)
	require.Equal(t, 30*time.Millisecond, first.Scenarios[0].Percentile(100))
	require.Regexp(t, `^campaign scenario=all seeds=1\.\.30 ok=44 failed=16 excused=0 marks=1/\d+ events_per_s=\d+ `+
		`seeds_per_s=[\d.]+ sim_wall=[\d.]+ p50_ms=15 p95_ms=29$`, first.Line())
}
