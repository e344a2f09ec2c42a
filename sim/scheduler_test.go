package sim

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

func newTestScheduler(t testing.TB) *Scheduler {
	s := NewScheduler(NewTrace(nil))
	t.Cleanup(s.Close)
	return s
}

func TestEventsRunInTheOrderOfTimeThenSequence(t *testing.T) {
	s := newTestScheduler(t)
	stream := NewEntropy(1).Stream("test", 0)
	var last Time
	lastOf := map[Time]int{}
	for i := range 5000 {
		at := Time(stream.Between(0, 300))
		s.At(at, 0, KindTimer, func() {
			require.GreaterOrEqual(t, s.Now(), last)
			require.Equal(t, at, s.Now())
			if before, met := lastOf[at]; met {
				require.Greater(t, i, before, "two events of one time changed places")
			}
			last, lastOf[at] = at, i
		})
	}
	s.RunUntil(Never, nil)
	require.EqualValues(t, 5000, s.EventCount())
}

func TestRunUntilStandsAtItsBoundAndLeavesLaterEvents(t *testing.T) {
	s := newTestScheduler(t)
	ran := 0
	s.At(10, 0, KindTimer, func() { ran++ })
	s.At(11, 0, KindTimer, func() { ran++ })
	require.True(t, s.RunUntil(10, nil))
	require.Equal(t, 1, ran)
	require.EqualValues(t, 10, s.Now())
	require.True(t, s.RunUntil(20, nil))
	require.Equal(t, 2, ran)
	require.EqualValues(t, 20, s.Now())
}

func TestTasksInterleaveAtTheirWaits(t *testing.T) {
	s := newTestScheduler(t)
	var log []string
	o := s.NewOwner(1)
	for i, name := range []string{"a", "b"} {
		s.Spawn(Time(i), o, name, func() {
			for step := range 3 {
				log = append(log, fmt.Sprint(name, step))
				s.Await(10)
			}
		})
	}
	s.RunUntil(Never, nil)
	require.Equal(t, []string{"a0", "b0", "a1", "b1", "a2", "b2"}, log)
	require.Zero(t, s.TaskCount(o))
}

func TestDeadTaskNeverRunsAgainAndIsUnwound(t *testing.T) {
	s := newTestScheduler(t)
	o := s.NewOwner(1)
	var log []string
	s.Spawn(0, o, "victim", func() {
		defer func() { log = append(log, "unwound") }()
		s.Await(10)
		log = append(log, "went on")
	})
	s.Spawn(50, o, "never", func() { log = append(log, "started") })
	s.At(50, o, KindTimer, func() { log = append(log, "event") })
	s.At(5, 0, KindTimer, func() { s.Kill(o, Killed) })
	s.RunUntil(Never, nil)
	require.Equal(t, []string{"unwound"}, log)
	require.Zero(t, s.TaskCount(o))
	s.Spawn(0, o, "late", func() { log = append(log, "late") })
	s.After(0, o, KindTimer, func() { log = append(log, "late") })
	s.RunUntil(Never, nil)
	require.Equal(t, []string{"unwound"}, log)
}

func TestTaskThatKillsItsOwnerEndsAtItsNextWait(t *testing.T) {
	s := newTestScheduler(t)
	o := s.NewOwner(1)
	other, after := false, false
	s.Spawn(0, o, "other", func() { s.Await(100); other = true })
	s.Spawn(1, o, "killer", func() {
		s.Kill(o, PowerLost)
		require.Zero(t, s.TaskCount(o)-1, "the other task is gone at once")
		s.Await(1)
		after = true
	})
	s.RunUntil(Never, nil)
	require.False(t, other || after)
	require.Zero(t, s.TaskCount(o))
}

func TestWaitsInDefersOfADeadTaskDoNotWait(t *testing.T) {
	s := newTestScheduler(t)
	o := s.NewOwner(1)
	s.Spawn(0, o, "victim", func() {
		defer func() { s.Await(10); t.Error("a dead task waited") }()
		s.Await(10)
	})
	s.At(5, 0, KindTimer, func() { s.Kill(o, Killed) })
	s.RunUntil(Never, nil)
}

func TestTaskMustNotRecoverFromItsCrash(t *testing.T) {
	s := newTestScheduler(t)
	o := s.NewOwner(1)
	s.Spawn(0, o, "sinner", func() {
		defer func() { _ = recover() }()
		s.Await(10)
	})
	s.At(5, 0, KindTimer, func() { s.Kill(o, Killed) })
	defer func() {
		require.Equal(t, invariant.Violation{What: "a task recovered from its crash"},
			errors.Unwrap(recover().(TaskPanic)))
	}()
	s.RunUntil(Never, nil)
}

