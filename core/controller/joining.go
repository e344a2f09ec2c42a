package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joining is how a controller that is no member of the quorum asks to become one: because its
// directory is new, or was lost, or because it was removed (KIP-853's automatic join). It asks the
// leader whom the others name until it is a member.
type joining struct {
	at   env.Mono // when to ask, at the earliest
	told string   // the last refusal in the log
}

// wanted says whether this controller is no member and wants to be one.
func (j *joining) wanted(c *Controller) bool {
	switch q := c.life.quorum; {
	case !c.config.AutoJoin || c.stopping():
		return false
	case q == nil:
		return c.bootstrap.outsider(c)
	default:
		members := q.Members()
		return !members.Contains(c.voter) || j.removed(c)
	}
}

// silentElections is how many election timeouts pass without a leader until a member asks the others
// whether it still is one: more than an election takes.
const silentElections = 3

// forlorn says whether this member has heard no leader for longer than an election takes.
func (j *joining) forlorn(c *Controller) bool {
	q := c.life.quorum
	return q != nil && q.Silence() > silentElections*c.config.Quorum.ElectionTicks
}

// removed says whether this controller takes itself for a member, and the leader does not: nobody
// sends a member the entry that removes it once that entry is committed. It goes on asking for votes,
// which whoever has heard of a leader does not answer. Nor can it do harm if the word is out of date:
// what it asks for is decided by whoever leads, and committed or not.
func (j *joining) removed(c *Controller) bool {
	if !j.forlorn(c) {
		return false
	}
	leader, _ := j.leader(c)
	return leader != nil && leader.hello.Stranger
}

// astray says whether this controller hears a leader and has no link to it: the leader has found it, and
// not the other way round, if it joined while this one was down. What it is sent it can not answer, so it
// would stay behind for ever.
func (j *joining) astray(c *Controller) bool {
	q := c.life.quorum
	return q != nil && q.Leader() != 0 && q.Leader() != c.voter && c.peers.ofVoter(q.Leader()) == nil
}

// step asks the others who leads, if that is not known well enough, and the leader.
func (j *joining) step(c *Controller) {
	wanted := j.wanted(c)
	if wanted || j.forlorn(c) || j.astray(c) {
		c.peers.refresh(c)
	}
	if !wanted {
		return
	}
	if c.now.Mono < j.at {
		return
	}
	p, clusterID := j.leader(c)
	if p == nil || p.link.asking(wire.KeyAddRaftVoter) {
		return
	}
	j.at = c.now.Mono.Add(c.config.JoinPause)
	m := kmsg.NewPtrAddRaftVoterRequest()
	m.Version, m.ClusterID = 1, pointer(clusterID)
	m.TimeoutMillis = int32(c.config.RequestTimeout.Milliseconds())
	m.VoterID, m.VoterDirectoryID = int32(c.config.NodeID), c.directory
	// The answer must not hold up raft's messages, which go over the same link.
	m.AckWhenCommitted = false
	for _, e := range controllerEndpoints(c.config.Advertise) {
		l := kmsg.NewAddRaftVoterRequestListener()
		l.Name, l.Host, l.Port = e.Name, e.Host, e.Port
		m.Listeners = append(m.Listeners, l)
	}
	p.link.send(c, m, asked{})
}

// leader returns the leader of the latest term that a formed controller names, if there is a link to
// it.
func (j *joining) leader(c *Controller) (leader *peer, clusterID string) {
	term := int64(0)
	for _, p := range c.peers.all {
		if h := p.hello; h != nil && h.Formed && h.LeaderID >= 0 && h.Term > term {
			term = h.Term
			leader, clusterID = c.peers.ofNode(kafka.BrokerID(h.LeaderID)), h.ClusterID
		}
	}
	if leader == nil || leader.hello == nil {
		return nil, ""
	}
	return leader, clusterID
}

// answered takes the leader's answer. Only what would not go away by itself is worth a line.
func (j *joining) answered(c *Controller, p *peer, m *kmsg.AddRaftVoterResponse) {
	why := ""
	switch code := kafka.ErrorCode(m.ErrorCode); code {
	case kafka.None, kafka.NotController, kafka.RequestTimedOut:
	default:
		why = "does not add this controller: " + code.String()
		if m.ErrorMessage != nil {
			why += ": " + *m.ErrorMessage
		}
	}
	if why != "" && why != j.told {
		c.trace(TracePeer, int64(p.node), 0, 0, "controller "+p.addr+" "+why)
	}
	j.told = why
}

// deadline is when to ask.
func (j *joining) deadline(c *Controller) env.Mono {
	if !j.wanted(c) || j.at <= c.now.Mono {
		return env.Never // what it waits for then is an event
	}
	return j.at
}
