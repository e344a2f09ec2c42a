package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UnregisterBroker (key 64), version 0: the controller decides, this broker relays.

func (b *Broker) unregisterBroker(r *env.Request, o origin, m *kmsg.UnregisterBrokerRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrUnregisterBrokerResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		return answer
	}
	b.relayAllowed(r, o, opAlter, m, noTimeout, refuse)
}
