package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerHeartbeat (key 63), versions 0 to 2. It unfences a broker that has applied its own
// registration, moves what a broker leads that wants to shut down, and goes on with its session.

func (c *Controller) brokerHeartbeat(r *env.Request, m *kmsg.BrokerHeartbeatRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrBrokerHeartbeatResponse()
		answer.ErrorCode, answer.IsFenced = int16(code), true
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	beat := metadata.Beat{
		Broker: kafka.BrokerID(m.BrokerID), Epoch: kafka.BrokerEpoch(m.BrokerEpoch),
		Index: metadata.Index(m.CurrentMetadataOffset), WantFence: m.WantFence,
		WantShutdown: m.WantShutdown,
	}
	records, out, code := metadata.Heartbeat(c.queue.latest, &beat, c.sessions.seen)
	if code != kafka.None {
		c.decided(r, nil, refuse(code), refuse, nil)
		return
	}
	if out.MayStop {
		c.sessions.end(beat.Broker)
	} else {
		c.sessions.touch(c, r.Conn, beat.Broker, beat.Epoch, beat.Index)
	}
	answer := kmsg.NewPtrBrokerHeartbeatResponse()
	answer.IsCaughtUp, answer.IsFenced, answer.ShouldShutdown = out.CaughtUp, out.Fenced, out.MayStop
	if len(records) == 0 && !out.MayStop {
		// It decides nothing, and a broker draws nothing from it but that somebody listens: who leads
		// is what the metadata say. So it needs no proof that this controller still leads.
		c.Metrics.Requests++
		c.respond(originOf(r), answer)
		return
	}
	c.decided(r, records, answer, refuse, nil)
}
