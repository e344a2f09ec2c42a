package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ElectLeaders (key 43), versions 0 to 2: leadership goes to the first replica, or, where nobody leads, to
// any. v0 knows the former alone. From v1 on an error of the whole request has a field of its own.

func (c *Controller) electLeaders(r *env.Request, m *kmsg.ElectLeadersRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response { return refusedElection(m, code) }
	if !c.admits(r, refuse) {
		return
	}
	kind := metadata.PreferredElection
	if m.Version >= 1 {
		kind = metadata.ElectionType(m.ElectionType)
	}
	records, outcomes, code := metadata.ElectLeaders(c.queue.latest, kind, electedPartitions(m))
	if code != kafka.None {
		c.decided(r, nil, refuse(code), refuse, nil)
		return
	}
	answer := kmsg.NewPtrElectLeadersResponse()
	for _, o := range outcomes {
		t := kmsg.NewElectLeadersResponseTopic()
		t.Topic = o.Topic
		for _, e := range o.Partitions {
			p := kmsg.NewElectLeadersResponseTopicPartition()
			p.Partition, p.ErrorCode, p.ErrorMessage = int32(e.ID), int16(e.Error), pointer(e.Message)
			t.Partitions = append(t.Partitions, p)
		}
		answer.Topics = append(answer.Topics, t)
	}
	c.decidedOnce(r, records, answer, refuse)
}

// electedPartitions returns nil for all.
func electedPartitions(m *kmsg.ElectLeadersRequest) []metadata.TopicPartitions {
	if m.Topics == nil {
		return nil
	}
	asked := []metadata.TopicPartitions{}
	for i := range m.Topics {
		asked = append(asked, metadata.TopicPartitions{
			Topic: m.Topics[i].Topic, Partitions: partitionIDs(m.Topics[i].Partitions),
		})
	}
	return asked
}

func partitionIDs(list []int32) (ids []kafka.PartitionID) {
	for _, id := range list {
		ids = append(ids, kafka.PartitionID(id))
	}
	return ids
}

func refusedElection(m *kmsg.ElectLeadersRequest, code kafka.ErrorCode) kmsg.Response {
	answer := kmsg.NewPtrElectLeadersResponse()
	answer.ErrorCode = int16(code)
	for i := range m.Topics {
		t := kmsg.NewElectLeadersResponseTopic()
		t.Topic = m.Topics[i].Topic
		for _, id := range m.Topics[i].Partitions {
			p := kmsg.NewElectLeadersResponseTopicPartition()
			p.Partition, p.ErrorCode = id, int16(code)
			t.Partitions = append(t.Partitions, p)
		}
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}
