package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// members changes who belongs to the quorum, one change at a time. The steps follow from the state
// alone, so that a controller that begins to lead goes on where the last one stopped:
//
//   - a member of which the metadata says nothing, or something old, gets a record;
//   - a learner that has caught up becomes a voter, and whoever had its node id before leaves in the
//     same change;
//   - what the metadata says of somebody who is no member any more is removed.
type members struct {
	changing uint64          // index of the last change that this term has proposed
	waiting  []memberRequest // AddRaftVoter and RemoveRaftVoter
	sample   uint64          // the end of the log a tick ago
	reports  []report        // ascending by voter
	looked   *metadata.Image // at which there was no step to take; nil: to look again
}

// memberRequest waits until a voter has come or gone.
type memberRequest struct {
	origin
	voter  uint64
	joins  bool
	until  env.Mono
	answer func(kafka.ErrorCode, string) kmsg.Response
}

// report is what the leader knows of a member's progress in time.
type report struct {
	voter             uint64
	heardMs, caughtMs int64 // wall clock, milliseconds; -1: never in this term
	upToDate          bool  // it has all that there was a tick ago
}

func (s *members) restart() {
	*s = members{}
}

// settled says whether the last change is applied, so that another may be proposed.
func (s *members) settled(q *quorum.Quorum) bool {
	m := q.Members()
	return s.changing <= q.Applied().Index && len(m.VotersOutgoing) == 0
}

// change proposes a change; ok is false if another one is under way.
func (s *members) change(c *Controller, m quorum.MemberChange) (ok bool) {
	q := c.life.quorum
	if !s.settled(q) {
		return false
	}
	index, ok := q.ProposeMembers(m)
	if ok {
		s.changing = index
	}
	return ok
}

// step takes the next step, and says whether it has proposed anything.
func (s *members) step(c *Controller) (proposed bool) {
	if !c.Ready() {
		return false
	}
	s.answer(c)
	q := c.life.quorum
	if s.looked == c.image || !s.settled(q) {
		return false
	}
	s.looked = c.image
	if records := append(s.missing(c), s.surplus(c)...); len(records) > 0 {
		_, ok := c.propose(records)
		return ok
	}
	m := q.Members()
	if orphans := s.orphans(c, &m); len(orphans) > 0 {
		return s.change(c, quorum.MemberChange{Remove: orphans})
	}
	for _, learner := range m.Learners {
		if s.caughtUp(learner) && s.change(c, s.promotion(c, learner, &m)) {
			return true
		}
	}
	return false
}

// promotion makes a voter of a learner, in place of those who had its node id before.
func (s *members) promotion(c *Controller, learner uint64, m *quorum.ConfState) quorum.MemberChange {
	change := quorum.MemberChange{Promote: []uint64{learner}}
	node := c.nodeOf(learner)
	for _, other := range slices.Concat(m.Voters, m.Learners) {
		if other != learner && other != c.voter && node != kafka.NoBroker && c.recordedNode(other) == node {
			change.Remove = append(change.Remove, other)
		}
	}
	invariant.Sometimes(true, invariant.MarkVoterPromoted)
	invariant.Sometimes(len(change.Remove) > 0, invariant.MarkVoterReplaced)
	return change
}

// recordedNode returns the node of a member as the metadata has it. Links tell only of those who are
// there.
func (c *Controller) recordedNode(member uint64) kafka.BrokerID {
	if v := c.image.Voter(member); v != nil {
		return v.Node
	}
	return kafka.NoBroker
}

// orphans returns voters whose directories were lost before anything was said of them: the metadata
// has no record of them, and somebody else is at every node of the list, which founders come from.
func (s *members) orphans(c *Controller, m *quorum.ConfState) (orphans []uint64) {
	for _, node := range c.bootstrap.nodes {
		if node != int32(c.config.NodeID) {
			if p := c.peers.ofNode(kafka.BrokerID(node)); p == nil || p.hello == nil {
				return nil
			}
		}
	}
	for _, id := range m.Voters {
		if c.queue.latest.Voter(id) == nil && !c.nodeIsThere(id) {
			orphans = append(orphans, id)
		}
	}
	return orphans
}

// nodeIsThere says whether a member is this one, or at the other end of a link.
func (c *Controller) nodeIsThere(id uint64) bool {
	return id == c.voter || c.peers.ofVoter(id) != nil
}

