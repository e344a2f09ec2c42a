package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
	"stet/core/metadata"
)

// Every setting reaches the configuration, whether it comes at the start or, if it may, while the
// broker runs.
func TestEverySettingReachesTheConfiguration(t *testing.T) {
	fixed := map[string]bool{
		"node.id": true, "broker.rack": true, "log.dirs": true, "advertised.listeners": true,
	}
	for _, s := range kafka.BrokerSettings() {
		value := map[kafka.SettingType]string{
			kafka.SettingBoolean: "false", kafka.SettingInt: "2097152", kafka.SettingLong: "2097152",
		}[s.Type]
		switch s.Name {
		case "num.partitions", "default.replication.factor", "num.recovery.threads.per.data.dir",
			"max.incremental.fetch.session.cache.slots":
			value = "9"
		case "log.message.timestamp.type":
			value = "LogAppendTime"
		case "unclean.leader.election.enable":
			value = "true"
		}
		if fixed[s.Name] || value == "" || s.Check(value) != nil {
			continue // only its default can be obeyed
		}
		c := DefaultConfig()
		require.NoError(t, c.Set(s.Name, value), s.Name)
		got := c.values()
		require.Equal(t, value, s.Value(&got), s.Name)
		if !s.Dynamic {
			continue
		}
		image, err := metadata.Empty().Apply(1, &metadata.ConfigRecord{
			Resource: metadata.BrokerDefaults(), Name: s.Name, Value: value,
		})
		require.NoError(t, err)
		static := DefaultConfig()
		running := static.inForce(image).values()
		require.Equal(t, value, s.Value(&running), s.Name)
	}
}

func TestSettingsThatDoNotExistAreRefusedAtTheStart(t *testing.T) {
	c := DefaultConfig()
	require.EqualError(t, c.Set("background.threads", "1"), "no such setting")
	require.EqualError(t, c.Set("num.partitions", "0"), `"0" is not an integer from 1 to 1048576`)
	require.Equal(t, DefaultConfig(), c)
}
