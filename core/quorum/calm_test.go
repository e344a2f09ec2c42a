package quorum

import "slices"

// calm ends all faults and runs until there is a leader that commits, and everybody who counts has
// applied it. It says whether that came about.
func (c *cluster) calm(rounds int) bool {
	for i := range c.cut {
		c.cut[i] = false
	}
	for _, m := range c.nodes {
		m.world.Disk.Fail = nil
		if m.q == nil {
			m.boot()
		}
	}
	target := uint64(0)
	for i := range rounds {
		c.drain()
		if c.settled(target) {
			return true
		}
		for _, m := range c.nodes {
			if m.q == nil {
				m.boot()
			}
			c.tick(m)
		}
		// A proposal may be lost with its leader.
		lost := target > c.judge.atMost && i%20 == 0
		if m := c.pick(leading); m != nil && (target == 0 || lost) && c.propose(m) {
			target = c.judge.atMost + 1
		}
	}
	return false
}

func (c *cluster) settled(target uint64) bool {
	conf := c.members()
	if target == 0 || len(conf.Voters) == 0 || conf.joint() {
		return false
	}
	for _, id := range slices.Concat(conf.Voters, conf.Learners) {
		if m := c.find(id); c.lives(id) && (m == nil || m.q.Applied().Index < target) {
			return false
		}
	}
	return true
}

// drain delivers and performs until nothing is left to do.
func (c *cluster) drain() {
	for range 100_000 {
		if len(c.network) > 0 {
			c.deliver(0, false)
			continue
		}
		m := c.pick(func(m *member) bool { return m.q != nil && m.world.Outstanding() > 0 })
		if m == nil {
			return
		}
		m.work(false)
	}
	violate("L", "it never comes to rest")
}
