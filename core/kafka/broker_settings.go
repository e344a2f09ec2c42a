package kafka

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// BrokerValues holds what is in force on one broker under the names of broker settings: a field for
// each that Stet acts upon. BrokerSettings binds the two. Times are in milliseconds.
type BrokerValues struct {
	Topic TopicConfig // where a topic sets nothing

	AdvertisedListeners string
	LogDirs             string
	NodeID              int32
	Rack                string

	AutoCreateTopics         bool
	AutoRebalanceLeaders     bool
	CheckpointIntervalMs     int64
	DefaultReplicationFactor int16
	FetchMaxBytes            int32
	FetchSessionSlots        int32
	HeartbeatIntervalMs      int64
	NumPartitions            int32
	ProducerExpirationMs     int64
	RebalanceCheckSeconds    int64
	RebalancePercent         int32
	RecoveryJobs             int32
	ReplicaFetchBackoffMs    int64
	ReplicaFetchBytes        int32
	ReplicaFetchMinBytes     int32
	ReplicaFetchTotalBytes   int32
	ReplicaFetchWaitMs       int64
	ReplicaLagTimeMs         int64
	RequestTimeoutMs         int64
}

// LeaderRebalance says when the first replica of a partition is to lead again, if another does.
type LeaderRebalance struct {
	Enabled      bool
	CheckSeconds int64
	Percent      int32 // of its partitions of 100, that a broker does not lead, until it is given them back
}

// DefaultLeaderRebalance returns Kafka's defaults.
func DefaultLeaderRebalance() LeaderRebalance {
	return LeaderRebalance{Enabled: true, CheckSeconds: 300, Percent: 10}
}

// BrokerSetting describes one broker setting of Kafka that Stet knows. What it does not know it
// refuses by name.
type BrokerSetting struct {
	Name    string
	Type    SettingType
	Default string // Kafka's, except where Stet does something else; "" for none
	// Dynamic settings can be changed while brokers run, for one or for all that set nothing.
	// Others are read when a broker starts.
	Dynamic bool
	// WholeCluster is a dynamic setting that must be the same on all brokers, because the controller
	// decides by it. What a node is started with is in force only as far as the cluster is founded
	// with it.
	WholeCluster bool

	topic TopicSetting // whose default it is; without a name for none
	set   func(v *BrokerValues, value string) error
	text  func(v *BrokerValues) string
}

