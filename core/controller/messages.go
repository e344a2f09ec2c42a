package controller

import (
	"errors"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/quorum"
	"stet/core/wire"
)

// QuorumMessages (Stet's own key), version 0: raft's messages of another controller. They are
// stepped before the turn ends, and answered at once: an answer says that they arrived.

func (c *Controller) quorumMessages(r *env.Request, m *wire.QuorumMessagesRequest) {
	code := c.Authorize(r)
	if code == kafka.None {
		code = c.receive(m)
	}
	c.respond(originOf(r), &wire.QuorumMessagesResponse{ErrorCode: int16(code)})
}

func (c *Controller) receive(m *wire.QuorumMessagesRequest) kafka.ErrorCode {
	id := c.clusterID()
	if id != "" && m.ClusterID != "" && id != m.ClusterID {
		return kafka.InconsistentClusterID
	}
	if uint64(m.ToVoter) != c.voter {
		return kafka.InconsistentVoterSet
	}
	if c.bootstrap.waiting() {
		// Whoever is written to is a member. The sender must be known to belong to a quorum at this
		// time, so that nobody is bound by a voice from the past.
		p := c.peers.ofVoter(uint64(m.FromVoter))
		if p == nil || !p.hello.Formed {
			return kafka.BrokerNotAvailable
		}
		c.bootstrap.form(c, nil)
	}
	if c.life.quorum == nil {
		return kafka.BrokerNotAvailable
	}
	for _, data := range m.Messages {
		if err := c.life.quorum.Receive(data); err != nil {
			if errors.Is(err, quorum.ErrForgotten) {
				c.fail(err)
			}
			c.trace(TracePeer, m.FromVoter, 0, 0, "a controller's message is refused: "+err.Error())
			return kafka.InvalidRequest
		}
	}
	return kafka.None
}
