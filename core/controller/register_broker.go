package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerRegistration (key 62), versions 0 to 4. The broker epoch is the index of the registration's
// entry. A second process with the id of one that lives is refused: lives means that the connection
// over which it last spoke still stands, and that this was not too long ago.

func (c *Controller) registerBroker(r *env.Request, m *kmsg.BrokerRegistrationRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response { return registrationAnswer(code, -1) }
	if code := c.Authorize(r); code != kafka.None {
		c.respond(originOf(r), refuse(code))
		return
	}
	if !c.leads(r, refuse) {
		return
	}
	asked := registrationOf(m)
	if c.expect.taken(c, asked.Broker.ID, asked.Broker.Incarnation) {
		c.decided(r, nil, refuse(kafka.DuplicateBrokerRegistration), refuse, nil)
		return
	}
	records, epoch, code := metadata.RegisterBroker(c.queue.latest, &asked)
	if code == kafka.None {
		c.expect.heard(c, asked.Broker.ID, asked.Broker.Incarnation, r.Conn)
	}
	answer := registrationAnswer(code, epoch)
	c.decided(r, records, answer, refuse, func(index uint64) { answer.BrokerEpoch = int64(index) })
}

func registrationAnswer(
	code kafka.ErrorCode, epoch kafka.BrokerEpoch,
) *kmsg.BrokerRegistrationResponse {
	answer := kmsg.NewPtrBrokerRegistrationResponse()
	answer.ErrorCode, answer.BrokerEpoch = int16(code), int64(epoch)
	return answer
}

func registrationOf(m *kmsg.BrokerRegistrationRequest) metadata.Registration {
	asked := metadata.Registration{ClusterID: m.ClusterID}
	b := &asked.Broker
	b.ID, b.Incarnation = kafka.BrokerID(m.BrokerID), m.IncarnationID
	if m.Rack != nil {
		b.Rack = *m.Rack
	}
	for _, l := range m.Listeners {
		b.Endpoints = append(b.Endpoints, metadata.Endpoint{
			Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol,
		})
	}
	for _, f := range m.Features {
		b.Features = append(b.Features, metadata.BrokerFeature{
			Name: f.Name, Min: f.MinSupportedVersion, Max: f.MaxSupportedVersion,
		})
	}
	for _, id := range m.LogDirs {
		b.Directories = append(b.Directories, id)
	}
	return asked
}

// sessions knows which process of each broker was heard of, in this life of the controller.
type sessions struct{ all []session } // by ascending broker

type session struct {
	broker      kafka.BrokerID
	incarnation metadata.IncarnationID
	conn        env.ConnID
	at          env.Mono
}

func newSessions() sessions { return sessions{} }

func (s *sessions) find(broker kafka.BrokerID) (int, bool) {
	return slices.BinarySearchFunc(s.all, broker, func(e session, id kafka.BrokerID) int {
		return int(e.broker) - int(id)
	})
}

// heard notes a sign of life.
func (s *sessions) heard(
	c *Controller, b kafka.BrokerID, i metadata.IncarnationID, conn env.ConnID,
) {
	at, found := s.find(b)
	if !found {
		s.all = slices.Insert(s.all, at, session{})
	}
	s.all[at] = session{b, i, conn, c.now.Mono}
}

// taken says whether another process holds the broker's id.
func (s *sessions) taken(c *Controller, b kafka.BrokerID, i metadata.IncarnationID) bool {
	at, found := s.find(b)
	return found && s.all[at].incarnation != i &&
		c.now.Mono < s.all[at].at.Add(c.config.SessionTimeout)
}

// closed ends the sessions of a connection.
func (s *sessions) closed(conn env.ConnID) {
	s.all = slices.DeleteFunc(s.all, func(e session) bool { return e.conn == conn })
}
