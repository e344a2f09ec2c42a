package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// IncrementalAlterConfigs (key 44), versions 0 to 1: settings of topics and brokers are set, deleted,
// and lists among them appended to or taken from, while they are in use.

func (c *Controller) incrementalAlterConfigs(r *env.Request, m *kmsg.IncrementalAlterConfigsRequest) {
	asked := make([]metadata.ResourceChange, len(m.Resources))
	for i := range m.Resources {
		asked[i].Resource = resourceOf(m.Resources[i].ResourceType, m.Resources[i].ResourceName)
		for _, e := range m.Resources[i].Configs {
			asked[i].Changes = append(asked[i].Changes, metadata.ConfigChange{
				Name: e.Name, Op: metadata.ConfigOp(e.Op), Value: e.Value,
			})
		}
	}
	c.changeConfigs(r, asked, m.ValidateOnly, func(outcomes []metadata.AlteredResource) kmsg.Response {
		answer := kmsg.NewPtrIncrementalAlterConfigsResponse()
		for i := range outcomes {
			o := &outcomes[i]
			a := kmsg.NewIncrementalAlterConfigsResponseResource()
			a.ResourceType, a.ResourceName = kmsg.ConfigResourceType(o.Resource.Type), o.Resource.Name
			a.ErrorCode, a.ErrorMessage = int16(o.Error), pointer(o.Message)
			answer.Resources = append(answer.Resources, a)
		}
		return answer
	})
}

func resourceOf(kind kmsg.ConfigResourceType, name string) metadata.Resource {
	return metadata.Resource{Type: metadata.ResourceType(kind), Name: name}
}

// changeConfigs decides on changes of settings and answers with what describe makes of the outcomes.
func (c *Controller) changeConfigs(r *env.Request, asked []metadata.ResourceChange, validateOnly bool,
	describe func([]metadata.AlteredResource) kmsg.Response,
) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		outcomes := make([]metadata.AlteredResource, len(asked))
		for i := range asked {
			outcomes[i] = metadata.AlteredResource{Resource: asked[i].Resource, Error: code}
		}
		return describe(outcomes)
	}
	if !c.admits(r, refuse) {
		return
	}
	records, outcomes := metadata.AlterConfigs(c.queue.latest, asked)
	if validateOnly {
		records = nil
	}
	c.decidedOnce(r, records, describe(outcomes), refuse)
}
