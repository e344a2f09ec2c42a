package partition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

func TestHighWatermarkWaitsForEveryMemberOfTheISR(t *testing.T) {
	l := newLeader(1, Leadership{Epoch: 3, ISR: []kafka.BrokerID{1}, ReplicationFactor: 3}, 10)
	l.maximalISR[0].end = 20
	require.EqualValues(t, 20, l.committed())
	l.update(Leadership{Epoch: 3, ISR: []kafka.BrokerID{3, 1}, ReplicationFactor: 3})
	require.EqualValues(t, 0, l.committed(), "nothing is known of 3")
	l.maximalISR[1].end = 15
	l.update(Leadership{Epoch: 3, ISR: []kafka.BrokerID{2, 3, 1}, ReplicationFactor: 3})
	require.Equal(t, []member{{1, 20}, {2, 0}, {3, 15}}, l.maximalISR, "what is known stays")
	l.update(Leadership{Epoch: 3, ISR: []kafka.BrokerID{1, 3}, ReplicationFactor: 3})
	require.EqualValues(t, 15, l.committed())
}
