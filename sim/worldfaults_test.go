package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// wild is a plan that lets nothing be.
type wild struct{ s *Stream }

func (p wild) Decide(op DiskOp) DiskFault {
	if !p.s.Chance(1, 60) {
		return DiskFault{}
	}
	writes := op.Kind == DiskWrite || op.Kind == DiskCreate || op.Kind == DiskMkdir
	switch p.s.Index(6) {
	case 0:
		return DiskFault{Kind: DiskEIO, Bytes: p.s.Between(0, op.Len)}
	case 1:
		if op.Kind == DiskWrite {
			return DiskFault{Kind: DiskShort, Bytes: p.s.Between(0, op.Len)}
		}
	case 2:
		if writes {
			return DiskFault{Kind: DiskFull, Bytes: p.s.Between(0, op.Len)}
		}
	case 3:
		return DiskFault{Kind: DiskSlow, Delay: p.s.Delay(0, Second)}
	case 4:
		return DiskFault{Kind: DiskKillDuring}
	case 5:
		return DiskFault{Kind: DiskPowerDuring}
	}
	return DiskFault{}
}

// faultyWorld runs a node on a wild disk for half a minute, then heals it, and returns how many
// sends of each client were acknowledged, and the hash.
func faultyWorld(t testing.TB, seed uint64) (acked []int, hash string) {
	w := NewWorld(seed)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	m.BootLeap = Minute
	m.Disk.Plan = wild{w.Entropy.Stream("wild", 0)}
	m.Start()
	var talkers []*talker
	for range 3 {
		k := newTalker(w, m)
		talkers = append(talkers, k)
		w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(100) })
	}
	for range 60 {
		w.Run(500*Millisecond, nil)
		if !m.Running() {
			m.Start()
		}
	}
	m.Disk.Plan = NoDiskFaults{}
	if !m.Running() {
		m.Start()
	}
	w.Run(Minute, nil)
	for _, k := range talkers {
		acked = append(acked, k.acked)
	}
	sum, err := w.Finish()
	require.NoError(t, err)
	return acked, sum.String()
}

func TestNodeServesAgainOnceItsDiskIsHealed(t *testing.T) {
	for seed := range uint64(20) {
		acked, hash := faultyWorld(t, seed)
		require.Equal(t, []int{100, 100, 100}, acked, "seed %d", seed)
		_, again := faultyWorld(t, seed)
		require.Equal(t, hash, again, "seed %d", seed)
	}
}
