package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs (key 33), versions 0 to 2: the controller decides, this broker forwards.
// The settings are in force on a broker when it has followed the metadata log so far.

func (b *Broker) alterConfigs(r *env.Request, o origin,
	m *kmsg.AlterConfigsRequest,
) {
	var refused []kmsg.AlterConfigsResponseResource
	forward := *m
	forward.Resources = nil
	refuse := func(a *kmsg.AlterConfigsRequestResource, code kafka.ErrorCode, why *string,
	) kmsg.AlterConfigsResponseResource {
		t := kmsg.NewAlterConfigsResponseResource()
		t.ResourceType, t.ResourceName = a.ResourceType, a.ResourceName
		t.ErrorCode, t.ErrorMessage = int16(code), why
		return t
	}
	for i := range m.Resources {
		a := &m.Resources[i]
		code := b.Authorize(r.Info, opAlterConfigs, configResource(a.ResourceType), a.ResourceName)
		if code != kafka.None {
			refused = append(refused, refuse(a, code, nil))
		} else {
			forward.Resources = append(forward.Resources, *a)
		}
	}
	f := b.relay(o, &forward, noTimeout, func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrAlterConfigsResponse()
		answer.Resources = refused
		for i := range forward.Resources {
			answer.Resources = append(answer.Resources, refuse(&forward.Resources[i], code, why))
		}
		return answer
	})
	f.taken = func(res kmsg.Response) {
		if answer, ok := res.(*kmsg.AlterConfigsResponse); ok {
			answer.Resources = append(refused, answer.Resources...)
		}
	}
}
