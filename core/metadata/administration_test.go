package metadata

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

func grow(t testing.TB, image *Image, asked ...MorePartitions) (*Image, []GrownTopic) {
	records, outcomes := CreatePartitions(image, asked, rand.New(rand.NewPCG(1, 5)))
	next, err := image.Apply(image.Index()+1, records...)
	require.NoError(t, err)
	return next, outcomes
}

func TestTopicsGrowAndOldPartitionsStay(t *testing.T) {
	before, _ := create(t, fiveBrokers(t), topicNamed("a"), topicNamed("b"))
	after, outcomes := grow(t, before, MorePartitions{"a", 9, nil},
		MorePartitions{"b", 6, [][]kafka.BrokerID{{3, 1}, {5, 2}}})
	require.Equal(t, []GrownTopic{{Topic: "a"}, {Topic: "b"}}, outcomes)
	for name, count := range map[string]int{"a": 9, "b": 6} {
		topic := after.Topic(name)
		require.Equal(t, count, topic.PartitionCount())
		for id := range kafka.PartitionID(count) {
			p := topic.Partition(id)
			require.Len(t, p.Replicas, 2)
			if id < 4 {
				require.Equal(t, before.Topic(name).Partition(id), p)
			}
		}
	}
	require.Equal(t, []kafka.BrokerID{3, 1}, after.Topic("b").Partition(4).Replicas)
	fenced := after.Topic("b").Partition(5)
	require.Equal(t, []kafka.BrokerID{2}, fenced.ISR)
	require.EqualValues(t, 2, fenced.Leader)
}

func TestPartitionsThatCanNotBeAddedAreRefused(t *testing.T) {
	image, _ := create(t, fiveBrokers(t), topicNamed("a"))
	for name, c := range map[string]struct {
		asked MorePartitions
		code  kafka.ErrorCode
	}{
		"unknown":        {MorePartitions{"x", 9, nil}, kafka.UnknownTopicOrPartition},
		"same":           {MorePartitions{"a", 4, nil}, kafka.InvalidPartitions},
		"fewer":          {MorePartitions{"a", 3, nil}, kafka.InvalidPartitions},
		"negative":       {MorePartitions{"a", -1, nil}, kafka.InvalidPartitions},
		"too many":       {MorePartitions{"a", 10_005, nil}, kafka.PolicyViolation},
		"none assigned":  {MorePartitions{"a", 5, [][]kafka.BrokerID{}}, kafka.InvalidReplicaAssignment},
		"two assigned":   {MorePartitions{"a", 5, [][]kafka.BrokerID{{1, 2}, {1, 2}}}, kafka.InvalidReplicaAssignment},
		"other factor":   {MorePartitions{"a", 5, [][]kafka.BrokerID{{1}}}, kafka.InvalidReplicaAssignment},
		"twice":          {MorePartitions{"a", 5, [][]kafka.BrokerID{{1, 1}}}, kafka.InvalidReplicaAssignment},
		"not registered": {MorePartitions{"a", 5, [][]kafka.BrokerID{{1, 9}}}, kafka.InvalidReplicaAssignment},
	} {
		records, outcomes := CreatePartitions(image, []MorePartitions{c.asked}, nil)
		require.Empty(t, records, name)
		require.Equal(t, c.code, outcomes[0].Error, name)
		require.NotEmpty(t, outcomes[0].Message, name)
	}
	_, outcomes := CreatePartitions(image, []MorePartitions{{"a", 5, nil}, {"a", 6, nil}}, nil)
	require.Equal(t, kafka.InvalidRequest, outcomes[0].Error)
	require.Equal(t, kafka.InvalidRequest, outcomes[1].Error)
}

// alter decides on changes of one resource and applies the decision.
func alter(t require.TestingT, image *Image, c ResourceChange) (*Image, AlteredResource) {
	records, outcomes := AlterConfigs(image, []ResourceChange{c})
	next, err := image.Apply(image.Index()+1, records...)
	require.NoError(t, err)
	return next, outcomes[0]
}

func change(op ConfigOp, name, value string) ConfigChange { return ConfigChange{name, op, &value} }

