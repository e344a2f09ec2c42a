package controller

import (
	"testing"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func electionRequest(version int16, kind int8, partitions ...int32) *kmsg.ElectLeadersRequest {
	m := kmsg.NewPtrElectLeadersRequest()
	m.Version, m.ElectionType = version, kind
	if partitions != nil {
		m.Topics = append(m.Topics, kmsg.ElectLeadersRequestTopic{Topic: "a", Partitions: partitions})
	}
	return m
}

func reassignmentRequest(partition int32, replicas ...int32) *kmsg.AlterPartitionAssignmentsRequest {
	m := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	m.Version = 1
	m.Topics = append(m.Topics, kmsg.AlterPartitionAssignmentsRequestTopic{
		Topic: "a", Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{
			{Partition: partition, Replicas: replicas},
		},
	})
	return m
}

// reassigned asks for replicas and returns the partition's code.
func (r *rig) reassigned(m *kmsg.AlterPartitionAssignmentsRequest) kafka.ErrorCode {
	answer := r.call(m).(*kmsg.AlterPartitionAssignmentsResponse)
	require.Zero(r.t, answer.ErrorCode)
	require.Equal(r.t, m.AllowReplicationFactorChange, answer.AllowReplicationFactorChange)
	require.Equal(r.t, "a", answer.Topics[0].Topic)
	require.Equal(r.t, m.Topics[0].Partitions[0].Partition, answer.Topics[0].Partitions[0].Partition)
	p := answer.Topics[0].Partitions[0]
	require.Equal(r.t, p.ErrorCode == 0, p.ErrorMessage == nil)
	return kafka.ErrorCode(p.ErrorCode)
}

func (r *rig) underWay(topics []kmsg.ListPartitionReassignmentsRequestTopic) []kmsg.ListPartitionReassignmentsResponseTopic {
	m := kmsg.NewPtrListPartitionReassignmentsRequest()
	m.Topics = topics
	answer := r.call(m).(*kmsg.ListPartitionReassignmentsResponse)
	require.Zero(r.t, answer.ErrorCode)
	return answer.Topics
}

func TestReplicasAreReassignedAndTheRequestsTellHowFarItIs(t *testing.T) {
	r, epochs := replicated(t)
	require.Empty(t, r.underWay(nil))
	require.Equal(t, kafka.None, r.reassigned(reassignmentRequest(0, 1, 2)), "two of three stay, and are in sync")
	require.Equal(t, []kafka.BrokerID{1, 2}, r.c.Image().Topic("a").Partition(0).Replicas)
	require.Empty(t, r.underWay(nil))

	same := reassignmentRequest(0, 3, 2, 1)
	same.AllowReplicationFactorChange = false
	require.Equal(t, kafka.InvalidReplicationFactor, r.reassigned(same))
	same.Version = 0 // which has no field for it
	same.AllowReplicationFactorChange = true
	require.Equal(t, kafka.None, r.reassigned(same))
	want := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
	want.Replicas, want.AddingReplicas = []int32{3, 2, 1}, []int32{3}
	for _, asked := range [][]kmsg.ListPartitionReassignmentsRequestTopic{
		nil, {{Topic: "nowhere", Partitions: []int32{0}}, {Topic: "a", Partitions: []int32{1, 0, 9}}},
	} {
		told := r.underWay(asked)
		require.Len(t, told, 1)
		require.Equal(t, "a", told[0].Topic)
		require.Equal(t, []kmsg.ListPartitionReassignmentsResponseTopicPartition{want}, told[0].Partitions)
	}
	require.Empty(t, r.underWay([]kmsg.ListPartitionReassignmentsRequestTopic{{Topic: "a", Partitions: []int32{1}}}))

	p := r.c.Image().Topic("a").Partition(0)
	m := alterPartitionRequest(r.c.Image().Topic("a").ID, epochs, 3, 1, 2, 3)
	m.Topics[0].Partitions[0].LeaderEpoch, m.Topics[0].Partitions[0].PartitionEpoch = int32(p.LeaderEpoch), int32(p.Epoch)
	told := r.call(m).(*kmsg.AlterPartitionResponse).Topics[0].Partitions[0]
	require.Zero(t, told.ErrorCode)
	require.Equal(t, []int32{3, 2, 1}, told.ISR)
	require.Empty(t, r.underWay(nil))
	require.Equal(t, kafka.NoReassignmentInProgress, r.reassigned(reassignmentRequest(0)))
	empty := reassignmentRequest(0)
	empty.Topics[0].Partitions[0].Replicas = []int32{}
	require.Equal(t, kafka.InvalidReplicaAssignment, r.reassigned(empty))
}

func TestLeadersAreElectedByHand(t *testing.T) {
	r, _ := replicated(t)
	require.Equal(t, kafka.None, r.reassigned(reassignmentRequest(0, 3, 2, 1)))
	result := func(m *kmsg.ElectLeadersRequest) (list []kafka.ErrorCode) {
		answer := r.call(m).(*kmsg.ElectLeadersResponse)
		require.Zero(t, answer.ErrorCode)
		for _, topic := range answer.Topics {
			require.Equal(t, "a", topic.Topic)
			for _, p := range topic.Partitions {
				list = append(list, kafka.ErrorCode(p.ErrorCode))
			}
		}
		return list
	}
	require.Equal(t, []kafka.ErrorCode{kafka.ElectionNotNeeded}, result(electionRequest(2, 1, 0)))
	require.Equal(t, []kafka.ErrorCode{kafka.None}, result(electionRequest(1, 0)), "all that need one")
	require.Equal(t, kafka.BrokerID(3), r.c.Image().Topic("a").Partition(0).Leader)
	require.Equal(t, []kafka.ErrorCode{kafka.ElectionNotNeeded, kafka.UnknownTopicOrPartition},
		result(electionRequest(0, 7, 1, 2)), "v0 has no type")
	answer := r.call(electionRequest(2, 7, 0)).(*kmsg.ElectLeadersResponse)
	require.Equal(t, kafka.InvalidRequest, kafka.ErrorCode(answer.ErrorCode))
}

func TestReassignmentsAndElectionsBeforeTheElectionAreRefused(t *testing.T) {
	r := newRig(t, 1)
	r.turn(env.Event{Kind: env.EventTick})
	for _, m := range []kmsg.Request{
		electionRequest(2, 0, 0), electionRequest(0, 0, 0), reassignmentRequest(0, 1),
		kmsg.NewPtrListPartitionReassignmentsRequest(),
	} {
		var code int16
		switch answer := r.answers[r.send(m)].(type) {
		case *kmsg.ElectLeadersResponse:
			code = answer.Topics[0].Partitions[0].ErrorCode
		case *kmsg.AlterPartitionAssignmentsResponse:
			code = answer.ErrorCode
		case *kmsg.ListPartitionReassignmentsResponse:
			code = answer.ErrorCode
		}
		require.Equal(t, kafka.NotController, kafka.ErrorCode(code), "%T", m)
	}
}
