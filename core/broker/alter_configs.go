package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs (key 33), versions 0 to 2: the controller decides, this broker forwards.
// The settings are in force on a broker when it has followed the metadata log so far.

func (b *Broker) alterConfigs(r *env.Request, o origin, m *kmsg.AlterConfigsRequest) {
	refuse := func(a *kmsg.AlterConfigsRequestResource, code kafka.ErrorCode, why *string,
	) kmsg.AlterConfigsResponseResource {
		t := kmsg.NewAlterConfigsResponseResource()
		t.ResourceType, t.ResourceName = a.ResourceType, a.ResourceName
		t.ErrorCode, t.ErrorMessage = int16(code), why
		return t
	}
	kept, refused := allowed(m.Resources, func(a *kmsg.AlterConfigsRequestResource) kafka.ErrorCode {
		return b.authorizeAlteration(r, a.ResourceType, a.ResourceName)
	}, refuse)
	forward := *m
	forward.Resources = kept
	f := b.relay(o, &forward, noTimeout, func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrAlterConfigsResponse()
		answer.Resources = refuseAll(refused, kept, code, why, refuse)
		return answer
	})
	f.taken = func(res kmsg.Response) {
		if answer, ok := res.(*kmsg.AlterConfigsResponse); ok {
			answer.Resources = append(refused, answer.Resources...)
		}
	}
}