func TestAllFaultsOfSettingsAreNamedInOneMessage(t *testing.T) {
	image, _ := create(t, fiveBrokers(t), topicNamed("a"))
	next, outcome := alter(t, image, ResourceChange{
		Resource: Resource{ResourceTopic, "a"}, Changes: []ConfigChange{
			change(ConfigSet, "segment.ms", "0"), change(ConfigSet, "nonsense", "1"),
			change(ConfigAppend, "flush.messages", "1"), change(ConfigSet, "retention.ms", "5"),
			change(ConfigAppend, "cleanup.policy", "compact"), change(ConfigSet, "flush.messages", "1"),
			change(ConfigSet, "max.message.bytes", "5"),
			{"segment.bytes", ConfigSet, nil},
			change(7, "preallocate", "false"),
		},
	})
	require.Equal(t, kafka.InvalidRequest, outcome.Error)
	require.Equal(t, []string{
		`segment.ms: "0" is not an integer from 1 to 9223372036854775807`,
		`nonsense: there is no such setting of a topic`,
		`flush.messages: set twice`,
		`retention.ms: "5" would not be obeyed, because Stet keeps records for ever, so far: leave it out, or set "-1"`,
		`cleanup.policy: "delete,compact" would not be obeyed, because Stet does not compact yet: leave it out, or set "delete"`,
		`segment.bytes: no value is given`,
		`preallocate: there is no operation 7`,
	}, strings.Split(outcome.Message, "; "))
	require.Empty(t, next.Topic("a").Configs())
}

func TestResourcesSucceedOrFailApart(t *testing.T) {
	image, _ := create(t, fiveBrokers(t), topicNamed("a"))
	set := func(name, value string) []ConfigChange { return []ConfigChange{change(ConfigSet, name, value)} }
	asked := []ResourceChange{
		{Resource: Resource{ResourceTopic, "a"}, Changes: set("segment.ms", "5")},
		{Resource: Resource{ResourceTopic, ""}, Changes: set("segment.ms", "5")},
		{Resource: Resource{ResourceTopic, "x"}, Changes: set("segment.ms", "5")},
		{Resource: Resource{ResourceBroker, "3"}, Changes: set("log.roll.ms", "6")},
		{Resource: Resource{ResourceBroker, "9"}, Changes: set("log.roll.ms", "6")},
		{Resource: Resource{ResourceBroker, "+4"}, Changes: set("log.roll.ms", "6")},
		{Resource: Resource{ResourceBroker, "b"}, Changes: set("log.roll.ms", "6")},
		{Resource: BrokerDefaults(), Changes: set("min.insync.replicas", "3")},
		{Resource: BrokerResource(1), Changes: set("min.insync.replicas", "3")},
		{Resource: BrokerResource(2), Changes: set("num.partitions", "3")},
		{Resource: BrokerResource(5), Changes: set("background.threads", "3")},
		{Resource: Resource{8, "1"}, Changes: set("kafka", "INFO")},
		{Resource: BrokerResource(4), Changes: set("log.roll.ms", "7")},
		{Resource: BrokerResource(4), Changes: set("log.roll.ms", "8")},
	}
	records, outcomes := AlterConfigs(image, asked)
	var codes []kafka.ErrorCode
	for _, o := range outcomes {
		codes = append(codes, o.Error)
		require.Equal(t, o.Error == kafka.None, o.Message == "")
	}
	require.Equal(t, []kafka.ErrorCode{
		kafka.None, kafka.InvalidRequest, kafka.UnknownTopicOrPartition, kafka.None,
		kafka.BrokerIDNotRegistered, kafka.InvalidRequest, kafka.InvalidRequest, kafka.None,
		kafka.InvalidConfig, kafka.InvalidRequest, kafka.InvalidRequest, kafka.InvalidRequest,
		kafka.InvalidRequest, kafka.InvalidRequest,
	}, codes)
	require.Equal(t, []Record{
		&ConfigRecord{Resource: Resource{ResourceTopic, "a"}, Name: "segment.ms", Value: "5"},
		&ConfigRecord{Resource: BrokerResource(3), Name: "log.roll.ms", Value: "6"},
		&ConfigRecord{Resource: BrokerDefaults(), Name: "min.insync.replicas", Value: "3"},
	}, records)
}

