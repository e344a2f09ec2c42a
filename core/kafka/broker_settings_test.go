package kafka

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokerSettingsAreSortedAndTheirDefaultsAccepted(t *testing.T) {
	all := BrokerSettings()
	require.True(t, slices.IsSortedFunc(all, func(a, b BrokerSetting) int {
		return strings.Compare(a.Name, b.Name)
	}))
	var values BrokerValues
	for _, s := range all {
		if s.Default == "" && s.Type != SettingList && s.Type != SettingString {
			continue // it has none
		}
		require.NoError(t, s.Check(s.Default), s.Name)
		require.NoError(t, s.Set(&values, s.Default), s.Name)
		require.Equal(t, s.Default, s.Value(&values), s.Name)
		found, known := FindBrokerSetting(s.Name)
		require.True(t, known)
		require.Equal(t, s.Default, found.Default)
	}
	require.Equal(t, DefaultTopicConfig(), values.Topic)
}

// Every field of BrokerValues is reached by one setting: what is in force has a name.
func TestBrokerSettingsAndFieldsAreOne(t *testing.T) {
	reached := map[int]string{}
	for _, s := range BrokerSettings() {
		if s.topic.Name != "" {
			continue
		}
		value := "1234"
		if s.Type == SettingBoolean {
			value = "true"
		}
		if s.Name == "num.recovery.threads.per.data.dir" {
			value = "3"
		}
		var values BrokerValues
		require.NoError(t, s.Set(&values, value), s.Name)
		v := reflect.ValueOf(values)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				require.Empty(t, reached[i], v.Type().Field(i).Name)
				reached[i] = s.Name
			}
		}
	}
	require.Len(t, reached, reflect.TypeFor[BrokerValues]().NumField()-1) // Topic has its own test
}

// The names are those of Kafka 4.4 (ServerTopicConfigSynonyms, the first of each list).
func TestTopicSettingsHaveTheirBrokerSettings(t *testing.T) {
	names := map[string]string{}
	for _, s := range TopicSettings() {
		names[s.Name] = s.BrokerName()
	}
	require.Equal(t, map[string]string{
		"cleanup.policy":                          "log.cleanup.policy",
		"compression.gzip.level":                  "compression.gzip.level",
		"compression.lz4.level":                   "compression.lz4.level",
		"compression.type":                        "compression.type",
		"compression.zstd.level":                  "compression.zstd.level",
		"delete.retention.ms":                     "log.cleaner.delete.retention.ms",
		"errors.deadletterqueue.group.enable":     "",
		"file.delete.delay.ms":                    "log.segment.delete.delay.ms",
		"flush.messages":                          "log.flush.interval.messages",
		"flush.ms":                                "log.flush.interval.ms",
		"follower.replication.throttled.replicas": "",
		"index.interval.bytes":                    "log.index.interval.bytes",
		"leader.replication.throttled.replicas":   "",
		"local.retention.bytes":                   "log.local.retention.bytes",
		"local.retention.ms":                      "log.local.retention.ms",
		"max.compaction.lag.ms":                   "log.cleaner.max.compaction.lag.ms",
		"max.decompressed.message.bytes":          "max.decompressed.message.bytes",
		"max.message.bytes":                       "message.max.bytes",
		"message.timestamp.after.max.ms":          "log.message.timestamp.after.max.ms",
		"message.timestamp.before.max.ms":         "log.message.timestamp.before.max.ms",
		"message.timestamp.type":                  "log.message.timestamp.type",
		"min.cleanable.dirty.ratio":               "log.cleaner.min.cleanable.ratio",
		"min.compaction.lag.ms":                   "log.cleaner.min.compaction.lag.ms",
		"min.insync.replicas":                     "min.insync.replicas",
		"preallocate":                             "log.preallocate",
		"remote.copy.lag.bytes":                   "log.remote.copy.lag.bytes",
		"remote.copy.lag.ms":                      "log.remote.copy.lag.ms",
		"remote.log.copy.disable":                 "",
		"remote.log.delete.on.disable":            "",
		"remote.storage.enable":                   "",
		"retention.bytes":                         "log.retention.bytes",
		"retention.ms":                            "log.retention.ms",
		"segment.bytes":                           "log.segment.bytes",
		"segment.index.bytes":                     "log.index.size.max.bytes",
		"segment.jitter.ms":                       "log.roll.jitter.ms",
		"segment.ms":                              "log.roll.ms",
		"unclean.leader.election.enable":          "unclean.leader.election.enable",
	}, names)
}

func TestBrokerValuesThatCanNotBeObeyedAreRefusedByName(t *testing.T) {
	for name, wrong := range map[string]string{
		"auto.create.topics.enable":       `auto.create.topics.enable: "yes" is neither true nor false`,
		"num.partitions":                  `num.partitions: "yes" is not an integer from 1 to 1048576`,
		"message.max.bytes":               `message.max.bytes: "yes" is not an integer from 0 to 2147483647`,
		"log.retention.ms":                `log.retention.ms: "yes" would not be obeyed`,
		"log.cleaner.min.cleanable.ratio": `log.cleaner.min.cleanable.ratio: "yes" would not be obeyed`,
	} {
		s, known := FindBrokerSetting(name)
		require.True(t, known, name)
		require.ErrorContains(t, s.Check("yes"), wrong)
	}
	_, known := FindBrokerSetting("background.threads")
	require.False(t, known)
}

func TestWhatTheWholeClusterMustAgreeOnIsForgotten(t *testing.T) {
	var values BrokerValues
	for _, s := range BrokerSettings() {
		if s.WholeCluster {
			value := map[SettingType]string{SettingInt: "3", SettingBoolean: "true"}[s.Type]
			require.NoError(t, s.Set(&values, value), s.Name)
			require.NotEqual(t, s.Default, s.Value(&values), s.Name)
		}
	}
	values.ForgetWholeCluster()
	require.Equal(t, BrokerValues{}, values)
}
