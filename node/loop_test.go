package node

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

func TestASubmitterIsKeptForAFewTurnsOnly(t *testing.T) {
	s := newStage()
	core := &scriptCore{}
	l := NewLoop(BrokerLoop, core, s, nil)
	core.say = func([]env.Event, *env.Effects) { l.Tick(s) } // there is always more
	l.Tick(s)
	s.step(0)
	require.Len(t, core.turns, maxTurnsInARow)
	require.Len(t, s.loops, 1, "another run is asked for")

	core.say = nil
	s.drain()
	require.Len(t, core.turns, maxTurnsInARow+1)
	require.False(t, l.running)
}

func TestEventsOfALoopKeepTheirOrder(t *testing.T) {
	s := newStage()
	core := &scriptCore{}
	l := NewLoop(BrokerLoop, core, s, nil)
	next := env.Token(1)
	submit := func(n int) {
		for range n {
			l.Submit(s, env.Event{Kind: env.EventJobDone, Token: next},
				env.Event{Kind: env.EventJobDone, Token: next + 1})
			next += 2
		}
	}
	core.say = func([]env.Event, *env.Effects) {
		if next < 40 {
			submit(2)
		}
	}
	submit(3)
	require.Len(t, s.loops, 1, "a loop is runnable once")
	s.drain()
	require.Len(t, core.turns[0], 6, "one turn takes all that is there")
	for i, ev := range core.told {
		require.Equal(t, env.Token(i+1), ev.Token)
	}
	require.EqualValues(t, len(core.turns), l.Turns())
}

func TestTwoLoopsSubmitToEachOther(t *testing.T) {
	s := newStage()
	var cores [LoopCount]scriptCore
	var loops [LoopCount]*Loop
	for id := range LoopCount {
		loops[id] = NewLoop(id, &cores[id], s, nil)
		other := (id + 1) % LoopCount
		cores[id].say = func(in []env.Event, _ *env.Effects) {
			for _, ev := range in {
				if ev.N > 0 {
					loops[other].Submit(s, env.Event{Kind: env.EventConfig, N: ev.N - 1})
				}
			}
		}
	}
	loops[BrokerLoop].Submit(s, env.Event{Kind: env.EventConfig, N: 99})
	s.drain()
	require.Len(t, cores[BrokerLoop].told, 50)
	require.Len(t, cores[ControllerLoop].told, 50)
}

// threads runs a loop on whatever goroutine finds it idle, as production does.
type threads struct{ *stage }

func (w threads) Runnable(l *Loop) { l.Run(w) }

func TestManySubmittersNeitherLoseNorReorderEvents(t *testing.T) {
	const submitters, each = 4, 2000
	core := &scriptCore{}
	w := threads{newStage()}
	l := NewLoop(BrokerLoop, core, w.stage, nil)
	var wait sync.WaitGroup
	for i := range submitters {
		wait.Go(func() {
			for n := range each {
				l.Submit(w, env.Event{Kind: env.EventConfig, Conn: env.ConnID(i), N: int64(n)})
			}
		})
	}
	wait.Wait()
	require.Len(t, core.told, submitters*each)
	var next [submitters]int64
	for _, ev := range core.told {
		require.Equal(t, next[ev.Conn], ev.N)
		next[ev.Conn]++
	}
}

// TestTheEndOfAConnectionIsToldLast: a request that came before the end is answered by a turn that
// does not know of it yet, and the lease of that answer is reported before the end.
func TestTheEndOfAConnectionIsToldLast(t *testing.T) {
	s := newConnStage(t)
	s.deliver(t, fetchFrame())
	s.core.say = func(in []env.Event, out *env.Effects) {
		s.turn(t, in, out)
		if len(s.waiting) > 0 {
			s.answer(0, true)
			s.turn(t, nil, out) // emits it in the same turn
		}
	}
	s.conn.Closed(env.EReset)
	s.drain()
	require.Zero(t, s.memory.Used())
	var kinds []env.EventKind
	for _, ev := range s.core.told {
		if ev.Kind != env.EventTick {
			kinds = append(kinds, ev.Kind)
		}
	}
	require.Equal(t, []env.EventKind{
		env.EventConnOpened, env.EventRequest, env.EventResponseSent, env.EventConnClosed,
	}, kinds)
	require.Empty(t, s.loop.conns)
}
