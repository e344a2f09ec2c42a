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
// accept, because another version did, leaves what was in force. What the whole cluster must agree on
// is not read from static.
func (m *Image) BrokerValues(static kafka.BrokerValues, id kafka.BrokerID) kafka.BrokerValues {
	static.ForgetWholeCluster()
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

// FoundingSettings returns the records by which a cluster comes to have what its founder was started
// with, where all brokers must agree.
func FoundingSettings(static kafka.TopicConfig) []Record {
	var records []Record
	values := kafka.BrokerValues{Topic: static}
	for _, s := range kafka.BrokerSettings() {
		if value := s.Value(&values); s.WholeCluster && value != s.Default {
			records = append(records, &ConfigRecord{
				Resource: BrokerDefaults(), Name: s.Name, Value: value,
			})
		}
	}
	return records
}

// IgnoredSettings returns what a node was started with that is not in force, because the cluster was
// founded with something else or has changed it.
func (m *Image) IgnoredSettings(static kafka.TopicConfig) []ConfigEntry {
	var ignored []ConfigEntry
	values := kafka.BrokerValues{Topic: static}
	inForce := kafka.BrokerValues{Topic: m.ClusterTopicConfig(static)}
	for _, s := range kafka.BrokerSettings() {
		value := s.Value(&values)
		if s.WholeCluster && value != s.Default && value != s.Value(&inForce) {
			ignored = append(ignored, ConfigEntry{s.Name, value})
		}
	}
	return ignored
}
