package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// IncrementalAlterConfigs (key 44), versions 0 to 1: the controller decides, this broker forwards.
// The settings are in force on a broker when it has followed the metadata log so far.

func (b *Broker) incrementalAlterConfigs(r *env.Request, o origin, m *kmsg.IncrementalAlterConfigsRequest) {
	refuse := func(a *kmsg.IncrementalAlterConfigsRequestResource, code kafka.ErrorCode, why *string,
	) kmsg.IncrementalAlterConfigsResponseResource {
		t := kmsg.NewIncrementalAlterConfigsResponseResource()
		t.ResourceType, t.ResourceName = a.ResourceType, a.ResourceName
		t.ErrorCode, t.ErrorMessage = int16(code), why
		return t
	}
	kept, refused := allowed(m.Resources, func(a *kmsg.IncrementalAlterConfigsRequestResource) kafka.ErrorCode {
		return b.authorizeAlteration(r, a.ResourceType, a.ResourceName)
	}, refuse)
	forward := *m
	forward.Resources = kept
	f := b.relay(o, &forward, noTimeout, func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrIncrementalAlterConfigsResponse()
		answer.Resources = refuseAll(refused, kept, code, why, refuse)
		return answer
	})
	f.taken = func(res kmsg.Response) {
		if answer, ok := res.(*kmsg.IncrementalAlterConfigsResponse); ok {
			answer.Resources = append(refused, answer.Resources...)
		}
	}
}

// authorizeAlteration says whether the settings of a resource may be changed.
func (b *Broker) authorizeAlteration(r *env.Request, kind kmsg.ConfigResourceType, name string,
) kafka.ErrorCode {
	return b.Authorize(r.Info, opAlterConfigs, configResource(kind), name)
}

// configResource is what access to the settings of a resource is judged by.
func configResource(kind kmsg.ConfigResourceType) resourceKind {
	if kind == kmsg.ConfigResourceTypeTopic {
		return resourceTopic
	}
	return resourceCluster
}
