package node

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// orderedWriter notes who is resumed.
type orderedWriter struct {
	scriptWriter
	name  int
	order *[]int
}

func (w *orderedWriter) Resume() { *w.order = append(*w.order, w.name) }

// budgetStage is a few connections that share one budget.
type budgetStage struct {
	memory  *Memory
	conns   []*Conn
	resumed []int // connections, in the order of their Resume
}

func newBudgetStage(t require.TestingT, limit int64, conns int) *budgetStage {
	s := &budgetStage{memory: NewMemory(limit)}
	a := NewAcceptor(newConnStage(t).loop, s.memory, "PLAINTEXT", 100<<20)
	for i := range conns {
		w := &orderedWriter{name: i, order: &s.resumed}
		s.conns = append(s.conns, a.Accept(w, env.ConnInfo{}).(*Conn))
	}
	return s
}

// reserve asks for a frame and returns its buffer, nil if the connection has to wait.
func (s *budgetStage) reserve(t require.TestingT, conn, size int) env.Buffer {
	b, v := s.conns[conn].Reserve(int32(size))
	require.Equal(t, b == nil, v == env.Pause)
	return b
}

func TestConnectionsAreResumedInTheOrderOfTheirWaiting(t *testing.T) {
	s := newBudgetStage(t, 100, 4)
	b := s.reserve(t, 0, 80)
	for _, i := range []int{3, 1, 2} {
		require.Nil(t, s.reserve(t, i, 40))
	}
	s.conns[1].Closed(env.EReset)
	require.Empty(t, s.resumed)
	b.Release()
	require.Equal(t, []int{3, 2}, s.resumed, "a closed connection is not resumed")
}

func TestALargeFrameIsNotOvertakenBySmallOnes(t *testing.T) {
	s := newBudgetStage(t, 100, 4)
	first, second := s.reserve(t, 0, 60), s.reserve(t, 1, 30)
	require.Nil(t, s.reserve(t, 2, 90))
	first.Release()
	require.Nil(t, s.reserve(t, 3, 20), "it would fit, but another waits")
	require.Empty(t, s.resumed)
	second.Release()
	require.Equal(t, []int{2}, s.resumed)
	large := s.reserve(t, 2, 90)
	require.NotNil(t, large, "what it was resumed for is kept for it")
	large.Release()
	require.Equal(t, []int{2, 3}, s.resumed)
}

func TestOnlyAsManyAreResumedAsFindBudget(t *testing.T) {
	s := newBudgetStage(t, 100, 4)
	b := s.reserve(t, 0, 100)
	for i := 1; i < 4; i++ {
		require.Nil(t, s.reserve(t, i, 50))
	}
	b.Release()
	require.Equal(t, []int{1, 2}, s.resumed)
	require.EqualValues(t, 100, s.memory.Used(), "granted bytes are in use")
}

func TestAClosedConnectionGivesUpItsPlaceAndItsGrant(t *testing.T) {
	s := newBudgetStage(t, 100, 4)
	b := s.reserve(t, 0, 60)
	require.Nil(t, s.reserve(t, 1, 90))
	require.Nil(t, s.reserve(t, 2, 30))
	s.conns[1].Closed(env.EReset)
	require.Equal(t, []int{2}, s.resumed, "who waited behind it goes on")
	require.Nil(t, s.reserve(t, 3, 80))
	s.conns[2].Closed(env.EReset)
	b.Release()
	require.Equal(t, []int{2, 3}, s.resumed)
	require.EqualValues(t, 80, s.memory.Used(), "what was granted to the closed one is free")
}

func TestWaitingForBudgetAllocatesNothing(t *testing.T) {
	s := newBudgetStage(t, 100, 8)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b := s.memory.take(100, &s.conns[0].claim)
		for _, c := range s.conns[1:] {
			s.memory.take(100, &c.claim)
		}
		for _, c := range s.conns[1:] {
			b.Release()
			b = s.memory.take(100, &c.claim)
		}
		b.Release()
		s.resumed = s.resumed[:0]
	}))
}

func TestAFrameLargerThanTheBudgetIsAdmittedAlone(t *testing.T) {
	s := newBudgetStage(t, 100, 3)
	b := s.reserve(t, 0, 500)
	require.NotNil(t, b)
	require.Nil(t, s.reserve(t, 1, 500))
	require.Nil(t, s.reserve(t, 2, 10))
	b.Release()
	require.Equal(t, []int{1}, s.resumed)
	s.reserve(t, 1, 500).Release()
	require.NotNil(t, s.reserve(t, 2, 10))
}

// TestMemoryServesInOrderAndKeepsCount compares the budget with a model: a line of connections, of
// which the front is served whenever its bytes fit.
func TestMemoryServesInOrderAndKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1<<20).Draw(t, "limit")
		s := newBudgetStage(t, limit, 6)
		var alive []*buffer
		var line []waiting
		var closed [6]bool
		granted := map[*claim]int{}
		used := int64(0)
		fits := func(size int) bool { return used == 0 || used+int64(size) <= limit }
		advance := func() {
			for len(line) > 0 && fits(line[0].size) {
				used += int64(line[0].size)
				granted[line[0].claim] = line[0].size
				line = line[1:]
			}
		}
		hold := func(b env.Buffer, size int) {
			require.Len(t, b.Bytes(), size)
			for _, other := range alive {
				require.NotSame(t, &other.block[0], &b.(*buffer).block[0])
			}
			alive = append(alive, b.(*buffer))
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				i := rapid.IntRange(0, 5).Draw(t, "conn")
				c := s.conns[i]
				size, resumed := granted[&c.claim]
				waits := slices.ContainsFunc(line, func(w waiting) bool { return w.claim == &c.claim })
				if closed[i] || waits {
					return
				}
				if resumed {
					delete(granted, &c.claim)
					hold(s.reserve(t, i, size), size)
					return
				}
				size = rapid.IntRange(14, 100_000).Draw(t, "size")
				b := s.reserve(t, i, size)
				if b == nil {
					require.True(t, len(line) > 0 || !fits(size))
					line = append(line, waiting{&c.claim, size})
					return
				}
				require.True(t, len(line) == 0 && fits(size))
				used += int64(size)
				hold(b, size)
			},
			"release": func(t *rapid.T) {
				if len(alive) == 0 {
					return
				}
				i := rapid.IntRange(0, len(alive)-1).Draw(t, "i")
				b := alive[i]
				b.Retain()
				b.Release()
				require.Equal(t, used, s.memory.Used(), "a reference is left")
				used -= int64(b.size)
				b.Release()
				alive = slices.Delete(alive, i, i+1)
				advance()
			},
			"close": func(t *rapid.T) {
				i := rapid.IntRange(0, 60).Draw(t, "seldom")
				if i > 5 || closed[i] {
					return
				}
				c := s.conns[i]
				closed[i] = true
				line = slices.DeleteFunc(line, func(w waiting) bool { return w.claim == &c.claim })
				used -= int64(granted[&c.claim])
				delete(granted, &c.claim)
				c.Closed(env.EReset)
				advance()
			},
			"": func(t *rapid.T) {
				require.Equal(t, used, s.memory.Used())
				require.Equal(t, len(line), len(s.memory.waiters)-s.memory.head)
				for i, c := range s.conns {
					_, is := granted[&c.claim]
					require.Equal(t, is, c.claim.state == claimGranted, "connection %d", i)
				}
				require.LessOrEqual(t, s.memory.kept, int64(maxKept))
			},
		})
	})
}
