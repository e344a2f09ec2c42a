package partition

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultsAreAccepted(t *testing.T) {
	for name, value := range map[string]string{
		"cleanup.policy": "delete", "retention.ms": "604800000",
		"flush.messages": "9223372036854775807", "segment.bytes": "1073741824",
		"message.timestamp.type": "CreateTime", "min.insync.replicas": "1",
		"max.message.bytes": "1048588", "message.timestamp.before.max.ms": "9223372036854775807",
		"message.timestamp.after.max.ms": "3600000",
	} {
		config := DefaultConfig()
		require.NoError(t, config.Set(name, value))
		require.Equal(t, DefaultConfig(), config, name)
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	config := DefaultConfig()
	for name, value := range map[string]string{
		"retention.ms": "-2", "segment.bytes": "-1", "cleanup.policy": "shred",
		"unclean.leader.election.enable": "perhaps", "message.timestamp.type": "Never",
	} {
		require.ErrorContains(t, config.Set(name, value), name)
	}
	require.NoError(t, config.Set("segment.jitter.ms", "5"), "not acted upon, so passed over")
	require.Equal(t, DefaultConfig(), config)
}

func TestSettingsAreSortedAndSet(t *testing.T) {
	all := settings()
	require.True(t, slices.IsSortedFunc(all, func(a, b setting) int {
		return strings.Compare(a.name, b.name)
	}))
	config := DefaultConfig()
	require.NoError(t, config.Set("cleanup.policy", "compact, delete"))
	require.True(t, config.CleanupCompact && config.CleanupDelete)
	require.NoError(t, config.Set("cleanup.policy", ""))
	require.False(t, config.CleanupCompact || config.CleanupDelete)
	require.NoError(t, config.Set("flush.messages", "1"))
	require.EqualValues(t, 1, config.FlushMessages)
}
