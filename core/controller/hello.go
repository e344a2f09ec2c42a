package controller

import (
	"fmt"
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"
)

// QuorumHello (Stet's own key), version 0: two controllers tell each other who they are and what
// they know of the quorum. Whoever does not fit is refused and changes nothing.

// known says whether this controller can say who it is: it has opened its directory, and what the
// directory is a member of is durable.
func (c *Controller) known() bool {
	return c.bootstrap.waiting() || c.life.quorum != nil && c.life.quorum.Begun()
}

// describe says who this controller is.
func (c *Controller) describe() wire.QuorumController {
	level := c.config.Levels
	return wire.QuorumController{
		MinLevel: level.Min, MaxLevel: level.Max,
		ClusterID: c.clusterID(), NodeID: int32(c.config.NodeID), DirectoryID: c.directory,
		VoterID: int64(c.voter), Formed: !c.bootstrap.waiting(), Nodes: c.bootstrap.nodes,
	}
}

// clusterID returns the cluster's id, or the one that is expected, or "".
func (c *Controller) clusterID() string {
	if id := c.image.ClusterID(); id != "" {
		return id
	}
	return c.config.ClusterID
}

// misfit says why another controller can not belong to this one's quorum.
func (c *Controller) misfit(o *wire.QuorumController) (code kafka.ErrorCode, why string) {
	id := c.clusterID()
	switch {
	case id != "" && o.ClusterID != "" && id != o.ClusterID:
		return kafka.InconsistentClusterID, fmt.Sprintf("node %d is of cluster %s, node %d of cluster %s",
			o.NodeID, o.ClusterID, c.config.NodeID, id)
	case o.NodeID == int32(c.config.NodeID):
		return kafka.InconsistentVoterSet, fmt.Sprintf("two controllers are node %d", o.NodeID)
	case uint64(o.VoterID) != quorum.VoterOf(o.DirectoryID):
		return kafka.InvalidVoterKey, fmt.Sprintf("node %d has the voter id of another directory", o.NodeID)
	case uint64(o.VoterID) == c.voter:
		return kafka.InvalidVoterKey, fmt.Sprintf("nodes %d and %d have copies of one directory",
			c.config.NodeID, o.NodeID)
	case c.image.Features().Level != 0 && !metadata.Supports(levels(o), c.image.Features().Level):
		invariant.Sometimes(true, invariant.MarkNodeOutdated)
		return kafka.UnsupportedVersion, outdated(o, c.image.Features().Level)
	}
	return kafka.None, ""
}

// outdated says why the software of another controller can not read the log.
func outdated(o *wire.QuorumController, level int16) string {
	return fmt.Sprintf("feature level %d is in force, and controller %d supports %d to %d: upgrade its software",
		level, o.NodeID, o.MinLevel, o.MaxLevel)
}

func (c *Controller) quorumHello(r *env.Request, m *wire.QuorumHelloRequest) {
	answer := &wire.QuorumHelloResponse{LeaderID: int32(kafka.NoBroker)}
	code, why := c.Authorize(r), ""
	switch {
	case code != kafka.None:
	case !c.known():
		code, why = kafka.BrokerNotAvailable, "the controller has not opened its directory"
	default:
		answer.QuorumController = c.describe()
		if code, why = c.misfit(&m.QuorumController); code == kafka.None {
			c.heard(&m.QuorumController)
			answer.Founders = slices.Clone(c.bootstrap.founders)
			c.tellLeader(answer)
			answer.Stranger = c.stranger(uint64(m.VoterID))
		}
	}
	answer.ErrorCode, answer.ErrorMessage = int16(code), why
	c.respond(originOf(r), answer)
}

func (c *Controller) tellLeader(answer *wire.QuorumHelloResponse) {
	if q := c.life.quorum; q != nil {
		answer.LeaderVoter, answer.Term = int64(q.Leader()), int64(q.Term())
		answer.LeaderID = int32(c.nodeOf(q.Leader()))
		answer.LeaderAddress = c.leaderAddress()
	}
}

// stranger says whether this controller leads the quorum and a voter is no member of it.
func (c *Controller) stranger(voter uint64) bool {
	if !c.Ready() {
		return false
	}
	members := c.life.quorum.Members()
	return !members.Contains(voter)
}

// heard takes the hello of another controller. If the directory at its node is another than was
// known, nothing that the former one said holds any more.
func (c *Controller) heard(o *wire.QuorumController) {
	if p := c.peers.ofNode(kafka.BrokerID(o.NodeID)); p != nil && p.hello != nil &&
		p.hello.VoterID != o.VoterID {
		p.hello, p.at = nil, c.now.Mono
	}
	c.bootstrap.heard(c, o)
}

// greeted takes the answer to a hello.
func (c *Controller) greeted(p *peer, a *asked, m *wire.QuorumHelloResponse) {
	p.hello = nil
	why := ""
	switch code := kafka.ErrorCode(m.ErrorCode); {
	case code == kafka.BrokerNotAvailable:
		p.again(c)
		return
	case code != kafka.None:
		why = "refuses this controller: " + code.String() + ": " + m.ErrorMessage
	case m.NodeID != int32(p.node):
		why = fmt.Sprintf("is node %d", m.NodeID)
	default:
		_, why = c.misfit(&m.QuorumController)
	}
	if why != "" {
		c.complain(p, why)
		if len(p.addrs) > 1 {
			c.peers.lost(c, p)
			p.link.close(c, env.OK)
		}
		p.again(c)
		return
	}
	if c.bootstrap.waiting() && a.round != c.bootstrap.round {
		p.at = c.now.Mono // what it says may be older than what was heard since
		return
	}
	p.hello, p.told, p.found = m, "", p.addr
	c.peers.learn(c, kafka.ControllerAddress{Node: kafka.BrokerID(m.LeaderID), Addr: m.LeaderAddress})
}

// complain logs what is wrong with a peer, once.
func (c *Controller) complain(p *peer, why string) {
	if p.told != why {
		p.told = why
		c.trace(TracePeer, int64(p.node), 0, 0, "controller "+p.addr+" "+why)
	}
}

// nodeOf returns the node of a voter, or kafka.NoBroker if it is not known.
func (c *Controller) nodeOf(voter uint64) kafka.BrokerID {
	if voter == 0 {
		return kafka.NoBroker
	}
	if voter == c.voter {
		return c.config.NodeID
	}
	if p := c.peers.ofVoter(voter); p != nil {
		return p.node
	}
	if v := c.image.Voter(voter); v != nil {
		return v.Node
	}
	return kafka.NoBroker
}
