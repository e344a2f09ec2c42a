package partition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

func brokers(ids ...kafka.BrokerID) []kafka.BrokerID { return ids }

func TestHighWatermarkWaitsForEveryMemberOfTheISR(t *testing.T) {
	all := brokers(1, 2, 3)
	l := newLeader(1, Leadership{Epoch: 3, ISR: brokers(1), Replicas: all, ReplicationFactor: 3}, 10)
	l.end = 20
	require.EqualValues(t, 20, l.committed())
	l.update(Leadership{Epoch: 3, PartitionEpoch: 1, ISR: brokers(3, 1), Replicas: all, ReplicationFactor: 3})
	require.EqualValues(t, 0, l.committed(), "nothing is known of 3")
	l.followers.find(3).end = 15
	l.update(Leadership{Epoch: 3, PartitionEpoch: 2, ISR: brokers(2, 3, 1), Replicas: all, ReplicationFactor: 3})
	require.EqualValues(t, 0, l.committed(), "nor of 2")
	l.update(Leadership{Epoch: 3, PartitionEpoch: 3, ISR: brokers(1, 3), Replicas: all, ReplicationFactor: 3})
	require.EqualValues(t, 15, l.committed(), "what is known stays")
	l.update(Leadership{Epoch: 3, PartitionEpoch: 2, ISR: brokers(1), Replicas: all, ReplicationFactor: 3})
	require.EqualValues(t, 15, l.committed(), "what is older is late")
}

func TestHighWatermarkWaitsForWhoMayBeInTheISR(t *testing.T) {
	l := newLeader(1, Leadership{Epoch: 3, ISR: brokers(1, 2), Replicas: brokers(1, 2, 3)}, 0)
	l.end = 20
	l.followers.find(2).end, l.followers.find(3).end = 12, 8
	require.EqualValues(t, 12, l.committed())
	l.isr.propose([]ISRMember{{Broker: 1}}, false)
	require.EqualValues(t, 12, l.committed(), "a shrink that was not granted counts for nothing")
	l.isr.proposal = nil
	l.isr.propose([]ISRMember{{Broker: 1}, {Broker: 2}, {Broker: 3}}, false)
	require.EqualValues(t, 8, l.committed(), "an expansion may have been granted")
	l.isr.proposal = nil
	l.followers.find(3).joining = true
	require.EqualValues(t, 8, l.committed(), "who is about to join is waited for")
}

func TestDurablyCommittedIsWhatEveryMemberOfTheISRHasSynced(t *testing.T) {
	l := newLeader(1, Leadership{Epoch: 3, ISR: brokers(1, 2), Replicas: brokers(1, 2)}, 0)
	l.end, l.durably = 20, true
	f := l.followers.find(2)
	f.onFetch(1, &FollowerFetch{Broker: 2, Offset: 15, Synced: true}, 20)
	require.EqualValues(t, 15, l.committed())
	f.onFetch(2, &FollowerFetch{Broker: 2, Offset: 18}, 20)
	require.EqualValues(t, 15, l.committed(), "it has written more, in a mode in which that says nothing")
	f.onFetch(3, &FollowerFetch{Broker: 2, Offset: 12}, 20)
	require.EqualValues(t, 12, l.committed(), "it has lost what it had")
	f.onFetch(4, &FollowerFetch{Broker: 2, Offset: 18}, 20)
	require.EqualValues(t, 12, l.committed())
	l.durably = false
	require.EqualValues(t, 18, l.committed(), "out of flush mode, written is enough")
}
