package kafka

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// TopicSetting describes one public topic setting of Kafka. Either Stet obeys it, or it takes only
// the value that describes what Stet does anyway: a setting that is accepted and ignored is a broken
// promise.
type TopicSetting struct {
	Name string
	Type SettingType
	// Default is in force where nothing is set. It is Kafka's, except where Stet does something
	// else; "" of min.insync.replicas: as DefaultMinInsyncReplicas says.
	Default string

	set  func(c *TopicConfig, value string) error // nil: not obeyed
	text func(c *TopicConfig) string              // the value in force; nil: Default is

	instead string                  // what Stet does, so that only some values can be obeyed
	allowed func(value string) bool // nil: all that set accepts
}

// BrokerName returns the name of the broker setting that is in force where no topic sets this one; ""
// for none (ServerTopicConfigSynonyms).
func (s *TopicSetting) BrokerName() string {
	switch s.Name {
	case "errors.deadletterqueue.group.enable", "follower.replication.throttled.replicas",
		"leader.replication.throttled.replicas", "remote.log.copy.disable",
		"remote.log.delete.on.disable", "remote.storage.enable":
		return ""
	case "compression.gzip.level", "compression.lz4.level", "compression.type",
		"compression.zstd.level", "max.decompressed.message.bytes", "min.insync.replicas",
		"unclean.leader.election.enable":
		return s.Name
	case "delete.retention.ms", "max.compaction.lag.ms", "min.compaction.lag.ms":
		return "log.cleaner." + s.Name
	case "file.delete.delay.ms":
		return "log.segment.delete.delay.ms"
	case "flush.messages":
		return "log.flush.interval.messages"
	case "flush.ms":
		return "log.flush.interval.ms"
	case "max.message.bytes":
		return "message.max.bytes"
	case "min.cleanable.dirty.ratio":
		return "log.cleaner.min.cleanable.ratio"
	case "remote.copy.lag.bytes", "remote.copy.lag.ms":
		return "log.remote." + strings.TrimPrefix(s.Name, "remote.")
	case "segment.index.bytes":
		return "log.index.size.max.bytes"
	case "segment.jitter.ms":
		return "log.roll.jitter.ms"
	case "segment.ms":
		return "log.roll.ms"
	}
	return "log." + s.Name
}

// FindTopicSetting returns the setting with Kafka's name.
func FindTopicSetting(name string) (TopicSetting, bool) {
	i, known := slices.BinarySearchFunc(topicSettings, name, func(s TopicSetting, name string) int {
		return strings.Compare(s.Name, name)
	})
	if !known {
		return TopicSetting{}, false
	}
	return topicSettings[i], true
}

// Check returns why a value can not be set, or nil. The error begins with the setting's name and
// says what to do instead.
func (s *TopicSetting) Check(value string) error {
	value = strings.TrimSpace(value)
	if s.set != nil {
		if err := s.set(&TopicConfig{}, value); err != nil {
			return s.named(err)
		}
	}
	if s.allowed != nil && !s.allowed(value) {
		return fmt.Errorf("%s: %q would not be obeyed, because Stet %s: leave it out, or set %q",
			s.Name, value, s.instead, s.Default)
	}
	return nil
}

// Value returns what is in force under c.
func (s *TopicSetting) Value(c *TopicConfig) string {
	if s.text == nil {
		return s.Default
	}
	return s.text(c)
}

func (s *TopicSetting) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

const (
	never = "9223372036854775807"
	week  = "604800000"
)

// TopicSettings lists every public topic setting of Kafka 4.4, by ascending name.
// What limits the retention of records defaults to no limit, because Stet removes nothing; Kafka's
// default is a week.
func TopicSettings() []TopicSetting { return slices.Clone(topicSettings) }

// topicSettings is made once: a decision may look up the settings of many thousand topics.
var topicSettings = makeTopicSettings()

