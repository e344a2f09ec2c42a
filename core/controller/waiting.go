package controller

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
)

// waiting tells people why a fresh directory belongs to no quorum yet: in one line once it has stood
// for a while, and in another only when the reason is another one.
type waiting struct {
	why   string
	since env.Mono
	told  string // what the log says
}

// note takes the reason of this moment.
func (w *waiting) note(c *Controller, why string) {
	if why != w.why {
		w.why, w.since = why, c.now.Mono
	}
	if w.why != w.told && c.now.Mono >= w.since.Add(c.config.JoinPause) {
		w.told = w.why
		c.trace(TraceFormed, 0, 0, 0, w.why)
	}
}

// deadline is when the reason has stood long enough.
func (w *waiting) deadline(c *Controller) env.Mono {
	if !c.bootstrap.waiting() || w.why == w.told {
		return env.Never
	}
	return w.since.Add(c.config.JoinPause)
}

// obstacle says why this fresh directory can not found a quorum now, or "" if it can.
func (b *bootstrap) obstacle(c *Controller) string {
	const found = " to found the metadata quorum"
	first := kafka.BrokerID(b.nodes[0])
	switch {
	case b.outsider(c) && c.config.AutoJoin:
		return "is not one of the founders of the metadata quorum, and asks to be added"
	case b.outsider(c):
		return "is not one of the founders of the metadata quorum, and waits to be added"
	case first != c.config.NodeID:
		if p := c.peers.ofNode(first); p != nil && p.hello != nil {
			if why := b.otherList(p); why != "" {
				return why
			}
		}
		return "waits for controller " + b.name(c, first) + found
	}
	var silent []string
	for _, node := range b.nodes[1:] {
		if p := c.peers.ofNode(kafka.BrokerID(node)); p == nil || p.hello == nil {
			silent = append(silent, b.name(c, kafka.BrokerID(node)))
		}
	}
	switch len(silent) {
	case 0:
	case 1:
		return "waits for controller " + silent[0] + found
	default:
		return "waits for controllers " + strings.Join(silent, ", ") + found
	}
	for i, p := range c.peers.all {
		if why := b.otherList(p); why != "" {
			return why
		}
		copied := func(o *peer) bool { return o.voter() == p.voter() }
		if j := slices.IndexFunc(c.peers.all[:i], copied); j >= 0 {
			return fmt.Sprintf("can not found the metadata quorum: controllers %s and %s have copies of one directory",
				b.name(c, c.peers.all[j].node), b.name(c, p.node))
		}
	}
	return ""
}

// otherList says how the list of a controller, which has said who it is, differs from this one's.
func (b *bootstrap) otherList(p *peer) string {
	if slices.Equal(p.hello.Nodes, b.nodes) {
		return ""
	}
	return fmt.Sprintf("can not found the metadata quorum: this one lists the controllers %v, controller %d (%s) lists %v",
		b.nodes, p.node, p.addr, p.hello.Nodes)
}

// name returns how people know a controller of the list.
func (b *bootstrap) name(c *Controller, node kafka.BrokerID) string {
	if p := c.peers.ofNode(node); p != nil {
		return fmt.Sprintf("%d (%s)", node, p.addr)
	}
	return fmt.Sprint(node)
}
