package controller

import (
	"testing"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func growthRequest(topic string, count int32, validateOnly bool) *kmsg.CreatePartitionsRequest {
	m := kmsg.NewPtrCreatePartitionsRequest()
	m.Version, m.ValidateOnly = 3, validateOnly
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, count
	m.Topics = append(m.Topics, t)
	return m
}

func alterationRequest(kind metadata.ResourceType, name string, op kmsg.IncrementalAlterConfigOp,
	setting, value string,
) *kmsg.IncrementalAlterConfigsRequest {
	m := kmsg.NewPtrIncrementalAlterConfigsRequest()
	m.Version = 1
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceType(kind), name
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op, c.Value = setting, op, &value
	r.Configs = append(r.Configs, c)
	m.Resources = append(m.Resources, r)
	return m
}

func replacementRequest(topic string, pairs ...string) *kmsg.AlterConfigsRequest {
	m := kmsg.NewPtrAlterConfigsRequest()
	m.Version = 2
	r := kmsg.NewAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for i := 0; i < len(pairs); i += 2 {
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name, c.Value = pairs[i], &pairs[i+1]
		r.Configs = append(r.Configs, c)
	}
	m.Resources = append(m.Resources, r)
	return m
}

// administered is a controller with broker 1 and the topic a.
func administered(t *testing.T) *rig {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	r.call(creationRequest(2, "a"))
	return r
}

func TestPartitionsAreAdded(t *testing.T) {
	r := administered(t)
	for _, c := range []struct {
		count    int32
		validate bool
		code     kafka.ErrorCode
		want     int
	}{
		{5, true, kafka.None, 2},
		{5, false, kafka.None, 5},
		{5, false, kafka.InvalidPartitions, 5},
	} {
		answer := r.call(growthRequest("a", c.count, c.validate)).(*kmsg.CreatePartitionsResponse)
		require.Equal(t, "a", answer.Topics[0].Topic)
		require.Equal(t, c.code, kafka.ErrorCode(answer.Topics[0].ErrorCode))
		require.Equal(t, c.code == kafka.None, answer.Topics[0].ErrorMessage == nil)
		require.Equal(t, c.want, r.c.Image().Topic("a").PartitionCount())
	}
}

func TestSettingsAreChangedWhenTheAnswerComesAndStay(t *testing.T) {
	r := administered(t)
	request := alterationRequest(metadata.ResourceTopic, "a", 0, "segment.ms", "5")
	request.ValidateOnly = true
	answer := r.call(request).(*kmsg.IncrementalAlterConfigsResponse)
	require.Zero(t, answer.Resources[0].ErrorCode)
	require.Empty(t, r.c.Image().Topic("a").Configs())
	request.ValidateOnly = false
	answer = r.call(request).(*kmsg.IncrementalAlterConfigsResponse)
	require.Zero(t, answer.Resources[0].ErrorCode)
	require.Equal(t, kmsg.ConfigResourceTypeTopic, answer.Resources[0].ResourceType)
	require.Equal(t, "a", answer.Resources[0].ResourceName)
	want := []metadata.ConfigEntry{{Name: "segment.ms", Value: "5"}}
	require.Equal(t, want, r.c.Image().Topic("a").Configs())

	answer = r.call(alterationRequest(metadata.ResourceTopic, "a", 2, "segment.ms", "5")).(*kmsg.IncrementalAlterConfigsResponse)
	require.Equal(t, kafka.InvalidConfig, kafka.ErrorCode(answer.Resources[0].ErrorCode))
	require.Contains(t, *answer.Resources[0].ErrorMessage, "segment.ms: it is no list")
	r.call(alterationRequest(metadata.ResourceBroker, "", 0, "message.max.bytes", "77"))
	r.reset()
	r.boot()
	require.Equal(t, want, r.c.Image().Topic("a").Configs())
	require.Equal(t, []metadata.ConfigEntry{{Name: "message.max.bytes", Value: "77"}},
		r.c.Image().ResourceConfigs(metadata.BrokerDefaults()))

	replaced := r.call(replacementRequest("a", "flush.messages", "1")).(*kmsg.AlterConfigsResponse)
	require.Zero(t, replaced.Resources[0].ErrorCode)
	require.Equal(t, "a", replaced.Resources[0].ResourceName)
	require.Equal(t, []metadata.ConfigEntry{{Name: "flush.messages", Value: "1"}},
		r.c.Image().Topic("a").Configs())
}

func TestCreationTellsWhatIsSetForAllBrokers(t *testing.T) {
	r := administered(t)
	r.call(alterationRequest(metadata.ResourceBroker, "", 0, "message.max.bytes", "77"))
	answer := r.call(creationRequest(1, "b")).(*kmsg.CreateTopicsResponse)
	for _, e := range answer.Topics[0].Configs {
		if e.Name == "max.message.bytes" {
			require.Equal(t, "77", *e.Value)
			require.EqualValues(t, metadata.SourceBrokerDefaults, e.Source)
			return
		}
	}
	t.Fatal("max.message.bytes is not told")
}

func TestTheIndexHasWhatWasAnsweredBefore(t *testing.T) {
	r := administered(t)
	r.call(growthRequest("a", 5, false))
	answer := r.call(new(wire.MetadataIndexRequest)).(*wire.MetadataIndexResponse)
	require.Zero(t, answer.ErrorCode)
	require.Equal(t, int64(r.c.Image().Index()), answer.Index)
}

func TestFeaturesInForceStayAndOthersAreRefused(t *testing.T) {
	r := administered(t)
	for version := range int16(3) {
		m := kmsg.NewPtrUpdateFeaturesRequest()
		m.Version = version
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.MaxVersionLevel, u.UpgradeType = metadata.FeatureName, metadata.CurrentLevel, 1
		m.FeatureUpdates = append(m.FeatureUpdates, u)
		answer := r.call(m).(*kmsg.UpdateFeaturesResponse)
		require.Zero(t, answer.ErrorCode)
		require.Equal(t, version < 2, len(answer.Results) == 1)
		m.FeatureUpdates[0].MaxVersionLevel++
		answer = r.call(m).(*kmsg.UpdateFeaturesResponse)
		require.Equal(t, kafka.InvalidUpdateVersion, kafka.ErrorCode(answer.ErrorCode))
		require.Contains(t, *answer.ErrorMessage, "stet.version: level 3 is not supported")
	}
	require.Equal(t, metadata.CurrentLevel, r.c.Image().Features().Level)
}

func TestAdministrationBeforeTheElectionIsRefused(t *testing.T) {
	r := newRig(t, 1)
	r.turn(env.Event{Kind: env.EventTick})
	features := kmsg.NewPtrUpdateFeaturesRequest()
	features.Version = 2
	for _, m := range []kmsg.Request{
		growthRequest("a", 5, false), replacementRequest("a"), features,
		alterationRequest(metadata.ResourceTopic, "a", 0, "segment.ms", "5"),
		new(wire.MetadataIndexRequest),
	} {
		var code int16
		switch answer := r.answers[r.send(m)].(type) {
		case *kmsg.CreatePartitionsResponse:
			code = answer.Topics[0].ErrorCode
		case *kmsg.AlterConfigsResponse:
			code = answer.Resources[0].ErrorCode
		case *kmsg.IncrementalAlterConfigsResponse:
			code = answer.Resources[0].ErrorCode
		case *kmsg.UpdateFeaturesResponse:
			code = answer.ErrorCode
		case *wire.MetadataIndexResponse:
			code = answer.ErrorCode
		}
		require.Equal(t, kafka.NotController, kafka.ErrorCode(code), "%T", m)
	}
}

func TestTheFoundersSettingsAreTheClusters(t *testing.T) {
	r := newRig(t, 1)
	r.config.Topic.MinInsyncReplicas = 2
	r.boot()
	want := []metadata.ConfigEntry{{Name: "min.insync.replicas", Value: "2"}}
	require.Equal(t, want, r.c.Image().ResourceConfigs(metadata.BrokerDefaults()))
	r.reset()
	r.config.Topic.MinInsyncReplicas = 3
	r.boot()
	require.True(t, r.c.Ready())
	require.Equal(t, want, r.c.Image().ResourceConfigs(metadata.BrokerDefaults()))
}
