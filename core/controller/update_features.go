package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UpdateFeatures (key 57), versions 0 to 2: the cluster goes over to another level of a feature. v0
// says in a flag whether the level may fall, v1 in a type, and it can only validate; v2 tells no
// outcomes of single features.

func (c *Controller) updateFeatures(r *env.Request, m *kmsg.UpdateFeaturesRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrUpdateFeaturesResponse()
		answer.ErrorCode = int16(code)
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	asked := make([]metadata.FeatureUpdate, len(m.FeatureUpdates))
	for i := range m.FeatureUpdates {
		u := &m.FeatureUpdates[i]
		asked[i] = metadata.FeatureUpdate{
			Name: u.Feature, Level: u.MaxVersionLevel, Type: metadata.UpgradeType(u.UpgradeType),
		}
		if r.Version == 0 {
			asked[i].Type = metadata.Upgrade
			if u.AllowDowngrade {
				asked[i].Type = metadata.SafeDowngrade
			}
		}
	}
	records, outcomes, code, message := metadata.UpdateFeatures(c.queue.latest,
		c.config.Levels.Advertised(), asked)
	if m.ValidateOnly {
		records = nil
	}
	answer := kmsg.NewPtrUpdateFeaturesResponse()
	answer.ErrorCode, answer.ErrorMessage = int16(code), pointer(message)
	for i := range outcomes {
		o := &outcomes[i]
		result := kmsg.NewUpdateFeaturesResponseResult()
		result.Feature, result.ErrorCode, result.ErrorMessage = o.Name, int16(o.Error), pointer(o.Message)
		answer.Results = append(answer.Results, result)
	}
	c.decidedOnce(r, records, answer, refuse)
}
