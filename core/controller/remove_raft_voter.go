package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/quorum"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RemoveRaftVoter (key 81), version 0 (KIP-853). The answer waits until the voter is gone. A leader
// does not remove itself: it hands over, and is asked about by whoever leads then.

func (c *Controller) removeRaftVoter(r *env.Request, m *kmsg.RemoveRaftVoterRequest) {
	refuse := func(code kafka.ErrorCode, why string) kmsg.Response {
		answer := kmsg.NewPtrRemoveRaftVoterResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), pointer(why)
		return answer
	}
	if !c.administers(r, m.ClusterID, refuse) {
		return
	}
	id := quorum.VoterOf(m.VoterDirectoryID)
	code, why := c.members.remove(c, id, kafka.BrokerID(m.VoterID))
	if code != kafka.None {
		c.respond(originOf(r), refuse(code, why))
		return
	}
	c.members.wait(c, memberRequest{origin: originOf(r), voter: id, answer: refuse},
		int32(c.config.RequestTimeout.Milliseconds()))
}

// remove begins to remove a member.
func (s *members) remove(c *Controller, id uint64, node kafka.BrokerID) (code kafka.ErrorCode, why string) {
	members := c.life.quorum.Members()
	switch {
	case !members.Contains(id) || c.recordedNode(id) != node:
		return kafka.VoterNotFound, "no member of the quorum has this node id and directory id"
	case len(members.Voters) == 1 && members.Voters[0] == id:
		return kafka.InvalidRequest, "the last voter can not be removed"
	case id == c.voter:
		c.life.quorum.Transfer(0)
		return kafka.NotController, "it leads the quorum, and hands over first: ask again"
	case !s.change(c, quorum.MemberChange{Remove: []uint64{id}}):
		return kafka.RequestTimedOut, "another change of the quorum is under way"
	}
	return kafka.None, ""
}