func TestABrokersOwnSettingsStandAboveTheDefaultOfAllAndThatAboveWhatItWasStartedWith(t *testing.T) {
	image := fiveBrokers(t)
	static := kafka.BrokerValues{Topic: kafka.DefaultTopicConfig(), ProducerExpirationMs: 1}
	image, _ = alter(t, image, ResourceChange{Resource: BrokerDefaults(), Changes: []ConfigChange{
		change(ConfigSet, "log.roll.ms", "5"), change(ConfigSet, "message.max.bytes", "6"),
		change(ConfigSet, "min.insync.replicas", "3"),
	}})
	image, _ = alter(t, image, ResourceChange{Resource: BrokerResource(2), Changes: []ConfigChange{
		change(ConfigSet, "log.roll.ms", "7"), change(ConfigSet, "producer.id.expiration.ms", "8"),
	}})
	one, two := image.BrokerValues(static, 1), image.BrokerValues(static, 2)
	require.EqualValues(t, 5, one.Topic.SegmentMs)
	require.EqualValues(t, 1, one.ProducerExpirationMs)
	require.EqualValues(t, 7, two.Topic.SegmentMs)
	require.EqualValues(t, 8, two.ProducerExpirationMs)
	require.EqualValues(t, 6, two.Topic.MaxMessageBytes)
	cluster := image.ClusterTopicConfig(kafka.DefaultTopicConfig())
	require.EqualValues(t, 3, cluster.MinInsyncReplicas)
	require.EqualValues(t, 5, cluster.SegmentMs)
}

func TestWhatAnotherVersionSetCanBeDeleted(t *testing.T) {
	image, err := fiveBrokers(t).Apply(2, &ConfigRecord{Resource: BrokerDefaults(), Name: "new", Value: "1"})
	require.NoError(t, err)
	require.Equal(t, kafka.BrokerValues{}, image.BrokerValues(kafka.BrokerValues{}, 1))
	image, outcome := alter(t, image, ResourceChange{
		Resource: BrokerDefaults(),
		Changes:  []ConfigChange{{Name: "new", Op: ConfigDelete}},
	})
	require.Equal(t, kafka.None, outcome.Error)
	require.Empty(t, image.ResourceConfigs(BrokerDefaults()))
	records, outcomes := AlterConfigs(image, []ResourceChange{{
		Resource: BrokerDefaults(), Changes: []ConfigChange{{Name: "new", Op: ConfigDelete}},
	}})
	require.Equal(t, kafka.None, outcomes[0].Error, "what is not set is gone already")
	require.Empty(t, records)
}

// TestAlteringIsAMapOfWords compares sequences of changes with a map and, for lists, ordered sets.
func TestAlteringIsAMapOfWords(t *testing.T) {
	start, _ := create(t, fiveBrokers(t), topicNamed("a"))
	numbers := []string{"segment.ms", "flush.messages", "max.message.bytes"}
	rapid.Check(t, func(t *rapid.T) {
		image, model := start, map[string]string{}
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			asked := ResourceChange{
				Resource: Resource{ResourceTopic, "a"},
				Replace:  rapid.Bool().Draw(t, "replace"),
			}
			next := map[string]string{}
			if !asked.Replace {
				for k, v := range model {
					next[k] = v
				}
			}
			good := true
			for _, name := range numbers {
				if !rapid.Bool().Draw(t, name) {
					continue
				}
				value := rapid.SampledFrom([]string{"5", " 7 ", "-1", "x"}).Draw(t, "value")
				op := rapid.SampledFrom([]ConfigOp{ConfigSet, ConfigDelete, ConfigAppend}).Draw(t, "op")
				if asked.Replace {
					op = ConfigSet
				}
				asked.Changes = append(asked.Changes, change(op, name, value))
				switch {
				case op == ConfigDelete:
					delete(next, name)
				case op == ConfigAppend || value == "-1" || value == "x":
					good = false
				default:
					next[name] = strings.TrimSpace(value)
				}
			}
			if rapid.Bool().Draw(t, "list") && !asked.Replace {
				op := rapid.SampledFrom([]ConfigOp{ConfigAppend, ConfigSubtract}).Draw(t, "list op")
				asked.Changes = append(asked.Changes, change(op, "cleanup.policy", "delete"))
				next["cleanup.policy"] = map[ConfigOp]string{ConfigAppend: "delete"}[op]
			}
			after, outcome := alter(t, image, asked)
			require.Equal(t, good, outcome.Error == kafka.None, outcome.Message)
			if good {
				model = next
			}
			got := map[string]string{}
			for _, e := range after.Topic("a").Configs() {
				got[e.Name] = e.Value
			}
			require.Equal(t, model, got)
			image = after
		}
	})
}

