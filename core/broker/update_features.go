package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UpdateFeatures (key 57), versions 0 to 2: the controller decides, this broker relays.

func (b *Broker) updateFeatures(r *env.Request, o origin, m *kmsg.UpdateFeaturesRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrUpdateFeaturesResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		return answer
	}
	b.relayAllowed(r, o, opAlter, m, m.TimeoutMillis, refuse)
}
