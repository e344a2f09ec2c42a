package controller

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AddRaftVoter (key 80), versions 0 and 1 (KIP-853). The voter comes as a learner and is promoted
// when it has caught up, in place of whoever had its node id before; the answer waits for that,
// unless the request says that it does not want to (v1).

func (c *Controller) addRaftVoter(r *env.Request, m *kmsg.AddRaftVoterRequest) {
	refuse := func(code kafka.ErrorCode, why string) kmsg.Response {
		answer := kmsg.NewPtrAddRaftVoterResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), pointer(why)
		return answer
	}
	if !c.administers(r, m.ClusterID, refuse) {
		return
	}
	v := metadata.Voter{
		ID: quorum.VoterOf(m.VoterDirectoryID), Node: kafka.BrokerID(m.VoterID),
		Directory: m.VoterDirectoryID,
	}
	for _, l := range m.Listeners {
		v.Endpoints = append(v.Endpoints, metadata.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port})
	}
	code, why := c.members.add(c, &v)
	if code != kafka.None || m.Version >= 1 && !m.AckWhenCommitted {
		c.respond(originOf(r), refuse(code, why))
		return
	}
	c.members.wait(c, memberRequest{
		origin: originOf(r), voter: v.ID, joins: true, answer: refuse,
	}, m.TimeoutMillis)
}

// add begins to add a voter.
func (s *members) add(c *Controller, v *metadata.Voter) (code kafka.ErrorCode, why string) {
	members := c.life.quorum.Members()
	switch {
	case v.Node < 0 || v.Directory == metadata.DirectoryID{}:
		return kafka.InvalidRequest, "a voter has a node id and a directory id"
	case slices.Contains(members.Voters, v.ID):
		return kafka.DuplicateVoter, "the voter belongs to the quorum already"
	case v.Node == c.config.NodeID:
		return kafka.DuplicateVoter, "the voter has the node id of the leader"
	case members.Contains(v.ID):
		return kafka.None, "" // it is coming
	}
	if !s.settled(c.life.quorum) {
		return kafka.RequestTimedOut, "another change of the quorum is under way"
	}
	if p := c.peers.ofVoter(v.ID); p != nil {
		v.Features = levels(&p.hello.QuorumController)
		if level := c.queue.latest.Features().Level; !metadata.Supports(v.Features, level) {
			invariant.Sometimes(true, invariant.MarkNodeOutdated)
			return kafka.UnsupportedVersion, outdated(&p.hello.QuorumController, level)
		}
	}
	if _, ok := c.propose([]metadata.Record{&metadata.VoterRecord{Voter: *v}}); !ok {
		return kafka.RequestTimedOut, "too much is under way"
	}
	if !s.change(c, quorum.MemberChange{AddLearner: []uint64{v.ID}}) {
		return kafka.RequestTimedOut, "another change of the quorum is under way"
	}
	return kafka.None, ""
}

// administers says whether a request about the quorum's members can be decided; if not, it refuses
// this one. A cluster id is optional.
func (c *Controller) administers(
	r *env.Request, clusterID *string, refuse func(kafka.ErrorCode, string) kmsg.Response,
) bool {
	code, why := c.Authorize(r), ""
	switch {
	case code != kafka.None:
	case !c.Ready():
		c.Metrics.Refused++
		code = kafka.NotController
	case clusterID != nil && *clusterID != c.image.ClusterID():
		code, why = kafka.InconsistentClusterID, "this is cluster "+c.image.ClusterID()
	default:
		return true
	}
	c.respond(originOf(r), refuse(code, why))
	return false
}

// maxMemberWait bounds how long a change of the quorum is waited for, whatever a request says.
const maxMemberWait = time.Minute

func waitOf(timeoutMs int32) time.Duration {
	return min(time.Duration(max(timeoutMs, 0))*time.Millisecond, maxMemberWait)
}
