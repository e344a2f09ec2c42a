package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterPartitionReassignments (key 45), versions 0 to 1: partitions get other replicas, or what is under
// way is taken back. v1 can ask that the number of replicas stays (KIP-860).

func (c *Controller) alterReassignments(r *env.Request, m *kmsg.AlterPartitionAssignmentsRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrAlterPartitionAssignmentsResponse()
		answer.ErrorCode, answer.AllowReplicationFactorChange = int16(code), m.AllowReplicationFactorChange
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	var asked []metadata.NewReplicas
	for i := range m.Topics {
		t := &m.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			asked = append(asked, metadata.NewReplicas{
				Topic: t.Topic, ID: kafka.PartitionID(p.Partition), Replicas: brokersOf(p.Replicas),
			})
		}
	}
	factorMayChange := m.Version == 0 || m.AllowReplicationFactorChange
	records, outcomes, code := metadata.AlterReassignments(c.queue.latest, asked, factorMayChange)
	answer := refuse(code).(*kmsg.AlterPartitionAssignmentsResponse)
	if code == kafka.UnsupportedVersion {
		answer.ErrorMessage = pointer("replicas are reassigned from feature level 2 of stet.version on")
	}
	for i := range m.Topics {
		if len(outcomes) == 0 {
			break
		}
		t := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		t.Topic = m.Topics[i].Topic
		for range m.Topics[i].Partitions {
			p := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			o := &outcomes[0]
			p.Partition, p.ErrorCode, p.ErrorMessage = int32(o.ID), int16(o.Error), pointer(o.Message)
			t.Partitions, outcomes = append(t.Partitions, p), outcomes[1:]
		}
		answer.Topics = append(answer.Topics, t)
	}
	c.decidedOnce(r, records, answer, refuse)
}

// brokersOf keeps the difference between no list and an empty one.
func brokersOf(list []int32) []kafka.BrokerID {
	if list == nil {
		return nil
	}
	ids := make([]kafka.BrokerID, len(list))
	for i, id := range list {
		ids[i] = kafka.BrokerID(id)
	}
	return ids
}
