package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListPartitionReassignments (key 46), version 0: what is under way, of all partitions or of some. Those
// that do not exist, or have none, are left out.

func (c *Controller) listReassignments(r *env.Request, m *kmsg.ListPartitionReassignmentsRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrListPartitionReassignmentsResponse()
		answer.ErrorCode = int16(code)
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	image, answer := c.queue.latest, kmsg.NewPtrListPartitionReassignmentsResponse()
	add := func(t *metadata.Topic, ids []int32) {
		if listed := reassignmentsOf(t, ids); len(listed.Partitions) > 0 {
			answer.Topics = append(answer.Topics, listed)
		}
	}
	for i := range m.Topics {
		if t := image.Topic(m.Topics[i].Topic); t != nil {
			add(t, m.Topics[i].Partitions)
		}
	}
	if m.Topics == nil {
		for t := range image.Topics() {
			all := make([]int32, t.PartitionCount())
			for i := range all {
				all[i] = int32(i)
			}
			add(t, all)
		}
	}
	c.decided(r, nil, answer, refuse, nil)
}

// reassignmentsOf lists those of the partitions that have one.
func reassignmentsOf(t *metadata.Topic, ids []int32) kmsg.ListPartitionReassignmentsResponseTopic {
	listed := kmsg.NewListPartitionReassignmentsResponseTopic()
	listed.Topic = t.Name
	for _, id := range ids {
		p := t.Partition(kafka.PartitionID(id))
		if p == nil || p.Reassignment == nil {
			continue
		}
		a := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
		a.Partition, a.Replicas = id, numbers(p.Replicas)
		a.AddingReplicas, a.RemovingReplicas = numbers(p.Reassignment.Adding), numbers(p.Reassignment.Removing)
		listed.Partitions = append(listed.Partitions, a)
	}
	return listed
}

func numbers(ids []kafka.BrokerID) (list []int32) {
	for _, id := range ids {
		list = append(list, int32(id))
	}
	return list
}
