package metadata

import (
	"strconv"

	"stet/core/kafka"
)

// BrokerDefaults names the settings of all brokers that set nothing themselves.
func BrokerDefaults() Resource { return Resource{Type: ResourceBroker} }

// BrokerResource names the settings of one broker.
func BrokerResource(id kafka.BrokerID) Resource {
	return Resource{Type: ResourceBroker, Name: strconv.Itoa(int(id))}
}

// BrokerValues returns what is in force on a broker that was started with static: under it what is
// set for all brokers, under that what is set for this one. A value that this software does not
// accept, because another version did, leaves what was in force.
func (m *Image) BrokerValues(static kafka.BrokerValues, id kafka.BrokerID) kafka.BrokerValues {
	for _, r := range []Resource{BrokerDefaults(), BrokerResource(id)} {
		for _, e := range m.ResourceConfigs(r) {
			s, known := kafka.FindBrokerSetting(e.Name)
			if known && s.Obeyed(e.Value, r.Name == "") {
				_ = s.Set(&static, e.Value) // it has been checked
			}
		}
	}
	return static
}

// ClusterTopicConfig returns what is in force for topics that set nothing, by what is set for all
// brokers over static: what the controller decides by.
func (m *Image) ClusterTopicConfig(static kafka.TopicConfig) kafka.TopicConfig {
	values := m.BrokerValues(kafka.BrokerValues{Topic: static}, kafka.NoBroker)
	return values.Topic
}
