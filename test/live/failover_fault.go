package live

import (
	"errors"
	"time"
)

// failover is a fault that befalls the leader of partitions.
type failover struct {
	name string
	// strike lets victim fail, in a cluster in which the other nodes go on.
	strike func(c *Cluster, victim int) error
}

// failovers are the ways in which leaders fail. The last ones are planned, or no failure at all.
var failovers = []failover{
	{"kill", func(c *Cluster, victim int) error { return c.kill(victim) }},
	{"pause", func(c *Cluster, victim int) error { return c.Nodes[victim-1].Pause() }},
	{"link down", func(c *Cluster, victim int) error { return c.Down(victim) }},
	{"mute", func(c *Cluster, victim int) error { return c.cutFrom(victim, true) }},
	{"deafen", func(c *Cluster, victim int) error { return c.cutFrom(victim, false) }},
	{"isolate", func(c *Cluster, victim int) error {
		return errors.Join(c.cutFrom(victim, true), c.cutFrom(victim, false))
	}},
	{"stop", func(c *Cluster, victim int) error { return c.Nodes[victim-1].Stop() }},
	{"pause half a second", func(c *Cluster, victim int) error {
		if err := c.Nodes[victim-1].Pause(); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
		return c.Nodes[victim-1].Resume()
	}},
}

// cutFrom cuts what a node sends to all others, or what they send to it.
func (c *Cluster) cutFrom(node int, sends bool) error {
	var failures []error
	for other := 1; other <= len(c.Nodes); other++ {
		switch {
		case other == node:
		case sends:
			failures = append(failures, c.Cut(node, other))
		default:
			failures = append(failures, c.Cut(other, node))
		}
	}
	return errors.Join(failures...)
}
