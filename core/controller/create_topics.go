package controller

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateTopics (key 19), versions 2 to 7. v5 and later tell counts and settings, v7 topic ids. A
// request that only validates proposes nothing; its answer has no ids.

func (c *Controller) createTopics(r *env.Request, m *kmsg.CreateTopicsRequest) {
	names := make([]string, len(m.Topics))
	for i := range m.Topics {
		names[i] = m.Topics[i].Topic
	}
	refuse := func(code kafka.ErrorCode) kmsg.Response { return refuseCreations(names, code) }
	if !c.admits(r, refuse) {
		return
	}
	defaults := metadata.TopicDefaults{
		Partitions: c.config.NumPartitions, ReplicationFactor: c.config.DefaultReplicationFactor,
		NowMs: c.now.WallMs,
	}
	records, outcomes := metadata.CreateTopics(c.queue.latest, newTopics(m), defaults, c.topicIDs)
	if m.ValidateOnly {
		records = nil
	}
	answer := kmsg.NewPtrCreateTopicsResponse()
	for i := range outcomes {
		answer.Topics = append(answer.Topics, c.describeCreation(&outcomes[i], m.ValidateOnly))
	}
	c.decidedOnce(r, records, answer, refuse)
}

func newTopics(m *kmsg.CreateTopicsRequest) []metadata.NewTopic {
	topics := make([]metadata.NewTopic, len(m.Topics))
	for i := range m.Topics {
		t := &m.Topics[i]
		topics[i] = metadata.NewTopic{
			Name: t.Topic, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor,
		}
		for _, a := range t.ReplicaAssignment {
			assignment := metadata.Assignment{Partition: kafka.PartitionID(a.Partition)}
			for _, id := range a.Replicas {
				assignment.Replicas = append(assignment.Replicas, kafka.BrokerID(id))
			}
			topics[i].Assignments = append(topics[i].Assignments, assignment)
		}
		for _, e := range t.Configs {
			topics[i].Configs = append(topics[i].Configs, metadata.NewConfig{Name: e.Name, Value: e.Value})
		}
	}
	return topics
}

func (c *Controller) describeCreation(o *metadata.CreatedTopic, validateOnly bool,
) kmsg.CreateTopicsResponseTopic {
	t := kmsg.NewCreateTopicsResponseTopic()
	t.Topic, t.ErrorCode, t.ErrorMessage = o.Name, int16(o.Error), pointer(o.Message)
	t.NumPartitions, t.ReplicationFactor = -1, -1
	if o.Error != kafka.None {
		return t
	}
	if !validateOnly {
		t.TopicID = o.ID
	}
	t.NumPartitions, t.ReplicationFactor = o.Partitions, o.ReplicationFactor
	settings := c.queue.latest.DescribeTopicConfigs(&kafka.BrokerValues{Topic: c.config.Topic},
		kafka.NoBroker, o.Configs, int(o.ReplicationFactor))
	for i := range settings {
		setting := kmsg.NewCreateTopicsResponseTopicConfig()
		setting.Name, setting.Value = settings[i].Name, &settings[i].Value
		setting.Source = int8(settings[i].Source)
		t.Configs = append(t.Configs, setting)
	}
	return t
}

// refuseCreations refuses every name of a request, once.
func refuseCreations(names []string, code kafka.ErrorCode) kmsg.Response {
	answer := kmsg.NewPtrCreateTopicsResponse()
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.ErrorCode, t.NumPartitions, t.ReplicationFactor = name, int16(code), -1, -1
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}
