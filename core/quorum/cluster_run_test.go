package quorum

import (
	"testing"

	"stet/core/invariant"
)

// seeds is how many runs a test makes.
func seeds(short uint64) uint64 {
	if invariant.Slow {
		return 20 * short
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
	for seed := range seeds(300) {
		mustRun(t, seed, func() {
			n := rough(seed).count
			sum.Elections += n.Elections
			sum.Committed += n.Committed
			sum.Crashes += n.Crashes
			sum.Wipes += n.Wipes
			sum.Changes += n.Changes
			sum.Installs += n.Installs
			sum.Reads += n.Reads
			sum.Transfers += n.Transfers
			sum.Failed += n.Failed
		})
	}
	t.Logf("%+v", sum)
}