// Check returns why a value can not be set, or nil. The error begins with the setting's name.
func (s *BrokerSetting) Check(value string) error {
	if s.topic.Name != "" {
		checked := s.topic
		checked.Name = s.Name
		return checked.Check(value)
	}
	if err := s.set(&BrokerValues{}, strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Obeyed says whether a broker that finds the value set while it runs, for all brokers or for itself,
// acts upon it. A value that this software would not accept was set by another version.
func (s *BrokerSetting) Obeyed(value string, forAll bool) bool {
	return s.Dynamic && (forAll || !s.WholeCluster) && s.Check(value) == nil
}

// Set changes the setting to a value that Check accepts.
func (s *BrokerSetting) Set(v *BrokerValues, value string) error {
	if s.topic.Name != "" {
		return v.Topic.Set(s.topic.Name, value)
	}
	return s.set(v, strings.TrimSpace(value))
}

// Value returns what is in force under v.
func (s *BrokerSetting) Value(v *BrokerValues) string {
	if s.topic.Name != "" {
		return s.topic.Value(&v.Topic)
	}
	return s.text(v)
}

// ForgetWholeCluster takes back what a node was started with where the whole cluster must agree.
func (v *BrokerValues) ForgetWholeCluster() {
	unset := DefaultTopicConfig()
	v.Topic.MinInsyncReplicas = unset.MinInsyncReplicas
	v.Topic.UncleanLeaderElection = unset.UncleanLeaderElection
}

// FindBrokerSetting returns the setting with Kafka's name.
func FindBrokerSetting(name string) (BrokerSetting, bool) {
	i, known := slices.BinarySearchFunc(brokerSettings, name, func(s BrokerSetting, name string) int {
		return strings.Compare(s.Name, name)
	})
	if !known {
		return BrokerSetting{}, false
	}
	return brokerSettings[i], true
}

// BrokerSettings lists the broker settings that Stet knows, by ascending name: its own values, and the
// defaults of all topic settings.
func BrokerSettings() []BrokerSetting { return slices.Clone(brokerSettings) }

var brokerSettings = makeBrokerSettings()

func makeBrokerSettings() []BrokerSetting {
	all := []BrokerSetting{
		brokerText("advertised.listeners", SettingList,
			func(v *BrokerValues) *string { return &v.AdvertisedListeners }),
		brokerText("broker.rack", SettingString, func(v *BrokerValues) *string { return &v.Rack }),
		brokerText("log.dirs", SettingList, func(v *BrokerValues) *string { return &v.LogDirs }),
		brokerNumber("node.id", SettingInt, "", 0, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.NodeID }),
		brokerBool("auto.create.topics.enable", "true",
			func(v *BrokerValues) *bool { return &v.AutoCreateTopics }),
		brokerBool("auto.leader.rebalance.enable", "true",
			func(v *BrokerValues) *bool { return &v.AutoRebalanceLeaders }),
		brokerNumber("leader.imbalance.check.interval.seconds", SettingLong, "300", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.RebalanceCheckSeconds }),
		brokerNumber("leader.imbalance.per.broker.percentage", SettingInt, "10", 0, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.RebalancePercent }),
		brokerNumber("broker.heartbeat.interval.ms", SettingInt, "150", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.HeartbeatIntervalMs }),
		brokerNumber("default.replication.factor", SettingInt, "1", 1, math.MaxInt16,
			func(v *BrokerValues) *int16 { return &v.DefaultReplicationFactor }),
		brokerNumber("fetch.max.bytes", SettingInt, "57671680", 1024, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.FetchMaxBytes }),
		brokerNumber("log.flush.offset.checkpoint.interval.ms", SettingInt, "60000", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.CheckpointIntervalMs }),
		brokerNumber("max.incremental.fetch.session.cache.slots", SettingInt, "1000", 0, 1<<20,
			func(v *BrokerValues) *int32 { return &v.FetchSessionSlots }),
		brokerNumber("num.partitions", SettingInt, "1", 1, 1<<20,
			func(v *BrokerValues) *int32 { return &v.NumPartitions }),
		dynamic(brokerNumber("num.recovery.threads.per.data.dir", SettingInt, "2", 1, 1<<10,
			func(v *BrokerValues) *int32 { return &v.RecoveryJobs })),
		dynamic(brokerNumber("producer.id.expiration.ms", SettingInt, "86400000", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.ProducerExpirationMs })),
		brokerNumber("replica.fetch.backoff.ms", SettingInt, "1000", 0, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.ReplicaFetchBackoffMs }),
		brokerNumber("replica.fetch.max.bytes", SettingInt, "1048576", 1, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.ReplicaFetchBytes }),
		brokerNumber("replica.fetch.min.bytes", SettingInt, "1", 1, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.ReplicaFetchMinBytes }),
		brokerNumber("replica.fetch.response.max.bytes", SettingInt, "10485760", 1, math.MaxInt32,
			func(v *BrokerValues) *int32 { return &v.ReplicaFetchTotalBytes }),
		brokerNumber("replica.fetch.wait.max.ms", SettingInt, "500", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.ReplicaFetchWaitMs }),
		brokerNumber("replica.lag.time.max.ms", SettingLong, "30000", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.ReplicaLagTimeMs }),
		brokerNumber("request.timeout.ms", SettingInt, "30000", 1, math.MaxInt32,
			func(v *BrokerValues) *int64 { return &v.RequestTimeoutMs }),
	}
	for _, t := range TopicSettings() {
		if name := t.BrokerName(); name != "" {
			all = append(all, BrokerSetting{
				Name: name, Type: t.Type, Default: t.Default, Dynamic: true,
				WholeCluster: name == "min.insync.replicas" || name == "unclean.leader.election.enable",
				topic:        t,
			})
		}
	}
	slices.SortFunc(all, func(a, b BrokerSetting) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func dynamic(s BrokerSetting) BrokerSetting {
	s.Dynamic = true
	return s
}

func brokerBool(name, value string, field func(*BrokerValues) *bool) BrokerSetting {
	return BrokerSetting{
		Name: name, Type: SettingBoolean, Default: value,
		set: func(v *BrokerValues, value string) error {
			on, err := parseBool(value)
			if err == nil {
				*field(v) = on
			}
			return err
		},
		text: func(v *BrokerValues) string { return strconv.FormatBool(*field(v)) },
	}
}

func brokerText(name string, kind SettingType, field func(*BrokerValues) *string) BrokerSetting {
	return BrokerSetting{
		Name: name, Type: kind,
		set: func(v *BrokerValues, value string) error {
			*field(v) = value
			return nil
		},
		text: func(v *BrokerValues) string { return *field(v) },
	}
}

func brokerNumber[T int16 | int32 | int64](name string, kind SettingType, value string,
	least, most int64, field func(*BrokerValues) *T,
) BrokerSetting {
	return BrokerSetting{
		Name: name, Type: kind, Default: value,
		set: func(v *BrokerValues, value string) error {
			n, err := parseNumber(value, least, most)
			if err == nil {
				*field(v) = T(n)
			}
			return err
		},
		text: func(v *BrokerValues) string { return strconv.FormatInt(int64(*field(v)), 10) },
	}
}
