package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterPartition (key 56), versions 2 to 3: leaders change who is in sync. All partitions of a request
// become one entry, and each answer tells the state that the partition has then. A request that is lost
// is sent again with the same epochs: it is refused if it was carried out, and the log says what it did.

func (c *Controller) alterPartition(r *env.Request, m *kmsg.AlterPartitionRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrAlterPartitionResponse()
		answer.ErrorCode = int16(code)
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	records, outcomes, code := metadata.AlterPartition(c.queue.latest,
		kafka.BrokerID(m.BrokerID), kafka.BrokerEpoch(m.BrokerEpoch), isrChanges(m))
	if code != kafka.None {
		c.decided(r, nil, refuse(code), refuse, nil)
		return
	}
	c.decided(r, records, describeAlteration(m, outcomes), refuse, nil)
}

// isrChanges lists what is asked, in the order of the request.
func isrChanges(m *kmsg.AlterPartitionRequest) (asked []metadata.ISRChange) {
	for i := range m.Topics {
		for j := range m.Topics[i].Partitions {
			p := &m.Topics[i].Partitions[j]
			asked = append(asked, metadata.ISRChange{
				TopicID: m.Topics[i].TopicID, ID: kafka.PartitionID(p.Partition),
				LeaderEpoch:    kafka.LeaderEpoch(p.LeaderEpoch),
				PartitionEpoch: kafka.PartitionEpoch(p.PartitionEpoch),
				ISR:            isrMembers(p), Recovering: p.LeaderRecoveryState != 0,
			})
		}
	}
	return asked
}

// isrMembers reads whichever of the two lists the version has.
func isrMembers(p *kmsg.AlterPartitionRequestTopicPartition) (members []metadata.ISRMember) {
	for _, id := range p.NewISR {
		members = append(members, metadata.ISRMember{Broker: kafka.BrokerID(id), Epoch: -1})
	}
	for i := range p.NewEpochISR {
		e := &p.NewEpochISR[i]
		members = append(members, metadata.ISRMember{
			Broker: kafka.BrokerID(e.BrokerID), Epoch: kafka.BrokerEpoch(e.BrokerEpoch),
		})
	}
	return members
}

// describeAlteration answers in the order of the request.
func describeAlteration(m *kmsg.AlterPartitionRequest, outcomes []metadata.AlteredPartition) kmsg.Response {
	answer := kmsg.NewPtrAlterPartitionResponse()
	for i := range m.Topics {
		t := kmsg.NewAlterPartitionResponseTopic()
		t.TopidID = m.Topics[i].TopicID // kmsg spells it so
		for range m.Topics[i].Partitions {
			t.Partitions = append(t.Partitions, describeAltered(&outcomes[0]))
			outcomes = outcomes[1:]
		}
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}

func describeAltered(o *metadata.AlteredPartition) kmsg.AlterPartitionResponseTopicPartition {
	p := kmsg.NewAlterPartitionResponseTopicPartition()
	p.Partition, p.ErrorCode = int32(o.ID), int16(o.Error)
	if s := o.State; s != nil {
		p.LeaderID, p.LeaderEpoch, p.PartitionEpoch = int32(s.Leader), int32(s.LeaderEpoch), int32(s.Epoch)
		if s.Recovering {
			p.LeaderRecoveryState = 1
		}
		p.ISR = numbers(s.ISR)
	}
	return p
}
