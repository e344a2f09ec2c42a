package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions (key 37), versions 0 to 3: topics get more partitions.

func (c *Controller) createPartitions(r *env.Request, m *kmsg.CreatePartitionsRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		outcomes := make([]metadata.GrownTopic, len(m.Topics))
		for i := range m.Topics {
			outcomes[i] = metadata.GrownTopic{Topic: m.Topics[i].Topic, Error: code}
		}
		return describeGrowth(outcomes)
	}
	if !c.admits(r, refuse) {
		return
	}
	asked := make([]metadata.MorePartitions, len(m.Topics))
	for i := range m.Topics {
		t := &m.Topics[i]
		asked[i] = metadata.MorePartitions{Topic: t.Topic, Count: t.Count}
		if t.Assignment == nil {
			continue
		}
		asked[i].Assignments = [][]kafka.BrokerID{}
		for _, a := range t.Assignment {
			var replicas []kafka.BrokerID
			for _, id := range a.Replicas {
				replicas = append(replicas, kafka.BrokerID(id))
			}
			asked[i].Assignments = append(asked[i].Assignments, replicas)
		}
	}
	records, outcomes := metadata.CreatePartitions(c.queue.latest, asked, c.topicIDs)
	if m.ValidateOnly {
		records = nil
	}
	c.decidedOnce(r, records, describeGrowth(outcomes), refuse)
}

func describeGrowth(outcomes []metadata.GrownTopic) kmsg.Response {
	answer := kmsg.NewPtrCreatePartitionsResponse()
	for i := range outcomes {
		o := &outcomes[i]
		t := kmsg.NewCreatePartitionsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage = o.Topic, int16(o.Error), pointer(o.Message)
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}