func TestPanicOfATaskCarriesItsNameAndStack(t *testing.T) {
	s := newTestScheduler(t)
	boom := errors.New("boom")
	s.Spawn(0, 0, "bomb", func() { panic(boom) })
	defer func() {
		p := recover().(TaskPanic)
		require.Equal(t, "bomb", p.Task)
		require.ErrorIs(t, p, boom)
		require.Contains(t, p.Stack, "TestPanicOfATask")
	}()
	s.RunUntil(Never, nil)
}

func TestParkedTaskWaitsForUnpark(t *testing.T) {
	s := newTestScheduler(t)
	var woke Time
	var task *Task
	s.Spawn(0, s.NewOwner(1), "sleeper", func() {
		task = s.Current()
		s.Park()
		woke = s.Now()
	})
	s.At(70, 0, KindTimer, func() { s.Unpark(task, 5); s.Unpark(task, 1) })
	s.RunUntil(Never, nil)
	require.EqualValues(t, 75, woke)
}

func TestDeathHooksRunInOrderBeforeTasksUnwind(t *testing.T) {
	s := newTestScheduler(t)
	o := s.NewOwner(3)
	var log []string
	s.AtDeath(o, func(c Cause) { log = append(log, "first "+c.String()) })
	s.AtDeath(o, func(Cause) { log = append(log, "second") })
	s.Spawn(0, o, "task", func() { defer func() { log = append(log, "task") }(); s.Park() })
	s.RunUntil(1, nil)
	s.Kill(o, PowerLost)
	s.Kill(o, Killed)
	require.Equal(t, []string{"first power loss", "second", "task"}, log)
}

func TestRunUntilDoesNotRunPastItsBoundForTheDeadOrThePaused(t *testing.T) {
	s := newTestScheduler(t)
	dead, paused := s.NewOwner(1), s.NewOwner(2)
	var log []Time
	s.At(5, dead, KindTimer, func() { t.Error("dead") })
	s.At(5, paused, KindTimer, func() { log = append(log, s.Now()) })
	s.At(6, paused, KindTimer, func() { log = append(log, s.Now()+1000) })
	s.At(15, 0, KindTimer, func() { log = append(log, s.Now()) })
	s.Kill(dead, Killed)
	s.Pause(paused, 20)
	s.RunUntil(10, nil)
	require.Empty(t, log)
	s.RunUntil(30, nil)
	require.Equal(t, []Time{15, 20, 1020}, log, "in their order")
}

func TestCloseEndsEveryCoroutine(t *testing.T) {
	s := newTestScheduler(t)
	unwound := 0
	for range 10 {
		s.Spawn(0, s.NewOwner(1), "sleeper", func() { defer func() { unwound++ }(); s.Park() })
	}
	s.Spawn(0, 0, "of the world", func() { defer func() { unwound++ }(); s.Park() })
	s.RunUntil(10, nil)
	s.Close()
	require.Equal(t, 11, unwound)
	require.False(t, s.Step())
}

func TestCoroutinesAreReused(t *testing.T) {
	s := newTestScheduler(t)
	for i := range 1000 {
		s.Spawn(Time(i*10), 0, "short", func() { s.Await(5) })
	}
	s.RunUntil(Never, nil)
	require.Len(t, s.all, 1)
}

func BenchmarkPlainEvents(b *testing.B) {
	s := newTestScheduler(b)
	n := 0
	var again func()
	again = func() {
		if n++; n < b.N {
			s.After(Time(n%97), 0, KindTimer, again)
		}
	}
	for range 64 {
		s.After(0, 0, KindTimer, again)
	}
	b.ResetTimer()
	s.RunUntil(Never, nil)
}

func BenchmarkTaskSwitch(b *testing.B) {
	s := newTestScheduler(b)
	s.Spawn(0, 0, "task", func() {
		for range b.N {
			s.Await(1)
		}
	})
	b.ResetTimer()
	s.RunUntil(Never, nil)
}

func BenchmarkSpawn(b *testing.B) {
	s := newTestScheduler(b)
	for b.Loop() {
		s.Spawn(0, 0, "task", func() { s.Await(1) })
		s.RunUntil(Never, nil)
	}
}
