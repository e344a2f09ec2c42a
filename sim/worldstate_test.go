package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/node"
	"stet/sim/digest"
)

// busyNode returns a world whose node has state of every kind that a talker can make.
func busyNode(t testing.TB) (*World, *Machine) {
	w := NewWorld(11)
	t.Cleanup(w.Close)
	m := w.AddMachine(testNodeConfig())
	m.Start()
	k := newTalker(w, m)
	w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(1000) })
	w.Run(2*Second, nil)
	return w, m
}

// A field of a node's state that the digest does not see could differ between two runs unnoticed.
func TestEveryFieldOfANodeMovesItsDigest(t *testing.T) {
	_, m := busyNode(t)
	for id := range node.LoopCount {
		core := m.Node().Loop(id).Core()
		start := time.Now()
		places := digest.FlipEachField(t, &core)
		t.Logf("%s: %d places in %v", id, places, time.Since(start))
		require.Greater(t, places, 20)
	}
}

func BenchmarkNodeDigest(b *testing.B) {
	_, m := busyNode(b)
	for b.Loop() {
		m.Digest()
	}
}

func BenchmarkWorldEvents(b *testing.B) {
	w, m := busyNode(b)
	k := newTalker(w, m)
	w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(1 << 30) })
	b.ResetTimer()
	for range b.N {
		w.Scheduler.Step()
	}
}
