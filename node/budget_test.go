package node

import (
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

func TestConnectionsAreResumedInTheOrderOfTheirWaiting(t *testing.T) {
	s := newConnStage(t)
	m := NewMemory(100)
	var order []int
	a := NewAcceptor(s.loop, m, "PLAINTEXT", 1000)
	conns := make([]env.ConnReader, 4)
	for i := range conns {
		conns[i] = a.Accept(&orderedWriter{name: i, order: &order}, env.ConnInfo{})
	}
	b, v := conns[0].Reserve(80)
	require.Equal(t, env.Continue, v)
	for _, i := range []int{3, 1, 2} {
		_, v := conns[i].Reserve(80)
		require.Equal(t, env.Pause, v)
	}
	conns[1].Closed(env.EReset)
	require.Empty(t, order)
	b.Release()
	require.Equal(t, []int{3, 2}, order, "a closed connection is not resumed")
}

func TestAFrameLargerThanTheBudgetIsAdmittedAlone(t *testing.T) {
	s := newConnStage(t)
	m := NewMemory(100)
	b := m.take(500, s.conn)
	require.NotNil(t, b)
	require.Nil(t, m.take(10, s.conn))
	b.Release()
	require.NotNil(t, m.take(10, s.conn))
}

func TestMemoryKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newConnStage(t)
		limit := rapid.Int64Range(1, 1<<20).Draw(t, "limit")
		m := NewMemory(limit)
		var alive []*buffer
		used := int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				size := rapid.IntRange(0, 100_000).Draw(t, "size")
				b := m.take(size, s.conn)
				require.Equal(t, used == 0 || used+int64(size) <= limit, b != nil)
				if b == nil {
					return
				}
				require.Len(t, b.Bytes(), size)
				for _, other := range alive {
					require.NotSame(t, &other.block[0], &b.block[0])
				}
				used += int64(size)
				alive = append(alive, b)
			},
			"release": func(t *rapid.T) {
				if len(alive) == 0 {
					return
				}
				i := rapid.IntRange(0, len(alive)-1).Draw(t, "i")
				b := alive[i]
				b.Retain()
				b.Release()
				require.Equal(t, used, m.Used(), "a reference is left")
				used -= int64(b.size)
				b.Release()
				alive = append(alive[:i], alive[i+1:]...)
			},
			"": func(t *rapid.T) {
				require.Equal(t, used, m.Used())
				require.LessOrEqual(t, m.kept, int64(maxKept))
			},
		})
	})
}
