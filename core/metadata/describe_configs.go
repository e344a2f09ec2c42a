package metadata

import "stet/core/kafka"

// ConfigSource says where a value comes from, with the numbers of DescribeConfigs.
type ConfigSource int8

const (
	SourceTopic          ConfigSource = 1 // set for the topic
	SourceBroker         ConfigSource = 2 // set for the broker, while it runs
	SourceBrokerDefaults ConfigSource = 3 // set for all brokers, while they run
	SourceStatic         ConfigSource = 4 // the broker was started with it
	SourceDefault        ConfigSource = 5 // nothing is set
)

// ConfigSynonym is one place that a value may come from.
type ConfigSynonym struct {
	Name   string // of the setting there
	Value  string
	Source ConfigSource
}

// DescribedConfig is a setting in force. Synonyms are all places that say something about it, first
// the one that is obeyed; each stands for the next when it is taken away.
type DescribedConfig struct {
	Name, Value string
	Type        kafka.SettingType
	Source      ConfigSource
	ReadOnly    bool // it can not be changed while brokers run
	Unset       bool // nothing is set, and there is no default
	Synonyms    []ConfigSynonym
}

// DescribeTopicConfigs returns all settings of a topic with these overrides and so many replicas, by
// ascending name, as they are in force on a broker that was started with static. NoBroker asks for
// what the controller decides by.
func (m *Image) DescribeTopicConfigs(static *kafka.BrokerValues, broker kafka.BrokerID,
	overrides []ConfigEntry, replicationFactor int,
) []DescribedConfig {
	settings := kafka.TopicSettings()
	out := make([]DescribedConfig, len(settings))
	for i := range settings {
		s := &settings[i]
		d := DescribedConfig{Name: s.Name, Type: s.Type, Value: s.Default, Source: SourceDefault}
		for _, e := range overrides {
			if e.Name == s.Name && s.Check(e.Value) == nil {
				d.Synonyms = append(d.Synonyms, ConfigSynonym{s.Name, e.Value, SourceTopic})
			}
		}
		if name := s.BrokerName(); name != "" {
			b, _ := kafka.FindBrokerSetting(name)
			d.Synonyms = append(d.Synonyms, m.brokerSynonyms(static, broker, &b)...)
		}
		if last := len(d.Synonyms) - 1; last >= 0 && s.Name == "min.insync.replicas" &&
			d.Synonyms[last].Source == SourceDefault {
			least := kafka.DefaultMinInsyncReplicas(replicationFactor)
			d.Synonyms[last].Value = s.Value(&kafka.TopicConfig{MinInsyncReplicas: int32(least)})
		}
		out[i] = d.resolve()
	}
	return out
}

// DescribeBrokerConfigs returns all settings of a broker that was started with static, by ascending
// name.
func (m *Image) DescribeBrokerConfigs(static *kafka.BrokerValues, broker kafka.BrokerID,
) []DescribedConfig {
	settings := kafka.BrokerSettings()
	out := make([]DescribedConfig, len(settings))
	for i := range settings {
		s := &settings[i]
		d := DescribedConfig{Name: s.Name, Type: s.Type, ReadOnly: !s.Dynamic}
		d.Synonyms = m.brokerSynonyms(static, broker, s)
		if last := len(d.Synonyms) - 1; s.Default == "" {
			d.Synonyms, d.Unset, d.Source = d.Synonyms[:last], last == 0, SourceDefault
		}
		out[i] = d.resolve()
	}
	return out
}

// DescribeBrokerDefaults returns what is set for all brokers, by ascending name.
func (m *Image) DescribeBrokerDefaults() []DescribedConfig {
	var out []DescribedConfig
	for _, e := range m.ResourceConfigs(BrokerDefaults()) {
		s, known := kafka.FindBrokerSetting(e.Name)
		if !known {
			s.Type = kafka.SettingString // of another version
		}
		d := DescribedConfig{Name: e.Name, Type: s.Type, ReadOnly: !s.Dynamic}
		d.Synonyms = []ConfigSynonym{{e.Name, e.Value, SourceBrokerDefaults}}
		out = append(out, d.resolve())
	}
	return out
}

// resolve takes what is in force from the first synonym.
func (d DescribedConfig) resolve() DescribedConfig {
	if len(d.Synonyms) > 0 {
		d.Value, d.Source = d.Synonyms[0].Value, d.Synonyms[0].Source
	}
	return d
}

// brokerSynonyms returns what is said about a broker setting, the default last. What is in force is
// what BrokerValues says.
func (m *Image) brokerSynonyms(static *kafka.BrokerValues, broker kafka.BrokerID,
	s *kafka.BrokerSetting,
) []ConfigSynonym {
	var out []ConfigSynonym
	add := func(r Resource, source ConfigSource) {
		for _, e := range m.ResourceConfigs(r) {
			if e.Name == s.Name && s.Obeyed(e.Value, r.Name == "") {
				out = append(out, ConfigSynonym{s.Name, e.Value, source})
			}
		}
	}
	if broker != kafka.NoBroker {
		add(BrokerResource(broker), SourceBroker)
	}
	add(BrokerDefaults(), SourceBrokerDefaults)
	if value := s.Value(static); value != s.Default && !s.WholeCluster {
		out = append(out, ConfigSynonym{s.Name, value, SourceStatic})
	}
	return append(out, ConfigSynonym{s.Name, s.Default, SourceDefault})
}
