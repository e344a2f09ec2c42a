package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// announcing is how a member that listens elsewhere than the metadata says tells the leader so. The
// leader may not reach it then, so that it has to find the leader by what the others say.
type announcing struct {
	at   env.Mono // when to tell, at the earliest
	told string   // the last refusal in the log
}

// wanted says whether the metadata has another address of this member.
func (a *announcing) wanted(c *Controller) bool {
	endpoints := controllerEndpoints(c.config.Advertise)
	if c.life.quorum == nil || c.life.quorum.Leading() || len(endpoints) == 0 || c.stopping() {
		return false
	}
	members, v := c.life.quorum.Members(), c.image.Voter(c.voter)
	return v != nil && members.Contains(c.voter) && !slices.Equal(v.Endpoints, endpoints)
}

// step tells the leader.
func (a *announcing) step(c *Controller) {
	if !a.wanted(c) {
		return
	}
	c.peers.refresh(c)
	if c.now.Mono < a.at {
		return
	}
	p, clusterID := c.joining.leader(c)
	if p == nil || p.link.asking(wire.KeyUpdateRaftVoter) {
		return
	}
	a.at = c.now.Mono.Add(c.config.JoinPause)
	m := kmsg.NewPtrUpdateRaftVoterRequest()
	m.ClusterID, m.CurrentLeaderEpoch = pointer(clusterID), int32(p.hello.Term)
	m.VoterID, m.VoterDirectoryID = int32(c.config.NodeID), c.directory
	for _, e := range controllerEndpoints(c.config.Advertise) {
		l := kmsg.NewUpdateRaftVoterRequestListener()
		l.Name, l.Host, l.Port = e.Name, e.Host, e.Port
		m.Listeners = append(m.Listeners, l)
	}
	p.link.send(c, m, asked{})
}

// answered takes the leader's answer. Only what would not go away by itself is worth a line.
func (a *announcing) answered(c *Controller, p *peer, m *kmsg.UpdateRaftVoterResponse) {
	why := ""
	switch code := kafka.ErrorCode(m.ErrorCode); code {
	case kafka.None, kafka.NotController, kafka.RequestTimedOut,
		kafka.FencedLeaderEpoch, kafka.UnknownLeaderEpoch:
	default:
		why = "does not take this controller's address: " + code.String()
	}
	if why != "" && why != a.told {
		c.trace(TracePeer, int64(p.node), 0, 0, "controller "+p.addr+" "+why)
	}
	a.told = why
}

// deadline is when to tell.
func (a *announcing) deadline(c *Controller) env.Mono {
	if !a.wanted(c) || a.at <= c.now.Mono {
		return env.Never // what it waits for then is an event
	}
	return a.at
}
