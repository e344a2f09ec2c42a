package quorum

import (
	"fmt"
	"slices"

	"stet/core/env"
)

// roughProfile draws how rough a run is.
func (c *cluster) roughProfile() {
	r := c.rand
	c.profile = profile{
		deliver: 300, disk: 20 + r.IntN(300), tick: 30 + r.IntN(120), propose: 10 + r.IntN(60),
		lose: r.IntN(30), double: r.IntN(20), crash: r.IntN(6), restart: 4 + r.IntN(20),
		cut: r.IntN(8), heal: 4 + r.IntN(20), wipe: r.IntN(2), change: r.IntN(8),
		transfer: r.IntN(4), read: r.IntN(20), fail: r.IntN(2), tear: r.IntN(6),
	}
}

// play runs steps of random kinds.
func (c *cluster) play(steps int) {
	p := &c.profile
	weights := []int{
		p.deliver, p.disk, p.tick, p.propose, p.lose, p.double, p.crash, p.restart, p.cut, p.heal,
		p.wipe, p.change, p.transfer, p.read, p.fail, p.tear,
	}
	total := 0
	for _, w := range weights {
		total += w
	}
	for range steps {
		c.steps++
		n, kind := c.rand.IntN(total), 0
		for n >= weights[kind] {
			n -= weights[kind]
			kind++
		}
		c.step(kind)
	}
}

func (c *cluster) step(kind int) {
	switch kind {
	case 0, 5:
		if n := len(c.network); n > 0 {
			c.deliver(c.rand.IntN(n), kind == 5)
		}
	case 1:
		c.work(false)
	case 2:
		c.tick(c.pick(alive))
	case 3:
		c.propose(c.pick(leading))
	case 4:
		if n := len(c.network); n > 0 {
			i := c.rand.IntN(n)
			c.network[i] = c.network[n-1]
			c.network = c.network[:n-1]
		}
	case 6:
		if m := c.pick(alive); m != nil {
			c.count.Crashes++
			m.stop(c.rand.IntN(2) == 0)
		}
	case 7:
		if m := c.pick(func(m *member) bool { return m.q == nil }); m != nil {
			m.boot()
		}
	case 8:
		c.cut[c.rand.IntN(len(c.cut))] = true
	case 9:
		c.cut[c.rand.IntN(len(c.cut))] = false
	case 10:
		c.wipe()
	case 11:
		c.change()
	case 12:
		if m := c.pick(leading); m != nil {
			c.count.Transfers++
			m.sit()
			m.q.Transfer(0)
			m.turn()
		}
	case 13:
		c.read(c.pick(alive))
	case 14:
		if m := c.pick(alive); m != nil {
			once := true
			m.world.Disk.Fail = func(op, _ string) env.Errno {
				if op == "close" || !once {
					return env.OK
				}
				once = false
				return env.EIO
			}
		}
	case 15:
		c.work(true)
	}
}

func (c *cluster) work(tear bool) {
	m := c.pick(func(m *member) bool { return m.q != nil && m.world.Outstanding() > 0 })
	if m != nil {
		m.work(tear)
	}
}

func (c *cluster) tick(m *member) {
	if m != nil {
		m.sit()
		m.q.Tick()
		m.turn()
	}
}

func (c *cluster) propose(m *member) bool {
	if m == nil {
		return false
	}
	m.sit()
	_, ok := m.q.Propose(fmt.Appendf(nil, "%d", c.steps))
	m.turn()
	return ok
}

func (c *cluster) read(m *member) {
	if m == nil {
		return
	}
	m.nextID++
	m.sit()
	if m.q.Read(m.nextID) {
		m.asked = append(m.asked, readAsked{m.nextID, c.judge.atMost})
	}
	m.turn()
}

// members returns the membership as the newest leader knows it.
func (c *cluster) members() ConfState {
	var newest *member
	for _, m := range c.nodes {
		if leading(m) && (newest == nil || m.q.Term() > newest.q.Term()) {
			newest = m
		}
	}
	if newest == nil {
		return ConfState{}
	}
	return newest.q.Members()
}

// viable says whether those that have their directory are a majority of these voters.
func (c *cluster) viable(voters []uint64) bool {
	living := 0
	for _, id := range voters {
		if c.lives(id) {
			living++
		}
	}
	return living > len(voters)/2
}

// wipe takes a directory away, if a majority of each voter's idea of the membership is left.
func (c *cluster) wipe() {
	m := c.nodes[c.rand.IntN(len(c.nodes))]
	left := func(voters []uint64) []uint64 {
		return slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool {
			return id == m.id || !c.lives(id)
		})
	}
	for _, other := range c.nodes {
		if other.q == nil {
			return
		}
		conf := other.q.Members()
		for _, half := range [][]uint64{conf.Voters, conf.VotersOutgoing} {
			if len(half) > 0 && len(left(half)) <= len(half)/2 {
				return
			}
		}
	}
	if c.changing() {
		return
	}
	c.count.Wipes++
	m.stop(true)
	c.settle(m.place).boot()
}

// changing says whether a change of the membership is in a log and not applied everywhere.
func (c *cluster) changing() bool {
	for _, m := range c.nodes {
		if m.q == nil || m.q.members.joint() {
			return true
		}
		for _, e := range m.q.storage.entries {
			if e.GetIndex() > m.q.applied.Index && EntryKind(e.GetType()) != EntryNormal {
				return true
			}
		}
	}
	return false
}

// change proposes a change of the membership, as a controller would.
func (c *cluster) change() {
	m := c.pick(leading)
	if m == nil {
		return
	}
	conf := m.q.Members()
	var change MemberChange
	switch c.rand.IntN(3) {
	case 0:
		for _, other := range c.nodes {
			if !conf.Contains(other.id) && len(change.AddLearner) == 0 && len(conf.Learners) < 2 {
				change.AddLearner = append(change.AddLearner, other.id)
			}
		}
		if len(change.AddLearner) == 0 && len(c.nodes) < 5 && len(conf.Learners) == 0 {
			other := c.addPlace()
			other.boot()
			change.AddLearner = append(change.AddLearner, other.id)
		}
	case 1:
		for _, p := range m.q.Status().Peers {
			if p.Learner && p.Match+3 >= m.q.storage.last().Index {
				change.Promote = append(change.Promote, p.Voter)
			}
		}
		for _, id := range conf.Voters {
			if !c.lives(id) && len(change.Promote) > 0 {
				change.Remove = append(change.Remove, id)
			}
		}
	case 2:
		gone := slices.IndexFunc(conf.Voters, func(id uint64) bool { return !c.lives(id) })
		switch {
		case gone >= 0:
			change.Remove = append(change.Remove, conf.Voters[gone])
		case len(conf.Voters) > 1:
			if id := conf.Voters[c.rand.IntN(len(conf.Voters))]; id != m.id {
				change.Remove = append(change.Remove, id)
			}
		}
	}
	after := slices.DeleteFunc(slices.Concat(conf.Voters, change.Promote), func(id uint64) bool {
		return slices.Contains(change.Remove, id)
	})
	if !c.viable(after) {
		return
	}
	m.sit()
	if _, ok := m.q.ProposeMembers(change); ok {
		c.count.Changes++
	}
	m.turn()
}
