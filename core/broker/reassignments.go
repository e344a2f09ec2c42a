package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterPartitionReassignments (key 45), versions 0 to 1, and ListPartitionReassignments (key 46), version 0:
// the controller decides and knows, this broker relays.

func (b *Broker) alterReassignments(r *env.Request, o origin, m *kmsg.AlterPartitionAssignmentsRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrAlterPartitionAssignmentsResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		answer.AllowReplicationFactorChange = m.AllowReplicationFactorChange
		return answer
	}
	b.relayAllowed(r, o, opAlter, m, m.TimeoutMillis, refuse)
}

func (b *Broker) listReassignments(r *env.Request, o origin, m *kmsg.ListPartitionReassignmentsRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrListPartitionReassignmentsResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		return answer
	}
	b.relayAllowed(r, o, opDescribe, m, m.TimeoutMillis, refuse)
}
