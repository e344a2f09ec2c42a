package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AddRaftVoter (key 80), versions 0 to 1: the controller decides, this broker relays.

func (b *Broker) addRaftVoter(r *env.Request, o origin, m *kmsg.AddRaftVoterRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrAddRaftVoterResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		return answer
	}
	b.relayAllowed(r, o, opAlter, m, m.TimeoutMillis, refuse)
}