func TestListsAreChangedInPlace(t *testing.T) {
	for _, c := range []struct {
		list, change string
		op           ConfigOp
		want         string
	}{
		{"", "a", ConfigAppend, "a"},
		{"a, b", "b,c", ConfigAppend, "a,b,c"},
		{"a,b,c", "b,x", ConfigSubtract, "a,c"},
		{"a", "a", ConfigSubtract, ""},
		{"", "a", ConfigSubtract, ""},
		{"a", "", ConfigAppend, "a"},
	} {
		require.Equal(t, c.want, changeList(c.list, c.change, c.op), c)
	}
}

func TestFeatureLevelsRiseWhenAllBrokersSupportThem(t *testing.T) {
	supported := Levels{1, 2}.Advertised()
	image, err := Empty().Apply(1, &ClusterRecord{"c", Features{Level: 1}},
		&BrokerRecord{Broker{ID: 1, Epoch: -1, Features: []FeatureRange{{FeatureName, 1, 2}}}})
	require.NoError(t, err)
	require.Equal(t, []FinalizedFeature{{MetadataFeature, 33}, {FeatureName, 1}},
		image.FinalizedFeatures())
	raise := []FeatureUpdate{{FeatureName, 2, Upgrade}}
	records, outcomes, code, _ := UpdateFeatures(image, supported, raise)
	require.Equal(t, kafka.None, code)
	require.Equal(t, []UpdatedFeature{{Name: FeatureName}}, outcomes)
	raised, err := image.Apply(2, records...)
	require.NoError(t, err)
	require.EqualValues(t, 2, raised.Features().Level)

	old, err := image.Apply(2, &BrokerRecord{Broker{ID: 2, Epoch: -1, Features: Levels{1, 1}.Features()}})
	require.NoError(t, err)
	records, _, code, message := UpdateFeatures(old, supported, raise)
	require.Empty(t, records)
	require.Equal(t, kafka.InvalidUpdateVersion, code)
	require.Contains(t, message, "broker 2")
	old, err = image.Apply(2, &VoterRecord{Voter{ID: 7, Node: 3, Features: Levels{1, 1}.Features()}})
	require.NoError(t, err)
	_, _, code, message = UpdateFeatures(old, supported, raise)
	require.Equal(t, kafka.InvalidUpdateVersion, code)
	require.Contains(t, message, "controller 3")

	for name, c := range map[string]struct {
		asked []FeatureUpdate
		code  kafka.ErrorCode
	}{
		"same":        {[]FeatureUpdate{{FeatureName, 2, Upgrade}, {MetadataFeature, 33, Upgrade}}, kafka.None},
		"lower":       {[]FeatureUpdate{{FeatureName, 1, UnsafeDowngrade}}, kafka.InvalidUpdateVersion},
		"unsupported": {[]FeatureUpdate{{FeatureName, 3, Upgrade}}, kafka.InvalidUpdateVersion},
		"unknown":     {[]FeatureUpdate{{"group.version", 1, Upgrade}}, kafka.InvalidUpdateVersion},
		"other":       {[]FeatureUpdate{{MetadataFeature, 32, SafeDowngrade}}, kafka.InvalidUpdateVersion},
		"type":        {[]FeatureUpdate{{FeatureName, 2, 0}}, kafka.InvalidRequest},
		"twice":       {[]FeatureUpdate{raise[0], raise[0]}, kafka.InvalidRequest},
	} {
		records, outcomes, code, message := UpdateFeatures(raised, supported, c.asked)
		require.Empty(t, records, name)
		require.Equal(t, c.code, code, name)
		require.Equal(t, code == kafka.None, message == "", name)
		require.Len(t, outcomes, len(c.asked), name)
	}
	_, _, code, _ = UpdateFeatures(image, supported, []FeatureUpdate{{FeatureName, 2, SafeDowngrade}})
	require.Equal(t, kafka.InvalidUpdateVersion, code)
}

func TestAdvertisedFeaturesAreSorted(t *testing.T) {
	require.True(t, slices.IsSortedFunc(BuildLevels().Advertised(), func(a, b FeatureRange) int {
		return strings.Compare(a.Name, b.Name)
	}))
	require.Nil(t, Empty().FinalizedFeatures())
}

