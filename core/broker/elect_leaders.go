package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ElectLeaders (key 43), versions 0 to 2: the controller decides, this broker relays.

func (b *Broker) electLeaders(r *env.Request, o origin, m *kmsg.ElectLeadersRequest) {
	refuse := func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrElectLeadersResponse()
		answer.ErrorCode = int16(code)
		for i := range m.Topics {
			t := kmsg.NewElectLeadersResponseTopic()
			t.Topic = m.Topics[i].Topic
			for _, id := range m.Topics[i].Partitions {
				p := kmsg.NewElectLeadersResponseTopicPartition()
				p.Partition, p.ErrorCode, p.ErrorMessage = id, int16(code), why
				t.Partitions = append(t.Partitions, p)
			}
			answer.Topics = append(answer.Topics, t)
		}
		return answer
	}
	b.relayAllowed(r, o, opAlter, m, m.TimeoutMillis, refuse)
}
