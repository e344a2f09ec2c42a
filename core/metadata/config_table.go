package metadata

import (
	"math"
	"slices"
)

// ConfigType is the type of a setting's value, with the numbers of Kafka's DescribeConfigs.
type ConfigType int8

const (
	ConfigBoolean ConfigType = 1
	ConfigString  ConfigType = 2
	ConfigInt     ConfigType = 3
	ConfigLong    ConfigType = 5
	ConfigDouble  ConfigType = 6
	ConfigList    ConfigType = 7
)

// ConfigDefinition describes one topic setting.
type ConfigDefinition struct {
	Name    string
	Type    ConfigType
	Default string

	least, most int64  // of ConfigInt and ConfigLong
	choices     string // of ConfigString, or of a ConfigList's elements; comma separated; "": any
	// With fixed, only the default is obeyed, and other values are refused: a setting that is
	// accepted and ignored is a broken promise. What merely tunes work that is not done yet
	// (compaction, recompression) breaks none and is accepted.
	fixed bool
}

// TopicConfigs lists every public topic setting of Kafka 4.4, by ascending name, with its defaults.
func TopicConfigs() []ConfigDefinition { return slices.Clone(topicConfigs[:]) }

// TopicConfig returns the definition of a topic setting.
func TopicConfig(name string) (ConfigDefinition, bool) {
	for i := range topicConfigs {
		if topicConfigs[i].Name == name {
			return topicConfigs[i], true
		}
	}
	return ConfigDefinition{}, false
}

func boolean(name, value string) ConfigDefinition {
	return ConfigDefinition{Name: name, Type: ConfigBoolean, Default: value}
}

func integer(name, value string, least int64) ConfigDefinition {
	return ConfigDefinition{
		Name: name, Type: ConfigInt, Default: value, least: least, most: math.MaxInt32,
	}
}

func between(name, value string, least, most int64) ConfigDefinition {
	return ConfigDefinition{Name: name, Type: ConfigInt, Default: value, least: least, most: most}
}

func long(name, value string, least int64) ConfigDefinition {
	return ConfigDefinition{
		Name: name, Type: ConfigLong, Default: value, least: least, most: math.MaxInt64,
	}
}

func list(name, value, choices string) ConfigDefinition {
	return ConfigDefinition{Name: name, Type: ConfigList, Default: value, choices: choices}
}

func choice(name, value, choices string) ConfigDefinition {
	return ConfigDefinition{Name: name, Type: ConfigString, Default: value, choices: choices}
}

func fixed(d ConfigDefinition) ConfigDefinition {
	d.fixed = true
	return d
}

const (
	maxLong = "9223372036854775807"
	week    = "604800000"
)

// topicConfigs is sorted by name.
var topicConfigs = [...]ConfigDefinition{
	list("cleanup.policy", "delete", "compact,delete"),
	between("compression.gzip.level", "-1", -1, 9),
	between("compression.lz4.level", "9", 1, 17),
	fixed(choice("compression.type", "producer", "uncompressed,zstd,lz4,snappy,gzip,producer")),
	between("compression.zstd.level", "3", -131072, 22),
	long("delete.retention.ms", "86400000", 0),
	fixed(boolean("errors.deadletterqueue.group.enable", "false")),
	long("file.delete.delay.ms", "60000", 0),
	long("flush.messages", maxLong, 1),
	long("flush.ms", maxLong, 0),
	fixed(list("follower.replication.throttled.replicas", "", "")),
	integer("index.interval.bytes", "4096", 0),
	fixed(list("leader.replication.throttled.replicas", "", "")),
	long("local.retention.bytes", "-2", -2),
	long("local.retention.ms", "-2", -2),
	long("max.compaction.lag.ms", maxLong, 1),
	integer("max.decompressed.message.bytes", "2147483639", 0),
	integer("max.message.bytes", "1048588", 0),
	long("message.timestamp.after.max.ms", "3600000", 0),
	long("message.timestamp.before.max.ms", maxLong, 0),
	choice("message.timestamp.type", "CreateTime", "CreateTime,LogAppendTime"),
	{Name: "min.cleanable.dirty.ratio", Type: ConfigDouble, Default: "0.5"},
	long("min.compaction.lag.ms", "0", 0),
	integer("min.insync.replicas", "1", 1),
	boolean("preallocate", "false"),
	long("remote.copy.lag.bytes", "-1", -1),
	long("remote.copy.lag.ms", "0", -1),
	fixed(boolean("remote.log.copy.disable", "false")),
	fixed(boolean("remote.log.delete.on.disable", "false")),
	fixed(boolean("remote.storage.enable", "false")),
	long("retention.bytes", "-1", -1),
	long("retention.ms", week, -1),
	integer("segment.bytes", "1073741824", 1<<20),
	integer("segment.index.bytes", "10485760", 4),
	long("segment.jitter.ms", "0", 0),
	long("segment.ms", week, 1),
	boolean("unclean.leader.election.enable", "false"),
}