func TestDescribedSettingsSayWhereTheyComeFrom(t *testing.T) {
	image, _ := create(t, fiveBrokers(t), with(func(n *NewTopic) {
		n.Name, n.Configs = "a", settings("segment.ms", "9")
	}))
	image, _ = alter(t, image, ResourceChange{Resource: BrokerDefaults(), Changes: []ConfigChange{
		change(ConfigSet, "log.roll.ms", "5"), change(ConfigSet, "message.max.bytes", "6"),
	}})
	image, _ = alter(t, image, ResourceChange{Resource: BrokerResource(2), Changes: []ConfigChange{
		change(ConfigSet, "log.roll.ms", "7"),
	}})
	static := kafka.BrokerValues{Topic: kafka.DefaultTopicConfig(), NumPartitions: 3}
	static.Topic.SegmentMs = 8
	find := func(all []DescribedConfig, name string) DescribedConfig {
		i := slices.IndexFunc(all, func(d DescribedConfig) bool { return d.Name == name })
		require.GreaterOrEqual(t, i, 0)
		return all[i]
	}
	topic := image.DescribeTopicConfigs(&static, 2, image.Topic("a").Configs(), 3)
	require.Equal(t, DescribedConfig{"segment.ms", "9", kafka.SettingLong, SourceTopic, false, false, []ConfigSynonym{
		{"segment.ms", "9", SourceTopic},
		{"log.roll.ms", "7", SourceBroker},
		{"log.roll.ms", "5", SourceBrokerDefaults},
		{"log.roll.ms", "8", SourceStatic},
		{"log.roll.ms", "604800000", SourceDefault},
	}}, find(topic, "segment.ms"))
	require.Equal(t, DescribedConfig{
		"min.insync.replicas", "2", kafka.SettingInt, SourceDefault, false, false,
		[]ConfigSynonym{{"min.insync.replicas", "2", SourceDefault}},
	}, find(topic, "min.insync.replicas"))
	require.Equal(t, DescribedConfig{
		"remote.storage.enable", "false", kafka.SettingBoolean, SourceDefault,
		false, false, nil,
	}, find(topic, "remote.storage.enable"))
	require.Equal(t, SourceBrokerDefaults, find(topic, "max.message.bytes").Source)

	broker := image.DescribeBrokerConfigs(&static, 2)
	require.Equal(t, SourceBroker, find(broker, "log.roll.ms").Source)
	require.Equal(t, DescribedConfig{
		"num.partitions", "3", kafka.SettingInt, SourceStatic, true, false,
		[]ConfigSynonym{{"num.partitions", "3", SourceStatic}, {"num.partitions", "1", SourceDefault}},
	}, find(broker, "num.partitions"))
	values := image.BrokerValues(static, 2)
	require.True(t, find(broker, "broker.rack").Unset)
	for _, d := range broker { // what is described is what is obeyed
		s, _ := kafka.FindBrokerSetting(d.Name)
		require.Equal(t, s.Value(&values), d.Value, d.Name)
	}
	var names []string
	for _, d := range image.DescribeBrokerDefaults() {
		require.Equal(t, SourceBrokerDefaults, d.Source)
		names = append(names, d.Name)
	}
	require.Equal(t, []string{"log.roll.ms", "message.max.bytes"}, names)
}

func TestWhatAllBrokersShareIsWhatTheClusterWasFoundedWith(t *testing.T) {
	static := kafka.DefaultTopicConfig()
	require.Empty(t, FoundingSettings(static))
	static.MinInsyncReplicas, static.SegmentMs = 3, 5
	founded, err := fiveBrokers(t).Apply(2, FoundingSettings(static)...)
	require.NoError(t, err)
	require.Equal(t, []ConfigEntry{{"min.insync.replicas", "3"}}, founded.ResourceConfigs(BrokerDefaults()))
	require.Empty(t, founded.IgnoredSettings(static))
	require.Empty(t, founded.IgnoredSettings(kafka.DefaultTopicConfig()))
	static.MinInsyncReplicas = 2
	require.Equal(t, []ConfigEntry{{"min.insync.replicas", "2"}}, founded.IgnoredSettings(static))
	require.EqualValues(t, 3, founded.ClusterTopicConfig(static).MinInsyncReplicas)
	require.EqualValues(t, 3, founded.BrokerValues(kafka.BrokerValues{Topic: static}, 1).Topic.MinInsyncReplicas)
	require.Zero(t, fiveBrokers(t).BrokerValues(kafka.BrokerValues{Topic: static}, 1).Topic.MinInsyncReplicas)
}
