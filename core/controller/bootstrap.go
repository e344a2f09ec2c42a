package controller

import (
	"cmp"
	"slices"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"
)

// bootstrap is how a fresh directory comes to a quorum, without a step that formats it.
//
// Only the founder, the lowest node of the list, founds a quorum, and only at a moment at which
// every other controller of the list has said, to this life of it, that it is fresh too and has the
// same list. So two halves can not found apart, and a founder that has lost its directory founds no
// second quorum while anybody remembers the first. The founding voters are all of the list, as the
// directories that they have. The others take over the founding membership from any formed
// controller that names their own voter in it. Whose voter is not in it is an outsider and waits to
// be added (joining).
//
// A hello may have been answered by a process that is gone. That does no harm while its directory
// stands. If it does not, somebody with the same node id and another voter is there now. So when a
// fresh controller hears of another founder than before, it forgets what it was told and asks
// again: an answer to a question of now can not come from the one who was replaced. The founder
// does likewise for each of its peers.
type bootstrap struct {
	nodes    []int32              // of the list, ascending
	found    *quorum.Recovered    // of a fresh directory that waits; nil when it does not
	founders []wire.QuorumFounder // of the quorum, once known
	voter    int64                // of the founder's node, as last heard; 0: never
	round    uint64               // of questions; it rises when voter changes
	reason   waiting              // why it waits
}

func newBootstrap(config *Config) bootstrap {
	var b bootstrap
	for _, a := range config.Controllers {
		b.nodes = append(b.nodes, int32(a.Node))
	}
	if len(b.nodes) == 0 {
		b.nodes = []int32{int32(config.NodeID)}
	}
	slices.Sort(b.nodes)
	return b
}

// waiting says whether this directory is fresh and belongs to no quorum yet.
func (b *bootstrap) waiting() bool { return b.found != nil }

// begin takes what recovery has found. A controller that is alone in its list founds at once.
func (b *bootstrap) begin(c *Controller, r *quorum.Recovered) {
	if !r.Fresh {
		if r.Start.Index == 1 {
			b.founders = foundersOf(r.Members.Voters)
		}
		c.form(r)
		return
	}
	b.found, b.founders = r, nil
	if len(b.nodes) == 1 && b.nodes[0] == int32(c.config.NodeID) {
		b.form(c, []wire.QuorumFounder{b.self(c)})
	}
}

// foundersOf makes founders of which no more is known than their voter ids.
func foundersOf(voters []uint64) []wire.QuorumFounder {
	all := make([]wire.QuorumFounder, len(voters))
	for i, v := range voters {
		all[i] = wire.QuorumFounder{VoterID: int64(v), NodeID: int32(kafka.NoBroker)}
	}
	return all
}

func (b *bootstrap) self(c *Controller) wire.QuorumFounder {
	return wire.QuorumFounder{
		VoterID: int64(c.voter), NodeID: int32(c.config.NodeID), DirectoryID: c.directory,
	}
}

// form ends the waiting: with founders as one of them, without as an outsider that was added.
func (b *bootstrap) form(c *Controller, founders []wire.QuorumFounder) {
	r := b.found
	b.found, b.founders = nil, founders
	if len(founders) > 0 {
		var voters []uint64
		for i := range founders {
			voters = append(voters, uint64(founders[i].VoterID))
		}
		quorum.Form(r, voters)
	}
	c.form(r)
}

// heard notes who is at the founder's node.
func (b *bootstrap) heard(c *Controller, o *wire.QuorumController) {
	if o.NodeID != b.nodes[0] || o.VoterID == b.voter {
		return
	}
	b.voter = o.VoterID
	b.round++
	if b.waiting() {
		for _, p := range c.peers.all {
			p.hello, p.at = nil, min(p.at, c.now.Mono)
		}
	}
}

// step founds a quorum, or takes over that of another, if it can.
func (b *bootstrap) step(c *Controller) {
	if !b.waiting() {
		return
	}
	c.peers.refresh(c)
	founders, agree := b.founded(c)
	switch {
	case !agree:
		b.reason.note(c, "there are two quorums: controllers name different founders")
	case slices.ContainsFunc(founders, func(f wire.QuorumFounder) bool { return f.VoterID == int64(c.voter) }):
		c.trace(TraceFormed, int64(len(founders)), 0, 0, "adopts the founding of the quorum")
		b.form(c, founders)
	default:
		if why := b.obstacle(c); why != "" {
			b.reason.note(c, why)
			return
		}
		b.foundNow(c)
	}
}

// founded returns the founders that formed controllers name, if any do. That they disagree is the one
// thing that must never be.
func (b *bootstrap) founded(c *Controller) (founders []wire.QuorumFounder, agree bool) {
	for _, p := range c.peers.all {
		if p.hello == nil || !p.hello.Formed || len(p.hello.Founders) == 0 {
			continue
		}
		if founders != nil && !sameVoters(founders, p.hello.Founders) {
			return nil, false
		}
		founders = p.hello.Founders
	}
	return founders, true
}

func sameVoters(a, b []wire.QuorumFounder) bool {
	return slices.EqualFunc(a, b, func(x, y wire.QuorumFounder) bool { return x.VoterID == y.VoterID })
}

// foundNow founds a quorum of everybody who is listed, all of whom are fresh.
func (b *bootstrap) foundNow(c *Controller) {
	founders := []wire.QuorumFounder{b.self(c)}
	for _, p := range c.peers.all {
		founders = append(founders, wire.QuorumFounder{
			VoterID: p.hello.VoterID, NodeID: p.hello.NodeID, DirectoryID: p.hello.DirectoryID,
		})
	}
	slices.SortFunc(founders, func(x, y wire.QuorumFounder) int { return cmp.Compare(x.VoterID, y.VoterID) })
	c.trace(TraceFormed, int64(len(founders)), 0, 0, "founds the metadata quorum")
	b.form(c, founders)
}

// founder describes a founder that may not be there, or returns nil.
func (b *bootstrap) founder(c *Controller, id uint64) *metadata.Voter {
	for i := range b.founders {
		f := &b.founders[i]
		if uint64(f.VoterID) != id || f.NodeID < 0 {
			continue
		}
		v := &metadata.Voter{ID: id, Node: kafka.BrokerID(f.NodeID), Directory: f.DirectoryID}
		if p := c.peers.ofNode(v.Node); p != nil {
			v.Endpoints = controllerEndpoints(p.addr)
		}
		return v
	}
	return nil
}

// outsider says whether there is a quorum that this fresh directory is not a founder of.
func (b *bootstrap) outsider(c *Controller) bool {
	return b.waiting() && slices.ContainsFunc(c.peers.all, func(p *peer) bool {
		return p.hello != nil && p.hello.Formed
	})
}
