package controller

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
)

// lead takes note of whether this controller leads, and says whether it has begun to. It leads from
// the moment on at which an entry of its own term is committed: before that it does not know all
// that was ever committed, and must show nothing and decide nothing (Raft, figure 8; KAFKA-12619).
func (c *Controller) lead() (began bool) {
	q := c.life.quorum
	if c.term != 0 && (!q.Leading() || q.Term() != c.term) {
		c.trace(TraceResigned, int64(c.term), int64(c.image.Index()), 0,
			"does not lead the metadata quorum any more")
		c.resign()
	}
	if c.term != 0 || !q.Leading() {
		return false
	}
	c.term = q.Term()
	c.life.failures = 0
	c.elected()
	return c.fatal == nil
}

// elected begins to lead: the image is complete, and proposals go on top of it.
func (c *Controller) elected() {
	c.queue.restart(c.image)
	c.sessions.restart(c)
	c.members.restart()
	c.balance.restart(c)
	invariant.Sometimes(c.image.ClusterID() != "" && len(c.peers.all) > 0, invariant.MarkControllerFailover)
	c.trace(TraceElected, int64(c.term), int64(c.image.Index()), 0, "leads the metadata quorum")
	if c.image.ClusterID() == "" {
		id := c.config.ClusterID
		if id == "" {
			id = c.newClusterID()
		}
		voters := c.members.missing(c)
		features := metadata.Features{Level: metadata.FoundingLevel(c.config.Levels, voters)}
		records := []metadata.Record{&metadata.ClusterRecord{ID: id, Features: features}}
		records = append(records, metadata.FoundingSettings(c.config.Topic)...)
		c.propose(append(records, voters...))
		return
	}
	for _, e := range c.image.IgnoredSettings(c.config.Topic) {
		c.trace(TraceIgnored, 0, int64(c.image.Index()), 0, fmt.Sprintf("%s=%s is ignored: "+
			"the cluster has another value, which all brokers share; alter it for the default broker",
			e.Name, e.Value))
	}
}

// resign ends a term: whoever waits is refused, and what is known only to the one who leads is
// forgotten.
func (c *Controller) resign() {
	c.term = 0
	c.queue.refuse(c)
	c.fetch.refuse(c)
	c.members.refuse(c)
	c.sessions.clear()
	c.balance.stop()
}

// newClusterID draws 16 bytes in the form that Kafka prints: 22 characters, not beginning with '-'.
func (c *Controller) newClusterID() string {
	for {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], c.identity.Uint64())
		binary.LittleEndian.PutUint64(b[8:], c.identity.Uint64())
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}

// Ready says whether the controller leads and answers requests.
func (c *Controller) Ready() bool {
	return c.term != 0 && c.image.ClusterID() != ""
}

// leaderID is what others are told of who leads.
func (c *Controller) leaderID() kafka.BrokerID {
	switch {
	case c.Ready():
		return c.config.NodeID
	case c.life.quorum == nil || c.life.quorum.Leader() == c.voter:
		return kafka.NoBroker
	}
	return c.nodeOf(c.life.quorum.Leader())
}

// leaderAddress is where others reach who leads: a broker may have been started before that
// controller joined. "" if that is this node, which it has reached already, or is not known.
func (c *Controller) leaderAddress() string {
	if p := c.peers.ofNode(c.leaderID()); p != nil {
		return p.addr
	}
	return ""
}
