package partition

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// setting is one topic configuration that a client may set.
type setting struct {
	name string
	set  func(c *Config, value string) error
}

// settings lists the topic configurations that a replica acts upon, in the order of their names.
func settings() []setting {
	return []setting{
		{"cleanup.policy", setCleanupPolicy},
		{"delete.retention.ms", int64Setting(0,
			func(c *Config) *int64 { return &c.DeleteRetentionMs })},
		{"file.delete.delay.ms", int64Setting(0,
			func(c *Config) *int64 { return &c.FileDeleteDelayMs })},
		{"flush.messages", int64Setting(1, func(c *Config) *int64 { return &c.FlushMessages })},
		{"index.interval.bytes", int32Setting(0,
			func(c *Config) *int32 { return &c.IndexIntervalBytes })},
		{"max.decompressed.message.bytes", int32Setting(0,
			func(c *Config) *int32 { return &c.MaxDecompressedMessageBytes })},
		{"max.message.bytes", int32Setting(0,
			func(c *Config) *int32 { return &c.MaxMessageBytes })},
		{"message.timestamp.after.max.ms", int64Setting(0,
			func(c *Config) *int64 { return &c.TimestampAfterMaxMs })},
		{"message.timestamp.before.max.ms", int64Setting(0,
			func(c *Config) *int64 { return &c.TimestampBeforeMaxMs })},
		{"message.timestamp.type", setTimestampType},
		{"min.insync.replicas", int32Setting(1,
			func(c *Config) *int32 { return &c.MinInsyncReplicas })},
		{"retention.bytes", int64Setting(-1, func(c *Config) *int64 { return &c.RetentionBytes })},
		{"retention.ms", int64Setting(-1, func(c *Config) *int64 { return &c.RetentionMs })},
		{"segment.bytes", int32Setting(1, func(c *Config) *int32 { return &c.SegmentBytes })},
		{"segment.index.bytes", int32Setting(4,
			func(c *Config) *int32 { return &c.SegmentIndexBytes })},
		{"segment.ms", int64Setting(1, func(c *Config) *int64 { return &c.SegmentMs })},
		{"unclean.leader.election.enable", boolSetting(
			func(c *Config) *bool { return &c.UncleanLeaderElectionEnable })},
	}
}

// Set changes the setting with Kafka's name. The controller decides what may be set; a setting
// that a replica does not act upon is passed over.
func (c *Config) Set(name, value string) error {
	for _, s := range settings() {
		if s.name != name {
			continue
		}
		if err := s.set(c, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("invalid value %q for configuration %s: %w", value, name, err)
		}
		break
	}
	return nil
}

func setCleanupPolicy(c *Config, value string) error {
	remove, compact := false, false
	for policy := range strings.SplitSeq(value, ",") {
		switch strings.TrimSpace(policy) {
		case "delete":
			remove = true
		case "compact":
			compact = true
		case "": // Kafka 4.2 and later: an empty list keeps for ever.
		default:
			return fmt.Errorf("want a list of delete and compact")
		}
	}
	c.CleanupDelete, c.CleanupCompact = remove, compact
	return nil
}

func setTimestampType(c *Config, value string) error {
	switch value {
	case "CreateTime":
		c.LogAppendTime = false
	case "LogAppendTime":
		c.LogAppendTime = true
	default:
		return fmt.Errorf("want CreateTime or LogAppendTime")
	}
	return nil
}

func boolSetting(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, value string) error {
		switch strings.ToLower(value) {
		case "true":
			*field(c) = true
		case "false":
			*field(c) = false
		default:
			return fmt.Errorf("want true or false")
		}
		return nil
	}
}

func int64Setting(least int64, field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, value string) error {
		n, err := parseInteger(value, least, math.MaxInt64)
		if err == nil {
			*field(c) = n
		}
		return err
	}
}

func int32Setting(least int32, field func(*Config) *int32) func(*Config, string) error {
	return func(c *Config, value string) error {
		n, err := parseInteger(value, int64(least), math.MaxInt32)
		if err == nil {
			*field(c) = int32(n)
		}
		return err
	}
}

func parseInteger(value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("want an integer")
	}
	if n < least || n > most {
		return 0, fmt.Errorf("want a value from %d to %d", least, most)
	}
	return n, nil
}
