package broker

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// registration is the broker's standing with the controller: registered under an epoch, kept by
// heartbeats, and caught up once the image has the registration.
type registration struct {
	under    bool // a registration or a heartbeat is under way
	epoch    kafka.BrokerEpoch
	known    bool // epoch is valid
	caughtUp bool // the image has had this registration
	unfenced bool // the image has had it unfenced, since the process began
	again    timer
}

// begin registers when everything that it takes is known.
func (r *registration) begin(b *Broker) {
	if r.known || r.under || r.again.place != 0 || !b.link.up() || b.phase != phaseRunning ||
		b.image.ClusterID() == "" || b.fatal != nil {
		return
	}
	r.under = true
	b.link.send(b, r.request(b), registering{})
}

func (r *registration) request(b *Broker) *kmsg.BrokerRegistrationRequest {
	m := kmsg.NewPtrBrokerRegistrationRequest()
	m.Version = 4
	m.BrokerID = int32(b.config.NodeID)
	m.ClusterID = b.image.ClusterID()
	m.IncarnationID = b.identity.Incarnation
	for _, l := range b.config.Listeners {
		listener := kmsg.NewBrokerRegistrationRequestListener()
		listener.Name, listener.Host, listener.Port = l.Name, l.Host, uint16(l.Port)
		m.Listeners = append(m.Listeners, listener)
	}
	if b.config.Rack != "" {
		m.Rack = &b.config.Rack
	}
	for _, f := range metadata.SupportedFeatures() {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = f.Name, f.Min, f.Max
		m.Features = append(m.Features, feature)
	}
	for i := range b.directories {
		id, _ := kafka.ParseTopicID(b.directories[i].meta.DirectoryID) // the same 22 characters
		m.LogDirs = append(m.LogDirs, id)
	}
	m.PreviousBrokerEpoch = int64(b.previousEpoch())
	return m
}

// registering takes the answer to a registration.
type registering struct{}

func (registering) answered(b *Broker, res kmsg.Response, err env.Errno) {
	r := &b.register
	r.under = false
	m, ok := res.(*kmsg.BrokerRegistrationResponse)
	switch {
	case err != env.OK || !ok:
		r.later(b, false)
	case kafka.ErrorCode(m.ErrorCode) == kafka.None:
		r.known, r.epoch = true, kafka.BrokerEpoch(m.BrokerEpoch)
		if r.catchUp(b) {
			b.host.leadAll(b)
			b.host.removeStrays(b)
		}
		r.heartbeat(b)
	case kafka.ErrorCode(m.ErrorCode) == kafka.InconsistentClusterID:
		b.fail("the controller refuses the registration: %s", kafka.ErrorCode(m.ErrorCode))
	default:
		r.later(b, true)
	}
}

// look notes when the image first counts this broker among those that are available.
func (r *registration) look(b *Broker) {
	if r.caughtUp && !r.unfenced {
		self := b.image.Broker(b.config.NodeID)
		r.unfenced = self != nil && !self.Fenced
	}
}

// later tries again after a pause; slowly when the controller has refused.
func (r *registration) later(b *Broker, refused bool) {
	pause := controllerPause
	if refused {
		pause = b.config.HeartbeatInterval
	}
	b.timers.set(&r.again, b.now.Mono.Add(pause), r)
}

// due sends what is next: a registration or a heartbeat.
func (r *registration) due(b *Broker) {
	if r.known {
		r.heartbeat(b)
	} else {
		r.begin(b)
	}
}

// catchUp says whether the image has, for the first time, the registration of this process. From
// then on the image is not older than the process, and its word on leaders is acted upon.
func (r *registration) catchUp(b *Broker) bool {
	if r.caughtUp || !r.known {
		return false
	}
	self := b.image.Broker(b.config.NodeID)
	if self == nil || [16]byte(self.Incarnation) != b.identity.Incarnation ||
		self.Epoch < r.epoch {
		return false
	}
	r.caughtUp = true
	b.timers.clear(&r.again)
	b.cutChains()
	if !r.under {
		r.heartbeat(b) // asks to be unfenced, without waiting for the interval
	}
	return true
}

func (r *registration) heartbeat(b *Broker) {
	b.timers.clear(&r.again)
	if r.under || b.phase < phaseRunning || b.phase == phaseStopped {
		return
	}
	if !b.link.up() {
		r.later(b, false)
		return
	}
	r.under = true
	m := kmsg.NewPtrBrokerHeartbeatRequest()
	m.Version = 1
	m.BrokerID = int32(b.config.NodeID)
	m.BrokerEpoch = int64(r.epoch)
	m.CurrentMetadataOffset = int64(b.image.Index())
	m.WantFence = !r.caughtUp
	b.link.send(b, m, beating{wantFence: m.WantFence})
}

// beating takes the answer to a heartbeat.
type beating struct{ wantFence bool }

func (h beating) answered(b *Broker, res kmsg.Response, err env.Errno) {
	r := &b.register
	r.under = false
	m, ok := res.(*kmsg.BrokerHeartbeatResponse)
	switch {
	case err != env.OK || !ok:
		r.later(b, false)
		return
	case kafka.ErrorCode(m.ErrorCode) == kafka.StaleBrokerEpoch,
		kafka.ErrorCode(m.ErrorCode) == kafka.BrokerIDNotRegistered:
		r.known, r.caughtUp = false, false
		r.begin(b)
		return
	}
	if h.wantFence && r.caughtUp {
		r.heartbeat(b)
		return
	}
	b.timers.set(&r.again, b.now.Mono.Add(b.config.HeartbeatInterval), r)
}
