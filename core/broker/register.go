package broker

import (
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// registration is the broker's standing with the controllers: registered under an epoch, kept by
// heartbeats, and caught up once the image has the registration. Losing touch with the controllers
// changes nothing here: who leads is what the metadata log says, as far as it was read.
type registration struct {
	under    bool              // a registration or a heartbeat is under way
	epoch    kafka.BrokerEpoch // of the last registration; 0 before the first
	known    bool              // epoch is valid
	caughtUp bool              // the image has had this registration, and no other of this broker since
	unfenced bool              // the image has had this process as one that may lead
	again    timer
	refused  env.Mono // since when another process with this id has been in the way; 0: none is
	refuser  env.ConnID
}

// begin registers when everything that it takes is known. The image has all that was committed when
// the link was opened, so that what it says of the former life of this broker is not old.
func (r *registration) begin(b *Broker) {
	if r.known || r.under || r.again.place != 0 || !b.link.up() || b.phase != phaseRunning ||
		b.image.ClusterID() == "" || b.follower.current != b.link.conn || b.fatal != nil {
		return
	}
	r.under = true
	b.link.sendVital(b, b.linkPatience(), r.request(b), registering{})
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
	for _, f := range b.config.Levels.Features() {
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

func (registering) answered(b *Broker, res any, err env.Errno) {
	r := &b.register
	r.under = false
	m, ok := res.(*kmsg.BrokerRegistrationResponse)
	if err != env.OK || !ok {
		r.later(b, false)
		return
	}
	switch code := kafka.ErrorCode(m.ErrorCode); code {
	case kafka.None:
		b.link.worked()
		r.known, r.epoch, r.refused = true, kafka.BrokerEpoch(m.BrokerEpoch), 0
		r.look(b)
		b.act()
		r.heartbeat(b)
	case kafka.NotController:
		b.link.leadsNot(b, kafka.NoBroker)
		r.later(b, false)
	case kafka.DuplicateBrokerRegistration:
		r.duplicate(b)
	case kafka.InconsistentClusterID, kafka.UnsupportedVersion:
		b.fail("the controller at %s refuses the registration: %s", b.link.peer(b), code)
	default:
		r.later(b, true)
	}
}

// duplicate tries again while the session of a former process of this broker may last that left no
// word of its end. One that lasts longer is another process. A controller that begins to lead begins
// all sessions anew, so the time counts for each link.
func (r *registration) duplicate(b *Broker) {
	if r.refused == 0 || r.refuser != b.link.conn {
		r.refused, r.refuser = b.now.Mono, b.link.conn
	}
	if b.now.Mono >= r.refused.Add(b.config.DuplicateTimeout) {
		b.fail("another broker with node id %d is alive in cluster %s: the controller at %s refuses "+
			"the registration", b.config.NodeID, b.image.ClusterID(), b.link.peer(b))
		return
	}
	r.later(b, true)
}

// later tries again after a pause; slowly when the controller has refused.
func (r *registration) later(b *Broker, refused bool) {
	pause := linkPause
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

// look sees what the image says of this broker. From its own registration on, the image is not older
// than the process, and its word is acted upon.
func (r *registration) look(b *Broker) {
	self := b.image.Broker(b.config.NodeID)
	own := self != nil && [16]byte(self.Incarnation) == b.identity.Incarnation
	switch {
	case own && r.known && !r.caughtUp && self.Epoch >= r.epoch:
		r.caughtUp = true
		b.fetchers.wakeAll()
		b.timers.clear(&r.again)
		b.cutChains()
	case own && r.caughtUp && !self.Fenced:
		r.unfenced = true
	case !own && r.epoch > 0 && b.image.Index() >= metadata.Index(r.epoch):
		r.lost(b, self)
	}
}

// lost is told that the metadata know this broker no more, or another process as this broker. What
// they say of it is not about this process, which leads nothing until it has registered again.
func (r *registration) lost(b *Broker, other *metadata.Broker) {
	r.known, r.caughtUp = false, false
	b.timers.clear(&r.again)
	for _, h := range b.host.all {
		if h.Leading() {
			h.Resign()
			b.afterReplica(h)
		}
	}
	if other == nil {
		return
	}
	for i := range b.directories {
		id, _ := kafka.ParseTopicID(b.directories[i].meta.DirectoryID) // the same 22 characters
		if slices.Contains(other.Directories, metadata.DirectoryID(id)) {
			b.fail("another process with a copy of data directory %s has registered as broker %d",
				b.config.Directories[i], b.config.NodeID)
		}
	}
}

// wantsFence says whether this broker is not fit to lead yet: it does not know its own registration, or
// has not recovered what it found in its directories. A leader that is elected before would serve nobody.
func (r *registration) wantsFence(b *Broker) bool { return !r.caughtUp || b.host.loading > 0 }

// fit asks to be unfenced, without waiting for the interval, if nothing is in the way any more.
func (r *registration) fit(b *Broker) {
	if !r.wantsFence(b) {
		r.heartbeat(b)
	}
}

func (r *registration) heartbeat(b *Broker) {
	b.timers.clear(&r.again)
	if r.under || b.phase < phaseRunning || b.phase == phaseStopped || !b.link.up() {
		return // the next link begins with one
	}
	r.under = true
	m := kmsg.NewPtrBrokerHeartbeatRequest()
	m.Version = 1
	m.BrokerID = int32(b.config.NodeID)
	m.BrokerEpoch = int64(r.epoch)
	m.CurrentMetadataOffset = int64(b.image.Index())
	m.WantFence = r.wantsFence(b)
	m.WantShutdown = b.departure.under
	b.link.sendVital(b, b.linkPatience(), m, beating{wantFence: m.WantFence})
}

// beating takes the answer to a heartbeat.
type beating struct{ wantFence bool }

func (h beating) answered(b *Broker, res any, err env.Errno) {
	r := &b.register
	r.under = false
	m, ok := res.(*kmsg.BrokerHeartbeatResponse)
	if err != env.OK || !ok {
		r.later(b, false)
		return
	}
	switch kafka.ErrorCode(m.ErrorCode) {
	case kafka.None:
		b.link.worked()
		r.beaten(b, h, m)
	case kafka.NotController:
		b.link.leadsNot(b, kafka.NoBroker)
		r.later(b, false)
	case kafka.StaleBrokerEpoch, kafka.BrokerIDNotRegistered:
		r.known, r.caughtUp = false, false
		r.begin(b)
	default:
		r.later(b, true)
	}
}

func (r *registration) beaten(b *Broker, h beating, m *kmsg.BrokerHeartbeatResponse) {
	switch {
	case m.ShouldShutdown && b.departure.under:
		invariant.Sometimes(true, invariant.MarkBrokerDeparture)
		b.closeReplicas()
	case !r.known:
		r.begin(b)
	case h.wantFence && !r.wantsFence(b):
		r.heartbeat(b)
	case b.departure.under:
		b.timers.set(&r.again, b.now.Mono.Add(departureBeat), r)
	default:
		b.timers.set(&r.again, b.now.Mono.Add(b.config.HeartbeatInterval), r)
	}
}
