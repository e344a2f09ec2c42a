package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

// sixBrokers has the active brokers 1 to 6 and partition 0 of topic "t" on the first replicas of them,
// all in sync.
func sixBrokers(t *testing.T, replicas ...kafka.BrokerID) *Image {
	image := clusterOf(t, 6)
	records := []Record{&TopicRecord{ID: idNumber(1), Name: "t"}, &PartitionRecord{idNumber(1), 0, Partition{
		Replicas: replicas, Standing: Standing{replicas, nil, replicas[0], kafka.NoBroker, false},
	}}}
	return decide(t, image, records)
}

func reassign(t *testing.T, image *Image, replicas ...kafka.BrokerID) (*Image, ReassignedPartition) {
	records, outcomes, code := AlterReassignments(image, []NewReplicas{{"t", 0, replicas}}, true)
	require.Equal(t, kafka.None, code)
	if len(records) > 0 {
		image = decide(t, image, records)
	}
	return image, outcomes[0]
}

func first(image *Image) *Partition { return image.Topic("t").Partition(0) }

func TestReassignmentEndsWhenAllThatStayAreInSync(t *testing.T) {
	image, o := reassign(t, sixBrokers(t, 1, 2, 3), 4, 5, 2)
	require.Equal(t, kafka.None, o.Error)
	p := first(image)
	require.Equal(t, ids(4, 5, 2, 1, 3), p.Replicas)
	require.Equal(t, &Reassignment{ids(4, 5), ids(1, 3)}, p.Reassignment)
	require.ElementsMatch(t, ids(1, 2, 3), p.ISR)
	require.Equal(t, 3, p.ReplicationFactor())
	require.Equal(t, [2]int32{0, 1}, [2]int32{int32(p.LeaderEpoch), int32(p.Epoch)}, "the leader goes on")

	image = altered(t, image, 1, changeOf(image, 0, 1, 2, 3, 4))
	require.NotNil(t, first(image).Reassignment)
	records, outcomes, _ := askISR(image, 1, changeOf(image, 0, 1, 2, 3, 4, 5))
	require.Equal(t, kafka.NewLeaderElected, outcomes[0].Error)
	require.Nil(t, outcomes[0].State)
	p = first(decide(t, image, records))
	require.Equal(t, ids(4, 5, 2), p.Replicas)
	require.Equal(t, Standing{ids(4, 5, 2), nil, 4, kafka.NoBroker, false}, p.Standing)
	require.Nil(t, p.Reassignment)
	require.Equal(t, [2]int32{1, 3}, [2]int32{int32(p.LeaderEpoch), int32(p.Epoch)}, "joining and leaving is one step")
}

func TestLeaderThatStaysIsToldTheEpochInWhichReplicasHaveLeft(t *testing.T) {
	image, _ := reassign(t, sixBrokers(t, 1, 2), 1, 3)
	image = altered(t, image, 1, changeOf(image, 0, 1, 2, 3)) // compares what is told with what there is
	require.Equal(t, Standing{ids(1, 3), nil, 1, kafka.NoBroker, false}, first(image).Standing)
	require.Equal(t, kafka.LeaderEpoch(1), first(image).LeaderEpoch)
}

func TestReplicaThatIsRemovedAndAddedAgainBeginsAnew(t *testing.T) {
	image := sixBrokers(t, 1, 2, 3)
	stale := changeOf(image, 0, 1, 2, 3)
	image, _ = reassign(t, image, 1, 2)
	require.Equal(t, Standing{ids(1, 2), nil, 1, kafka.NoBroker, false}, first(image).Standing, "nobody has to join")
	require.Equal(t, kafka.LeaderEpoch(1), first(image).LeaderEpoch, "what the leader knew of broker 3 is over")
	image, _ = reassign(t, image, 1, 2, 3)
	require.Equal(t, ids(1, 2), first(image).ISR)
	require.Equal(t, ids(3), first(image).Reassignment.Adding)
	require.Equal(t, kafka.LeaderEpoch(1), first(image).LeaderEpoch)
	_, outcomes, _ := askISR(image, 1, stale)
	require.Equal(t, kafka.FencedLeaderEpoch, outcomes[0].Error)
}

func TestReplicationFactorCountsWhenTheReassignmentEnds(t *testing.T) {
	image, _ := reassign(t, sixBrokers(t, 1), 1, 2, 3)
	require.Equal(t, 1, image.Topic("t").ReplicationFactor(), "one replica has to be in sync until three are there")
	image = altered(t, image, 1, changeOf(image, 0, 1, 2))
	image = altered(t, image, 1, changeOf(image, 0, 1))
	require.Empty(t, first(image).ELR)
	image = altered(t, image, 1, changeOf(image, 0, 1, 2, 3))
	require.Equal(t, 3, image.Topic("t").ReplicationFactor())
	image = altered(t, image, 1, changeOf(image, 0, 1))
	require.Equal(t, ids(2, 3), first(image).ELR, "two of three have to be in sync")
	image, _ = reassign(t, image, 2)
	require.Equal(t, &Reassignment{nil, ids(1, 3)}, first(image).Reassignment)
	image = fence(t, image, 1) // broker 2 is elected: all that stay are in sync
	require.Equal(t, ids(2), first(image).Replicas)
	require.Equal(t, Standing{ids(2), nil, 2, kafka.NoBroker, false}, first(image).Standing)
}