func makeTopicSettings() []TopicSetting {
	return []TopicSetting{
		cleanupPolicy(),
		only("compression.gzip.level", SettingInt, "-1", "keeps the codec of the producer"),
		only("compression.lz4.level", SettingInt, "9", "keeps the codec of the producer"),
		only("compression.type", SettingString, "producer", "keeps the codec of the producer"),
		only("compression.zstd.level", SettingInt, "3", "keeps the codec of the producer"),
		only("delete.retention.ms", SettingLong, "86400000", "does not compact yet"),
		only("errors.deadletterqueue.group.enable", SettingBoolean, "false", "has no share groups yet"),
		only("file.delete.delay.ms", SettingLong, "0", "removes files at once"),
		long("flush.messages", never, 1, func(c *TopicConfig) *int64 { return &c.FlushMessages }),
		only("flush.ms", SettingLong, never, "does not flush by time yet, only by flush.messages"),
		only("follower.replication.throttled.replicas", SettingList, "", "does not throttle replication"),
		integer("index.interval.bytes", "4096", 0,
			func(c *TopicConfig) *int32 { return &c.IndexIntervalBytes }),
		only("leader.replication.throttled.replicas", SettingList, "", "does not throttle replication"),
		only("local.retention.bytes", SettingLong, "-2", "has no tiered storage"),
		only("local.retention.ms", SettingLong, "-2", "has no tiered storage"),
		only("max.compaction.lag.ms", SettingLong, never, "does not compact yet"),
		integer("max.decompressed.message.bytes", "2147483639", 0,
			func(c *TopicConfig) *int32 { return &c.MaxDecompressedMessageBytes }),
		integer("max.message.bytes", "1048588", 0,
			func(c *TopicConfig) *int32 { return &c.MaxMessageBytes }),
		long("message.timestamp.after.max.ms", "3600000", 0,
			func(c *TopicConfig) *int64 { return &c.TimestampAfterMaxMs }),
		long("message.timestamp.before.max.ms", never, 0,
			func(c *TopicConfig) *int64 { return &c.TimestampBeforeMaxMs }),
		timestampType(),
		only("min.cleanable.dirty.ratio", SettingDouble, "0.5", "does not compact yet"),
		only("min.compaction.lag.ms", SettingLong, "0", "does not compact yet"),
		minInsyncReplicas(),
		only("preallocate", SettingBoolean, "false", "does not preallocate files"),
		only("remote.copy.lag.bytes", SettingLong, "-1", "has no tiered storage"),
		only("remote.copy.lag.ms", SettingLong, "0", "has no tiered storage"),
		only("remote.log.copy.disable", SettingBoolean, "false", "has no tiered storage"),
		only("remote.log.delete.on.disable", SettingBoolean, "false", "has no tiered storage"),
		only("remote.storage.enable", SettingBoolean, "false", "has no tiered storage"),
		only("retention.bytes", SettingLong, "-1", "keeps records for ever, so far"),
		only("retention.ms", SettingLong, "-1", "keeps records for ever, so far"),
		integer("segment.bytes", "1073741824", 1<<20,
			func(c *TopicConfig) *int32 { return &c.SegmentBytes }),
		integer("segment.index.bytes", "10485760", 4,
			func(c *TopicConfig) *int32 { return &c.SegmentIndexBytes }),
		only("segment.jitter.ms", SettingLong, "0", "rolls without jitter"),
		long("segment.ms", week, 1, func(c *TopicConfig) *int64 { return &c.SegmentMs }),
		uncleanLeaderElection(),
	}
}

// only is a setting that is not obeyed: the value that is true of Stet is accepted, in any case of
// its letters, as Kafka reads booleans.
func only(name string, kind SettingType, value, instead string) TopicSetting {
	return TopicSetting{
		Name: name, Type: kind, Default: value, instead: instead,
		allowed: func(asked string) bool { return strings.EqualFold(asked, value) },
	}
}

