package controller

import (
	"testing"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// replicated is a controller with the active brokers 1 to 3 and the topic a, of two partitions with
// replicas on all of them. It returns the brokers' epochs.
func replicated(t *testing.T) (r *rig, epochs map[int32]int64) {
	r, epochs = newRig(t, 1), map[int32]int64{}
	r.boot()
	for id := int32(1); id <= 3; id++ {
		m := registrationRequest(byte(id))
		m.BrokerID, m.LogDirs = id, [][16]byte{{9, byte(id)}}
		epochs[id] = r.call(m).(*kmsg.BrokerRegistrationResponse).BrokerEpoch
		beat := beatRequest(epochs[id])
		beat.BrokerID = id
		require.False(t, r.call(beat).(*kmsg.BrokerHeartbeatResponse).IsFenced)
	}
	m := creationRequest(-1, "a")
	m.Topics[0].ReplicationFactor = -1
	for p := range int32(2) {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = p, []int32{1, 2, 3}
		m.Topics[0].ReplicaAssignment = append(m.Topics[0].ReplicaAssignment, a)
	}
	require.Zero(t, r.call(m).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
	return r, epochs
}

func alterPartitionRequest(topic kafka.TopicID, epochs map[int32]int64, version int16, isr ...int32,
) *kmsg.AlterPartitionRequest {
	m := kmsg.NewPtrAlterPartitionRequest()
	m.Version, m.BrokerID, m.BrokerEpoch = version, 1, epochs[1]
	asked := kmsg.NewAlterPartitionRequestTopic()
	asked.TopicID = topic
	p := kmsg.NewAlterPartitionRequestTopicPartition()
	for _, id := range isr {
		if version < 3 {
			p.NewISR = append(p.NewISR, id)
			continue
		}
		p.NewEpochISR = append(p.NewEpochISR, kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{
			BrokerID: id, BrokerEpoch: epochs[id],
		})
	}
	asked.Partitions = append(asked.Partitions, p)
	m.Topics = append(m.Topics, asked)
	return m
}

func TestLeaderIsToldTheStateThatItsChangeMakes(t *testing.T) {
	r, epochs := replicated(t)
	topic := r.c.Image().Topic("a").ID
	epoch := kafka.PartitionEpoch(0)
	for version := int16(2); version <= 3; version++ {
		for _, isr := range [][]int32{{1}, {2, 1}} {
			m := alterPartitionRequest(topic, epochs, version, isr...)
			m.Topics[0].Partitions[0].PartitionEpoch = int32(epoch)
			unknown := kmsg.NewAlterPartitionRequestTopicPartition()
			unknown.Partition = 7
			m.Topics[0].Partitions = append(m.Topics[0].Partitions, unknown)
			answer := r.call(m).(*kmsg.AlterPartitionResponse)
			require.Zero(t, answer.ErrorCode)
			require.Equal(t, [16]byte(topic), answer.Topics[0].TopidID)
			told := answer.Topics[0].Partitions
			require.Len(t, told, 2)
			epoch++
			p := r.c.Image().Topic("a").Partition(0)
			require.Equal(t, epoch, p.Epoch, "the answer comes when the change is committed")
			require.ElementsMatch(t, isr, told[0].ISR)
			require.Equal(t, [4]int32{0, 1, int32(p.LeaderEpoch), int32(p.Epoch)}, [4]int32{
				told[0].Partition, told[0].LeaderID, told[0].LeaderEpoch, told[0].PartitionEpoch,
			})
			require.Zero(t, told[0].ErrorCode)
			require.Zero(t, told[0].LeaderRecoveryState)
			require.Equal(t, int32(7), told[1].Partition)
			require.Equal(t, kafka.UnknownTopicOrPartition, kafka.ErrorCode(told[1].ErrorCode))
		}
	}
	m := alterPartitionRequest(topic, epochs, 3, 1, 2, 3)
	m.BrokerEpoch--
	answer := r.call(m).(*kmsg.AlterPartitionResponse)
	require.Equal(t, kafka.StaleBrokerEpoch, kafka.ErrorCode(answer.ErrorCode))
	require.Empty(t, answer.Topics)
	require.Equal(t, epoch, r.c.Image().Topic("a").Partition(0).Epoch)
}

func TestChangeIsDecidedAgainstWhatIsProposed(t *testing.T) {
	r, epochs := replicated(t)
	clear(r.answers)
	topic := r.c.Image().Topic("a").ID
	first := r.send(alterPartitionRequest(topic, epochs, 3, 1, 2))
	beat := beatRequest(epochs[2])
	beat.BrokerID, beat.WantFence = 2, true
	fence := r.send(beat)
	late := r.send(alterPartitionRequest(topic, epochs, 3, 1, 2, 3))
	stale := alterPartitionRequest(topic, epochs, 3, 1, 2)
	stale.Topics[0].Partitions[0].PartitionEpoch = 2
	fenced := r.send(stale)
	require.Empty(t, r.answers, "nothing is committed yet")
	r.settle()
	code := func(slot env.Slot) kafka.ErrorCode {
		return kafka.ErrorCode(r.answers[slot].(*kmsg.AlterPartitionResponse).Topics[0].Partitions[0].ErrorCode)
	}
	require.Equal(t, kafka.None, code(first))
	require.True(t, r.answers[fence].(*kmsg.BrokerHeartbeatResponse).IsFenced)
	require.Equal(t, kafka.InvalidUpdateVersion, code(late))
	require.Equal(t, kafka.IneligibleReplica, code(fenced))
	require.Equal(t, metadata.Standing{
		ISR: []kafka.BrokerID{1}, ELR: []kafka.BrokerID{2}, Leader: 1, LastKnownLeader: kafka.NoBroker,
	}, r.c.Image().Topic("a").Partition(0).Standing)
}

func TestChangeBeforeTheElectionIsRefused(t *testing.T) {
	r := newRig(t, 1)
	r.turn(env.Event{Kind: env.EventTick})
	slot := r.send(alterPartitionRequest(kafka.TopicID{1}, map[int32]int64{}, 3, 1))
	answer := r.answers[slot].(*kmsg.AlterPartitionResponse)
	require.Equal(t, kafka.NotController, kafka.ErrorCode(answer.ErrorCode))
}
