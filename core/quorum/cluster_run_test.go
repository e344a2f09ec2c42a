package quorum

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// seeds is how many runs a test makes.
func seeds(short uint64) uint64 {
	if invariant.Slow {
		return 10 * short
	}
	return short
}

// rough plays one run with every kind of trouble and ends it well.
func rough(seed uint64) *cluster {
	c := newCluster(seed, 1+int(seed%5))
	c.roughProfile()
	for range 3 {
		c.play(700)
		if !c.calm(300) {
			violate("L6", "no leader commits though all is well again\n%v", c)
		}
	}
	c.isolate()
	return c
}

// isolate cuts the leader off from the others: it must notice, before long.
func (c *cluster) isolate() {
	m := c.pick(leading)
	if len(m.q.Members().Voters) == 1 {
		return
	}
	c.cut[m.place] = true
	for range 3 * c.config.ElectionTicks {
		c.tick(m)
		c.drain()
	}
	if m.q.Role() == Leader {
		violate("L6", "voter %d leads on without the others", m.id)
	}
}

func TestQuorumKeepsRaftsPromises(t *testing.T) {
	var sum counts
	replaced := invariant.Marks()[invariant.MarkRaftTailReplaced].Hits
	for seed := range seeds(300) {
		mustRun(t, seed, func() { sum.add(&rough(seed).count) })
	}
	t.Logf("%+v", sum)
	for name, reached := range map[string]int{
		"elections": sum.Elections, "crashes": sum.Crashes, "wiped directories": sum.Wipes,
		"changes of the membership": sum.Changes, "installed snapshots": sum.Installs,
		"reads": sum.Reads, "transfers": sum.Transfers, "failed disks": sum.Failed,
		"replaced tails": int(invariant.Marks()[invariant.MarkRaftTailReplaced].Hits - replaced),
	} {
		require.Greater(t, reached, 10, "these runs hardly have any "+name)
	}
}

func (n *counts) add(m *counts) {
	n.Elections += m.Elections
	n.Committed += m.Committed
	n.Crashes += m.Crashes
	n.Wipes += m.Wipes
	n.Changes += m.Changes
	n.Installs += m.Installs
	n.Reads += m.Reads
	n.Transfers += m.Transfers
	n.Failed += m.Failed
}