// cleanupPolicy is obeyed as far as records go: a topic that compacts takes only records with keys,
// and recovery expects gaps in its logs. But nothing compacts, so it can not be asked for. The policy
// to delete is what retention.* limit, and no limit is what they say; an empty list keeps for ever,
// since Kafka 4.2.
func cleanupPolicy() TopicSetting {
	return TopicSetting{
		Name: "cleanup.policy", Type: SettingList, Default: "delete", instead: "does not compact yet",
		set: func(c *TopicConfig, value string) error {
			seen := map[string]bool{"": value != ""} // an empty list is one, an empty element is not
			for policy := range strings.SplitSeq(value, ",") {
				policy = strings.TrimSpace(policy)
				if seen[policy] || policy != "" && policy != "delete" && policy != "compact" {
					return fmt.Errorf("%q is not a list of delete and compact", value)
				}
				seen[policy] = true
			}
			c.CleanupCompact = seen["compact"]
			return nil
		},
		text: func(c *TopicConfig) string {
			if c.CleanupCompact {
				return "compact"
			}
			return "delete"
		},
		allowed: func(value string) bool { return !strings.Contains(value, "compact") },
	}
}

// minInsyncReplicas depends on the number of replicas where it is not set.
func minInsyncReplicas() TopicSetting {
	s := integer("min.insync.replicas", "", 1,
		func(c *TopicConfig) *int32 { return &c.MinInsyncReplicas })
	number := s.text
	s.text = func(c *TopicConfig) string {
		if c.MinInsyncReplicas == 0 {
			return ""
		}
		return number(c)
	}
	return s
}

func uncleanLeaderElection() TopicSetting {
	return TopicSetting{
		Name: "unclean.leader.election.enable", Type: SettingBoolean, Default: "false",
		set: func(c *TopicConfig, value string) (err error) {
			c.UncleanLeaderElection, err = parseBool(strings.TrimSpace(value))
			return err
		},
		text: func(c *TopicConfig) string { return strconv.FormatBool(c.UncleanLeaderElection) },
	}
}

// parseBool reads true and false in any case of their letters, as Kafka does.
func parseBool(value string) (bool, error) {
	on := strings.EqualFold(value, "true")
	if !on && !strings.EqualFold(value, "false") {
		return false, fmt.Errorf("%q is neither true nor false", value)
	}
	return on, nil
}

func timestampType() TopicSetting {
	return TopicSetting{
		Name: "message.timestamp.type", Type: SettingString, Default: "CreateTime",
		set: func(c *TopicConfig, value string) error {
			if value != "CreateTime" && value != "LogAppendTime" {
				return fmt.Errorf("%q is neither CreateTime nor LogAppendTime", value)
			}
			c.LogAppendTime = value == "LogAppendTime"
			return nil
		},
		text: func(c *TopicConfig) string {
			if c.LogAppendTime {
				return "LogAppendTime"
			}
			return "CreateTime"
		},
	}
}

func integer(name, value string, least int32, field func(*TopicConfig) *int32) TopicSetting {
	return number(name, SettingInt, value, int64(least), math.MaxInt32, field)
}

func long(name, value string, least int64, field func(*TopicConfig) *int64) TopicSetting {
	return number(name, SettingLong, value, least, math.MaxInt64, field)
}

func number[T int32 | int64](name string, kind SettingType, value string, least, most int64,
	field func(*TopicConfig) *T,
) TopicSetting {
	return TopicSetting{
		Name: name, Type: kind, Default: value,
		set: func(c *TopicConfig, value string) error {
			n, err := parseNumber(value, least, most)
			if err == nil {
				*field(c) = T(n)
			}
			return err
		},
		text: func(c *TopicConfig) string { return strconv.FormatInt(int64(*field(c)), 10) },
	}
}

func parseNumber(value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not an integer from %d to %d", value, least, most)
	}
	return n, nil
}
