package controller

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UnregisterBroker (key 64), version 0: a broker is forgotten.

func (c *Controller) unregisterBroker(r *env.Request, m *kmsg.UnregisterBrokerRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrUnregisterBrokerResponse()
		answer.ErrorCode = int16(code)
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	records, code := metadata.UnregisterBroker(c.queue.latest, kafka.BrokerID(m.BrokerID))
	answer := kmsg.NewPtrUnregisterBrokerResponse()
	if code != kafka.None {
		why := fmt.Sprintf("broker %d is not registered", m.BrokerID)
		answer.ErrorCode, answer.ErrorMessage = int16(code), &why
	}
	c.decidedOnce(r, records, answer, refuse)
}
