package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UpdateRaftVoter (key 82), version 0 (KIP-853): a voter tells where it listens. The answer waits until
// that is committed. Which levels of features a voter supports is in its hello; the range of Kafka's
// kraft.version in the request is not needed, and only has to be one.

func (c *Controller) updateRaftVoter(r *env.Request, m *kmsg.UpdateRaftVoterRequest) {
	refuse := func(code kafka.ErrorCode, _ string) kmsg.Response {
		answer := kmsg.NewPtrUpdateRaftVoterResponse()
		answer.ErrorCode = int16(code)
		answer.CurrentLeader.LeaderID = int32(c.leaderID())
		if c.life.quorum != nil {
			answer.CurrentLeader.LeaderEpoch = int32(c.life.quorum.Term())
		}
		return answer
	}
	if !c.administers(r, m.ClusterID, refuse) {
		return
	}
	records, code := c.members.update(c, m)
	if code != kafka.None {
		c.respond(originOf(r), refuse(code, ""))
		return
	}
	c.decided(r, records, refuse(kafka.None, ""), func(code kafka.ErrorCode) kmsg.Response {
		return refuse(code, "")
	}, nil)
}

// update returns the record that an update makes, or none if it says what is known.
func (s *members) update(c *Controller, m *kmsg.UpdateRaftVoterRequest) ([]metadata.Record, kafka.ErrorCode) {
	id := quorum.VoterOf(m.VoterDirectoryID)
	members, old := c.life.quorum.Members(), c.queue.latest.Voter(id)
	switch {
	case m.CurrentLeaderEpoch < int32(c.term):
		return nil, kafka.FencedLeaderEpoch
	case m.CurrentLeaderEpoch > int32(c.term):
		return nil, kafka.UnknownLeaderEpoch
	case len(m.Listeners) == 0, m.KRaftVersionFeature.MinSupportedVersion > m.KRaftVersionFeature.MaxSupportedVersion:
		return nil, kafka.InvalidRequest
	case !members.Contains(id) || old == nil || old.Node != kafka.BrokerID(m.VoterID),
		old.Directory != m.VoterDirectoryID:
		return nil, kafka.VoterNotFound
	}
	v := *old
	v.Endpoints = nil
	for _, l := range m.Listeners {
		if l.Name == "" || l.Host == "" || l.Port == 0 {
			return nil, kafka.InvalidRequest
		}
		v.Endpoints = append(v.Endpoints, metadata.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port})
	}
	if sameVoter(&v, old) {
		return nil, kafka.None
	}
	return []metadata.Record{&metadata.VoterRecord{Voter: v}}, kafka.None
}
