package controller

import (
	"stet/core/env"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs (key 33), versions 0 to 2: all settings of a resource are replaced; what the request
// does not name is deleted.

func (c *Controller) alterConfigs(r *env.Request, m *kmsg.AlterConfigsRequest) {
	asked := make([]metadata.ResourceChange, len(m.Resources))
	for i := range m.Resources {
		asked[i].Resource = resourceOf(m.Resources[i].ResourceType, m.Resources[i].ResourceName)
		asked[i].Replace = true
		for _, e := range m.Resources[i].Configs {
			asked[i].Changes = append(asked[i].Changes, metadata.ConfigChange{
				Name: e.Name, Op: metadata.ConfigSet, Value: e.Value,
			})
		}
	}
	c.changeConfigs(r, asked, m.ValidateOnly, func(outcomes []metadata.AlteredResource) kmsg.Response {
		answer := kmsg.NewPtrAlterConfigsResponse()
		for i := range outcomes {
			o := &outcomes[i]
			a := kmsg.NewAlterConfigsResponseResource()
			a.ResourceType, a.ResourceName = kmsg.ConfigResourceType(o.Resource.Type), o.Resource.Name
			a.ErrorCode, a.ErrorMessage = int16(o.Error), pointer(o.Message)
			answer.Resources = append(answer.Resources, a)
		}
		return answer
	})
}
