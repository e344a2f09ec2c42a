package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerRegistration (key 62), versions 0 to 4. The broker epoch is the index of the registration's
// entry. A session begins with it, and a second process with the id of a live one is refused.

func (c *Controller) registerBroker(r *env.Request, m *kmsg.BrokerRegistrationRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response { return registrationAnswer(code, -1) }
	if !c.admits(r, refuse) {
		return
	}
	asked := registrationOf(m)
	id := asked.Broker.ID
	records, epoch, code := metadata.RegisterBroker(c.queue.latest, &asked, c.sessions.live(c, id))
	answer := registrationAnswer(code, epoch)
	c.decided(r, records, answer, refuse, func(index uint64) { answer.BrokerEpoch = int64(index) })
	if b := c.queue.latest.Broker(id); code == kafka.None && b != nil && b.Incarnation == asked.Broker.Incarnation {
		c.sessions.touch(c, r.Conn, id, b.Epoch, 0)
	}
}

func registrationAnswer(
	code kafka.ErrorCode, epoch kafka.BrokerEpoch,
) *kmsg.BrokerRegistrationResponse {
	answer := kmsg.NewPtrBrokerRegistrationResponse()
	answer.ErrorCode, answer.BrokerEpoch = int16(code), int64(epoch)
	return answer
}

func registrationOf(m *kmsg.BrokerRegistrationRequest) metadata.Registration {
	asked := metadata.Registration{
		ClusterID: m.ClusterID, PreviousEpoch: kafka.BrokerEpoch(m.PreviousBrokerEpoch),
	}
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
		b.Features = append(b.Features, metadata.FeatureRange{
			Name: f.Name, Min: f.MinSupportedVersion, Max: f.MaxSupportedVersion,
		})
	}
	for _, id := range m.LogDirs {
		b.Directories = append(b.Directories, id)
	}
	return asked
}
