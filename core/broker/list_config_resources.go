package broker

import (
	"slices"
	"strconv"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListConfigResources (key 74), versions 0 to 1: what can have settings. v0 lists subscriptions of
// clients' metrics, of which there are none; v1 names the types that are asked for, none for all.

// Resource types as ListConfigResources numbers them.
const (
	listTopics        = int8(kmsg.ConfigResourceTypeTopic)
	listBrokers       = int8(kmsg.ConfigResourceTypeBroker)
	listBrokerLoggers = int8(kmsg.ConfigResourceTypeBrokerLogger)
	listMetrics       = int8(kmsg.ConfigResourceTypeClientMetrics)
	listGroups        = int8(kmsg.ConfigResourceTypeGroupConfig)
)

func (b *Broker) listConfigResources(r *env.Request, o origin, m *kmsg.ListConfigResourcesRequest) {
	answer := kmsg.NewPtrListConfigResourcesResponse()
	types := m.ResourceTypes
	switch code := b.Authorize(r.Info, opDescribeConfigs, resourceCluster, ""); {
	case code != kafka.None:
		answer.ErrorCode = int16(code)
		types = []int8{listMetrics}
	case r.Version == 0:
		types = []int8{listMetrics}
	case len(types) == 0:
		types = []int8{listTopics, listBrokers, listBrokerLoggers, listMetrics, listGroups}
	}
	for i, t := range types {
		switch {
		case slices.Contains(types[:i], t):
		case t == listTopics:
			for topic := range b.image.Topics() {
				if b.Authorize(r.Info, opDescribe, resourceTopic, topic.Name) == kafka.None {
					answer.ConfigResources = append(answer.ConfigResources, listed(t, topic.Name))
				}
			}
		case t == listBrokers:
			for broker := range b.image.Brokers() {
				answer.ConfigResources = append(answer.ConfigResources,
					listed(t, strconv.Itoa(int(broker.ID))))
			}
		case t == listBrokerLoggers, t == listMetrics, t == listGroups: // there are none
		default:
			answer.ErrorCode, answer.ConfigResources = int16(kafka.UnsupportedVersion), nil
			b.reply(o, answer)
			return
		}
	}
	b.reply(o, answer)
}

func listed(t int8, name string) kmsg.ListConfigResourcesResponseConfigResource {
	c := kmsg.NewListConfigResourcesResponseConfigResource()
	c.Type, c.Name = t, name
	return c
}
