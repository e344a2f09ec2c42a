package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// IncrementalAlterConfigs (key 44), versions 0 to 1: the controller decides, this broker forwards.
// The settings are in force on a broker when it has followed the metadata log so far.

func (b *Broker) incrementalAlterConfigs(r *env.Request, o origin,
	m *kmsg.IncrementalAlterConfigsRequest,
) {
	var refused []kmsg.IncrementalAlterConfigsResponseResource
	forward := *m
	forward.Resources = nil
	refuse := func(a *kmsg.IncrementalAlterConfigsRequestResource, code kafka.ErrorCode, why *string,
	) kmsg.IncrementalAlterConfigsResponseResource {
		t := kmsg.NewIncrementalAlterConfigsResponseResource()
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
		answer := kmsg.NewPtrIncrementalAlterConfigsResponse()
		answer.Resources = refused
		for i := range forward.Resources {
			answer.Resources = append(answer.Resources, refuse(&forward.Resources[i], code, why))
		}
		return answer
	})
	f.taken = func(res kmsg.Response) {
		if answer, ok := res.(*kmsg.IncrementalAlterConfigsResponse); ok {
			answer.Resources = append(refused, answer.Resources...)
		}
	}
}

// configResource is what access to the settings of a resource is judged by.
func configResource(kind kmsg.ConfigResourceType) resourceKind {
	if kind == kmsg.ConfigResourceTypeTopic {
		return resourceTopic
	}
	return resourceCluster
}
