package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions (key 37), versions 0 to 3: the controller decides, this broker forwards, and
// answers when its own image has the partitions and its replicas of them serve.

func (b *Broker) createPartitions(r *env.Request, o origin, m *kmsg.CreatePartitionsRequest) {
	refuse := func(asked *kmsg.CreatePartitionsRequestTopic, code kafka.ErrorCode, why *string,
	) kmsg.CreatePartitionsResponseTopic {
		t := kmsg.NewCreatePartitionsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage = asked.Topic, int16(code), why
		return t
	}
	kept, refused := allowed(m.Topics, func(t *kmsg.CreatePartitionsRequestTopic) kafka.ErrorCode {
		return b.Authorize(r.Info, opAlter, resourceTopic, t.Topic)
	}, refuse)
	counts := map[string]int{}
	for i := range kept {
		counts[kept[i].Topic] = int(kept[i].Count)
	}
	forward := *m
	forward.Topics = kept
	f := b.relay(o, &forward, m.TimeoutMillis, func(code kafka.ErrorCode, why *string) kmsg.Response {
		answer := kmsg.NewPtrCreatePartitionsResponse()
		answer.Topics = refuseAll(refused, kept, code, why, refuse)
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