func TestReassignmentIsTakenBackUnlessThatLosesRecords(t *testing.T) {
	image := sixBrokers(t, 1, 2, 3)
	_, o := reassign(t, image)
	require.Equal(t, kafka.NoReassignmentInProgress, o.Error)
	begun, _ := reassign(t, image, 4, 5, 6)
	back, o := reassign(t, begun)
	require.Equal(t, kafka.None, o.Error)
	require.Equal(t, ids(1, 2, 3), first(back).Replicas)
	require.Nil(t, first(back).Reassignment)
	require.Equal(t, kafka.LeaderEpoch(1), first(back).LeaderEpoch)

	begun = altered(t, begun, 1, changeOf(begun, 0, 1, 4, 5))
	_, o = reassign(t, begun)
	require.Equal(t, kafka.InvalidReplicaAssignment, o.Error, "broker 1 alone would have what 4 and 5 have, too")
	require.Contains(t, o.Message, "[2 3]")
	begun = altered(t, begun, 1, changeOf(begun, 0, 1, 2, 4))
	begun = fence(t, begun, 1)
	require.Equal(t, kafka.BrokerID(4), first(begun).Leader)
	after, o := reassign(t, begun)
	require.Equal(t, kafka.InvalidReplicaAssignment, o.Error)
	require.Same(t, begun, after)
	begun = altered(t, unfenced(t, begun, 1), 4, changeOf(unfenced(t, begun, 1), 0, 4, 2, 1))
	after, o = reassign(t, begun, 1, 2, 3)
	require.Equal(t, kafka.None, o.Error)
	require.Equal(t, Standing{ids(1, 2), nil, 1, kafka.NoBroker, false}, first(after).Standing, "the leader left")
	require.Nil(t, first(after).Reassignment)
}

func TestReassignmentReplacesTheOneUnderWay(t *testing.T) {
	image, _ := reassign(t, sixBrokers(t, 1, 2, 3), 4, 5, 6)
	image, o := reassign(t, image, 6, 1, 4)
	require.Equal(t, kafka.None, o.Error)
	require.Equal(t, ids(6, 1, 4, 2, 3), first(image).Replicas)
	require.Equal(t, &Reassignment{ids(6, 4), ids(2, 3)}, first(image).Reassignment)
	same, o := reassign(t, image, 6, 1, 4)
	require.Equal(t, kafka.None, o.Error)
	require.Same(t, image, same)
}

func TestOrderOfReplicasIsChangedAtOnce(t *testing.T) {
	image, _ := reassign(t, sixBrokers(t, 1, 2, 3), 3, 2, 1)
	require.Equal(t, ids(3, 2, 1), first(image).Replicas)
	require.Nil(t, first(image).Reassignment)
	require.Equal(t, kafka.BrokerID(1), first(image).Leader)
	require.Zero(t, first(image).LeaderEpoch)
	records, outcomes, _ := ElectLeaders(image, PreferredElection, nil)
	require.Equal(t, []kafka.ErrorCode{kafka.None}, codes(outcomes))
	require.Equal(t, kafka.BrokerID(3), first(decide(t, image, records)).Leader)
}

func TestReassignmentIsRefused(t *testing.T) {
	image := sixBrokers(t, 1, 2, 3)
	for name, c := range map[string]struct {
		asked NewReplicas
		code  kafka.ErrorCode
	}{
		"nothing":              {NewReplicas{"t", 0, ids(1, 2, 4)}, kafka.None},
		"an unknown topic":     {NewReplicas{"u", 0, ids(1, 2, 4)}, kafka.UnknownTopicOrPartition},
		"an unknown partition": {NewReplicas{"t", 1, ids(1, 2, 4)}, kafka.UnknownTopicOrPartition},
		"no replicas":          {NewReplicas{"t", 0, []kafka.BrokerID{}}, kafka.InvalidReplicaAssignment},
		"an unknown broker":    {NewReplicas{"t", 0, ids(1, 2, 7)}, kafka.InvalidReplicaAssignment},
		"a broker twice":       {NewReplicas{"t", 0, ids(1, 2, 2)}, kafka.InvalidReplicaAssignment},
		"another factor":       {NewReplicas{"t", 0, ids(1, 2)}, kafka.InvalidReplicationFactor},
	} {
		records, outcomes, code := AlterReassignments(image, []NewReplicas{c.asked, c.asked}, false)
		require.Equal(t, kafka.None, code, name)
		require.Equal(t, c.code, outcomes[0].Error, name)
		require.Equal(t, c.code == kafka.None, len(records) == 1, name)
		require.NotEqual(t, kafka.None, outcomes[1].Error, name)
		require.NotEmpty(t, outcomes[1].Message, name)
	}
	old := *image
	old.features.Level = LevelReassignments - 1
	_, _, code := AlterReassignments(&old, []NewReplicas{{"t", 0, ids(1, 2, 4)}}, true)
	require.Equal(t, kafka.UnsupportedVersion, code)
}

func TestReplicaWithNothingIsTheLastToBeElectedUncleanly(t *testing.T) {
	image, _ := reassign(t, sixBrokers(t, 1, 2), 3, 1)
	image = fence(t, image, 1, 2)
	records, outcomes, _ := ElectLeaders(unfenced(t, image, 2), UncleanElection, nil)
	require.Empty(t, outcomes, "broker 2 is eligible and leads")
	require.Empty(t, records)
	records, _, _ = ElectLeaders(image, UncleanElection, nil)
	require.Equal(t, Standing{ids(3), nil, 3, kafka.NoBroker, true}, first(decide(t, image, records)).Standing)
}