// missing returns records of the members of which the metadata says too little.
func (s *members) missing(c *Controller) (records []metadata.Record) {
	m := c.life.quorum.Members()
	for _, id := range slices.Concat(m.Voters, m.Learners) {
		old := c.queue.latest.Voter(id)
		v := c.member(id)
		if v != nil && id != c.voter && old != nil && len(old.Endpoints) > 0 {
			v.Endpoints = old.Endpoints // that is its own to tell (announcing)
		}
		if v != nil && (old == nil || c.nodeIsThere(id) && !sameVoter(v, old)) {
			records = append(records, &metadata.VoterRecord{Voter: *v})
		}
	}
	return records
}

// member describes a member that is at the other end of a link, or a founder, or this one; nil if it
// is neither.
func (c *Controller) member(id uint64) *metadata.Voter {
	self := c.describe()
	v := &metadata.Voter{ID: id, Node: c.config.NodeID, Directory: c.directory, Features: levels(&self)}
	v.Endpoints = controllerEndpoints(c.config.Advertise)
	if id != c.voter {
		p := c.peers.ofVoter(id)
		if p == nil {
			return c.bootstrap.founder(c, id)
		}
		v.Node, v.Directory, v.Features = p.node, p.hello.DirectoryID, levels(&p.hello.QuorumController)
		v.Endpoints = controllerEndpoints(p.addr)
	}
	return v
}

// surplus returns records that remove what is said of those who are no members.
func (s *members) surplus(c *Controller) (records []metadata.Record) {
	m := c.life.quorum.Members()
	for v := range c.queue.latest.Voters() {
		if !m.Contains(v.ID) {
			records = append(records, &metadata.VoterRemovalRecord{ID: v.ID})
		}
	}
	return records
}

// observe samples the progress of all members, once a tick.
func (s *members) observe(c *Controller) {
	if !c.Ready() {
		return
	}
	s.looked = nil
	status := c.life.quorum.Status()
	old := s.reports
	s.reports = nil
	for _, p := range status.Peers {
		r := report{voter: p.Voter, heardMs: -1, caughtMs: -1}
		if i := slices.IndexFunc(old, func(o report) bool { return o.voter == p.Voter }); i >= 0 {
			r = old[i]
		}
		r.upToDate = p.RecentActive && !p.Snapshot && p.Match >= s.sample && s.sample > 0
		if p.RecentActive {
			r.heardMs = c.now.WallMs
		}
		if r.upToDate {
			r.caughtMs = c.now.WallMs
		}
		s.reports = append(s.reports, r)
	}
	s.sample = status.Last.Index
}

func (s *members) report(id uint64) *report {
	for i := range s.reports {
		if s.reports[i].voter == id {
			return &s.reports[i]
		}
	}
	return nil
}

func (s *members) caughtUp(id uint64) bool {
	r := s.report(id)
	return r != nil && r.upToDate
}

// wait has a request wait for its voter.
func (s *members) wait(c *Controller, r memberRequest, timeoutMs int32) {
	r.until = c.now.Mono.Add(waitOf(timeoutMs))
	s.waiting = append(s.waiting, r)
}

// answer answers whoever waited long enough.
func (s *members) answer(c *Controller) {
	m := c.life.quorum.Members()
	s.waiting = slices.DeleteFunc(s.waiting, func(r memberRequest) bool {
		switch {
		case r.joins && slices.Contains(m.Voters, r.voter), !r.joins && !m.Contains(r.voter):
			c.respond(r.origin, r.answer(kafka.None, ""))
		case c.now.Mono >= r.until:
			c.respond(r.origin, r.answer(kafka.RequestTimedOut, "the change is not done yet"))
		default:
			return false
		}
		return true
	})
}

// refuse answers all, when this controller stops leading: what becomes of a change that is not
// applied is not known.
func (s *members) refuse(c *Controller) {
	if c.life.quorum != nil {
		s.answer(c)
	}
	for i := range s.waiting {
		c.Metrics.Refused++
		c.respond(s.waiting[i].origin, s.waiting[i].answer(kafka.NotController, ""))
	}
	*s = members{}
}

func (s *members) forget(conn env.ConnID) { s.waiting = dropConn(s.waiting, conn) }

// deadline is when the first request has waited long enough.
func (s *members) deadline() env.Mono {
	at := env.Never
	for i := range s.waiting {
		at = min(at, s.waiting[i].until)
	}
	return at
}
