package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AllocateProducerIds (key 67), version 0 (KIP-730): the next block of a thousand producer ids. A
// block whose answer is lost is lost with it; none is given twice.

func (c *Controller) allocateProducerIDs(r *env.Request, m *kmsg.AllocateProducerIDsRequest) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		answer := kmsg.NewPtrAllocateProducerIDsResponse()
		answer.ErrorCode, answer.ProducerIDStart = int16(code), -1
		return answer
	}
	if !c.admits(r, refuse) {
		return
	}
	records, block, code := metadata.AllocateProducerIDs(
		c.queue.latest, kafka.BrokerID(m.BrokerID), kafka.BrokerEpoch(m.BrokerEpoch))
	if code != kafka.None {
		c.decided(r, nil, refuse(code), refuse, nil)
		return
	}
	answer := kmsg.NewPtrAllocateProducerIDsResponse()
	answer.ProducerIDStart, answer.ProducerIDLen = int64(block.First), block.Count
	c.decided(r, records, answer, refuse, nil)
}
