package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions (key 37), versions 0 to 3: the controller decides, this broker forwards, and
// answers when its own image has the partitions and its replicas of them serve.

func (b *Broker) createPartitions(r *env.Request, o origin, m *kmsg.CreatePartitionsRequest) {
	var refused []kmsg.CreatePartitionsResponseTopic
	forward, counts := *m, map[string]int{}
	forward.Topics = nil
	for _, t := range m.Topics {
		if code := b.Authorize(r.Info, opAlter, resourceTopic, t.Topic); code != kafka.None {
			refused = append(refused, refusedGrowth(t.Topic, code, nil))
			continue
		}
		forward.Topics = append(forward.Topics, t)
		counts[t.Topic] = int(t.Count)
	}
	f := b.relay(o, &forward, m.TimeoutMillis, func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrCreatePartitionsResponse()
		answer.Topics = refused
		for i := range forward.Topics {
			answer.Topics = append(answer.Topics, refusedGrowth(forward.Topics[i].Topic, code, why))
		}
		return answer
	})
	f.taken = func(res kmsg.Response) {
		answer, ok := res.(*kmsg.CreatePartitionsResponse)
		if !ok {
			return
		}
		for _, t := range answer.Topics {
			if kafka.ErrorCode(t.ErrorCode) == kafka.None && !m.ValidateOnly {
				f.wait.grown = append(f.wait.grown, grownTopic{t.Topic, counts[t.Topic]})
			}
		}
		answer.Topics = append(refused, answer.Topics...)
	}
}

func refusedGrowth(topic string, code kafka.ErrorCode, why *string) kmsg.CreatePartitionsResponseTopic {
	t := kmsg.NewCreatePartitionsResponseTopic()
	t.Topic, t.ErrorCode, t.ErrorMessage = topic, int16(code), why
	return t
}
