package kafka

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettingsAreSortedAndTheirDefaultsAccepted(t *testing.T) {
	all := TopicSettings()
	require.Len(t, all, 37)
	require.True(t, slices.IsSortedFunc(all, func(a, b TopicSetting) int {
		return strings.Compare(a.Name, b.Name)
	}))
	config := DefaultTopicConfig()
	for _, s := range all {
		if s.Name == "min.insync.replicas" {
			continue // by the number of replicas
		}
		require.NoError(t, s.Check(s.Default), s.Name)
		require.NoError(t, config.Set(s.Name, s.Default), s.Name)
		require.Equal(t, s.Default, s.Value(&config), s.Name)
	}
	require.Equal(t, DefaultTopicConfig(), config)
}

// Every field of TopicConfig is reached by one setting: what is in force has a name.
func TestSettingsAndFieldsAreOne(t *testing.T) {
	values := map[string]string{
		"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime",
		"unclean.leader.election.enable": "TRUE",
	}
	reached := map[int]string{}
	for _, s := range TopicSettings() {
		if s.set == nil {
			require.NotEmpty(t, s.instead, "%s: nothing obeys it, so it must say what Stet does", s.Name)
			continue
		}
		value := values[s.Name]
		if value == "" {
			value = "1234567"
		}
		var config TopicConfig
		require.NoError(t, config.Set(s.Name, value), s.Name)
		v := reflect.ValueOf(config)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				require.Empty(t, reached[i], v.Type().Field(i).Name)
				reached[i] = s.Name
			}
		}
	}
	require.Len(t, reached, reflect.TypeFor[TopicConfig]().NumField())
}

func TestValuesThatAreObeyedAreAccepted(t *testing.T) {
	for _, pair := range [][2]string{
		{"cleanup.policy", ""},
		{"cleanup.policy", " delete "},
		{"preallocate", "FALSE"},
		{"retention.ms", "-1"},
		{"segment.bytes", " 1048576 "},
		{"compression.type", " producer "},
		{"message.timestamp.type", "LogAppendTime"},
		{"flush.messages", "1"},
		{"min.insync.replicas", "2"},
		{"unclean.leader.election.enable", " True "},
	} {
		s, known := FindTopicSetting(pair[0])
		require.True(t, known)
		require.NoError(t, s.Check(pair[1]))
	}
}

func TestValuesThatNothingObeysAreRefusedByName(t *testing.T) {
	for _, pair := range [][2]string{
		{"cleanup.policy", "compact"},
		{"cleanup.policy", "delete, compact"},
		{"preallocate", "true"},
		{"flush.ms", "1000"},
		{"retention.ms", "604800000"},
		{"retention.bytes", "1"},
		{"compression.type", "gzip"},
		{"compression.gzip.level", "5"},
		{"file.delete.delay.ms", "60000"},
		{"remote.storage.enable", "true"},
		{"segment.jitter.ms", "1"},
		{"delete.retention.ms", "1"},
		{"min.cleanable.dirty.ratio", "0.1"},
	} {
		s, known := FindTopicSetting(pair[0])
		require.True(t, known)
		err := s.Check(pair[1])
		require.ErrorContains(t, err, pair[0]+": ")
		require.ErrorContains(t, err, "leave it out, or set")
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	for _, pair := range [][2]string{
		{"cleanup.policy", "shred"},
		{"cleanup.policy", "delete,delete"},
		{"preallocate", "yes"},
		{"retention.ms", "x"},
		{"segment.bytes", "1048575"},
		{"max.message.bytes", "2147483648"},
		{"message.timestamp.type", "createtime"},
		{"min.insync.replicas", "0"},
		{"unclean.leader.election.enable", "yes"},
		{"flush.messages", ""},
	} {
		s, known := FindTopicSetting(pair[0])
		require.True(t, known)
		require.ErrorContains(t, s.Check(pair[1]), pair[0]+": ")
	}
	_, known := FindTopicSetting("no.such")
	require.False(t, known)
}
