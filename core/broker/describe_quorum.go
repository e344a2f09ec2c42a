package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeQuorum (key 55), versions 0 to 2: the active controller knows the quorum, this broker relays.

func (b *Broker) describeQuorum(r *env.Request, o origin, m *kmsg.DescribeQuorumRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrDescribeQuorumResponse()
		answer.ErrorCode, answer.ErrorMessage = int16(code), why
		return answer
	}
	b.relayAllowed(r, o, opDescribe, m, noTimeout, refuse)
}
