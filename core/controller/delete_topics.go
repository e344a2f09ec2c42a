package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopics (key 20), versions 1 to 6: by name, and from v6 by name or by id. Unlike Kafka's,
// the answer comes when the deletion is committed; brokers remove the files later.

func (c *Controller) deleteTopics(r *env.Request, m *kmsg.DeleteTopicsRequest) {
	refs := topicRefs(r.Version, m)
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		outcomes := make([]metadata.DeletedTopic, len(refs))
		for i := range refs {
			outcomes[i] = metadata.DeletedTopic{Name: refs[i].Name, ID: refs[i].ID, Error: code}
		}
		return describeDeletions(outcomes)
	}
	if !c.admits(r, refuse) {
		return
	}
	records, outcomes := metadata.DeleteTopics(c.queue.latest, refs)
	c.decidedOnce(r, records, describeDeletions(outcomes), refuse)
}

func topicRefs(version int16, m *kmsg.DeleteTopicsRequest) []metadata.TopicRef {
	var refs []metadata.TopicRef
	if version < 6 {
		for i := range m.TopicNames {
			refs = append(refs, metadata.TopicRef{Name: &m.TopicNames[i]})
		}
		return refs
	}
	for i := range m.Topics {
		refs = append(refs, metadata.TopicRef{Name: m.Topics[i].Topic, ID: m.Topics[i].TopicID})
	}
	return refs
}

func describeDeletions(outcomes []metadata.DeletedTopic) kmsg.Response {
	answer := kmsg.NewPtrDeleteTopicsResponse()
	for i := range outcomes {
		o := &outcomes[i]
		t := kmsg.NewDeleteTopicsResponseTopic()
		t.Topic, t.TopicID = o.Name, o.ID
		t.ErrorCode, t.ErrorMessage = int16(o.Error), pointer(o.Message)
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}
