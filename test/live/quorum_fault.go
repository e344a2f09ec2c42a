package live

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is something that befalls a cluster for a while, and is mended by mend.
type fault struct {
	name   string
	strike func(c *Cluster, victims []int) error // a random order of the nodes
}

// faults are the ways in which controllers fail here. Kills are SIGKILL, pauses SIGSTOP; cuts drop
// what one node sends to another, between the two and not to clients.
var faults = []fault{
	{"kill one", func(c *Cluster, v []int) error { return c.kill(v[0]) }},
	{"kill two", func(c *Cluster, v []int) error { return c.kill(v[:2]...) }},
	{"kill all", func(c *Cluster, v []int) error { return c.kill(v...) }},
	{"kill in turn", func(c *Cluster, v []int) error {
		var failures []error
		for _, node := range v {
			failures = append(failures, c.kill(node), c.Nodes[node-1].Launch())
			time.Sleep(300 * time.Millisecond)
		}
		return errors.Join(failures...)
	}},
	{"pause one", func(c *Cluster, v []int) error { return c.Nodes[v[0]-1].Pause() }},
	{"pause two", func(c *Cluster, v []int) error {
		return errors.Join(c.Nodes[v[0]-1].Pause(), c.Nodes[v[1]-1].Pause())
	}},
	{"pause one, kill one", func(c *Cluster, v []int) error {
		return errors.Join(c.Nodes[v[0]-1].Pause(), c.kill(v[1]))
	}},
	{"isolate one", func(c *Cluster, v []int) error {
		return errors.Join(c.cutBoth(v[0], v[1]), c.cutBoth(v[0], v[2]))
	}},
	{"isolate all", func(c *Cluster, v []int) error {
		return errors.Join(c.cutBoth(v[0], v[1]), c.cutBoth(v[0], v[2]), c.cutBoth(v[1], v[2]))
	}},
	{"cut a pair", func(c *Cluster, v []int) error { return c.cutBoth(v[0], v[1]) }},
	{"mute one", func(c *Cluster, v []int) error {
		return errors.Join(c.Cut(v[0], v[1]), c.Cut(v[0], v[2]))
	}},
	{"deafen one", func(c *Cluster, v []int) error {
		return errors.Join(c.Cut(v[1], v[0]), c.Cut(v[2], v[0]))
	}},
	{"isolate one, kill one", func(c *Cluster, v []int) error {
		return errors.Join(c.cutBoth(v[0], v[1]), c.cutBoth(v[0], v[2]), c.kill(v[1]))
	}},
}

func (c *Cluster) kill(nodes ...int) error {
	var failures []error
	for _, node := range nodes {
		failures = append(failures, c.Nodes[node-1].Kill())
	}
	return errors.Join(failures...)
}

func (c *Cluster) cutBoth(a, b int) error { return errors.Join(c.Cut(a, b), c.Cut(b, a)) }

// mend undoes all faults: links carry, processes run. A node that ended on its own is an error.
func (c *Cluster) mend() error {
	failures := []error{c.Heal()}
	for i, b := range c.Nodes {
		if b.Running() {
			failures = append(failures, b.Resume())
			if b.exited() {
				failures = append(failures, fmt.Errorf("node %d ended on its own", i+1))
			}
		}
	}
	return errors.Join(append(failures, c.Launch())...)
}

// draw returns a fault and the order of its victims. Half of the time the leader is the first, if
// there is one.
func draw(random *rand.Rand, nodes, leader int) (fault, []int) {
	victims := random.Perm(nodes)
	for i := range victims {
		victims[i]++
		if victims[i] == leader && random.IntN(2) == 0 {
			victims[0], victims[i] = victims[i], victims[0]
		}
	}
	return faults[random.IntN(len(faults))], victims
}
