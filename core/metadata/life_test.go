package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

// threeReplicas is a cluster of three brokers with a topic "t" of 130 partitions, more than two
// chunks. Partition i is led by broker 1 + i%3; all are in sync, and two have to be.
func threeReplicas(t *testing.T) *Image {
	records := []Record{&TopicRecord{ID: idNumber(1), Name: "t"}}
	for i := range 130 {
		leader := kafka.BrokerID(1 + i%3)
		records = append(records, &PartitionRecord{idNumber(1), kafka.PartitionID(i), Partition{
			Replicas:    ids(1, 2, 3),
			Directories: []DirectoryID{{9, 1}, {9, 2}, {9, 3}},
			Standing:    Standing{ids(1, 2, 3), nil, leader, kafka.NoBroker, false},
		}})
	}
	return decide(t, clusterOf(t, 3), records)
}

// each calls check with every partition of topic "t" in two images.
func each(before, after *Image, check func(i int, before, after *Partition)) {
	for i := range before.Topic("t").PartitionCount() {
		id := kafka.PartitionID(i)
		check(i, before.Topic("t").Partition(id), after.Topic("t").Partition(id))
	}
}

func fence(t *testing.T, image *Image, list ...kafka.BrokerID) *Image {
	return decide(t, image, FenceBrokers(image, list))
}

// begin registers a new life of a broker.
func begin(t *testing.T, image *Image, id kafka.BrokerID, change func(*Registration)) *Image {
	asked := registrationOf(id, 99)
	asked.Broker.Directories = []DirectoryID{{9, byte(id)}}
	asked.PreviousEpoch = image.Broker(id).Epoch
	change(asked)
	records, _, code := RegisterBroker(image, asked, false)
	require.Equal(t, kafka.None, code)
	return decide(t, image, records)
}

func unfenced(t *testing.T, image *Image, id kafka.BrokerID) *Image {
	beat := Beat{Broker: id, Epoch: image.Broker(id).Epoch, Index: image.Index()}
	records, out, code := Heartbeat(image, &beat, nil)
	require.Equal(t, kafka.None, code)
	require.Equal(t, BeatOutcome{CaughtUp: true}, out)
	return decide(t, image, records)
}

func TestFencedBrokersLeaveTogether(t *testing.T) {
	before := threeReplicas(t)
	after := fence(t, before, 3, 1, 1, 7)
	require.True(t, after.Broker(1).Fenced && after.Broker(3).Fenced)
	require.False(t, after.Broker(2).Fenced)
	each(before, after, func(i int, b, p *Partition) {
		want := Standing{ids(2), ids(1, 3), 2, kafka.NoBroker, false}
		require.Equal(t, want, p.Standing)
		require.Equal(t, b.Epoch+1, p.Epoch)
		bumped := kafka.LeaderEpoch(0)
		if b.Leader != 2 {
			bumped = 1
		}
		require.Equal(t, b.LeaderEpoch+bumped, p.LeaderEpoch)
	})
	require.Empty(t, FenceBrokers(after, ids(1, 3, 7)), "they are fenced already")
}

func TestLeaderlessPartitionsGetALeaderWhenAnEligibleBrokerIsBack(t *testing.T) {
	image := fence(t, fence(t, threeReplicas(t), 1), 2, 3)
	each(image, image, func(_ int, _, p *Partition) {
		require.Equal(t, kafka.NoBroker, p.Leader)
		require.Equal(t, ids(2, 3), p.ELR, "broker 1 left while two were in sync")
	})
	back := unfenced(t, image, 1)
	each(image, back, func(_ int, b, p *Partition) { require.Same(t, b, p, "broker 1 is not eligible") })
	back = unfenced(t, back, 3)
	each(image, back, func(_ int, b, p *Partition) {
		require.Equal(t, Standing{ids(3), ids(2), 3, kafka.NoBroker, false}, p.Standing)
		require.Equal(t, b.LeaderEpoch+1, p.LeaderEpoch)
		require.Equal(t, b.Epoch+1, p.Epoch)
	})
}

func TestCleanStartKeepsTheELR(t *testing.T) {
	image := fence(t, threeReplicas(t), 1, 2)
	after := begin(t, image, 2, func(*Registration) {})
	each(image, after, func(_ int, b, p *Partition) { require.Same(t, b, p) })
	require.True(t, after.Broker(2).Fenced)
	require.Equal(t, kafka.BrokerEpoch(after.Index()), after.Broker(2).Epoch)
}

func TestUncleanStartLeavesISRAndELR(t *testing.T) {
	unclean := func(r *Registration) { r.PreviousEpoch = -1 }
	before := threeReplicas(t)
	inISR := begin(t, before, 2, unclean) // not fenced before: its session was not known here
	each(before, inISR, func(_ int, b, p *Partition) {
		require.Equal(t, ids(1, 3), p.ISR)
		require.Empty(t, p.ELR)
		require.NotEqual(t, kafka.BrokerID(2), p.Leader)
		require.Equal(t, b.LeaderEpoch+1, p.LeaderEpoch)
		require.Equal(t, b.Epoch+1, p.Epoch)
	})
	before = fence(t, before, 1, 2)
	inELR := begin(t, before, 2, unclean)
	each(before, inELR, func(_ int, b, p *Partition) {
		require.Equal(t, Standing{ids(3), ids(1), 3, kafka.NoBroker, false}, p.Standing)
		require.Equal(t, b.LeaderEpoch+1, p.LeaderEpoch)
		require.Equal(t, b.Epoch+1, p.Epoch)
	})
	again := begin(t, inELR, 2, func(r *Registration) {
		unclean(r)
		r.Broker.Incarnation[1]++
	})
	each(inELR, again, func(_ int, b, p *Partition) { require.Same(t, b, p, "it has left already") })
}

func TestLostDirectoryIsAnUncleanStartOfWhatLayInIt(t *testing.T) {
	image := threeReplicas(t)
	other := func(r *Registration) { r.Broker.Directories = []DirectoryID{{8}} }
	before := fence(t, image, 2, 3)
	after := begin(t, before, 2, other)
	each(before, after, func(_ int, b, p *Partition) {
		require.Equal(t, ids(3), p.ELR)
		require.Equal(t, []DirectoryID{{9, 1}, {8}, {9, 3}}, p.Directories, "assigned to what is left")
		require.Equal(t, b.Epoch+1, p.Epoch)
		require.Equal(t, b.LeaderEpoch+1, p.LeaderEpoch)
	})
	after = begin(t, after, 2, func(r *Registration) {
		other(r)
		r.Broker.Incarnation[1]++
		r.Broker.Directories = append(r.Broker.Directories, DirectoryID{7})
	})
	each(image, after, func(_ int, _, p *Partition) {
		require.Equal(t, DirectoryID{8}, p.Directory(2), "it has not moved")
	})
	more := func(r *Registration) { r.Broker.Directories = append(r.Broker.Directories, DirectoryID{8}) }
	after = begin(t, fence(t, image, 2, 3), 2, more)
	each(image, after, func(_ int, _, p *Partition) { require.Equal(t, ids(2, 3), p.ELR) })
}

func TestOnlyReplicaOfADamagedBrokerIsElectedUncleanly(t *testing.T) {
	image, _ := create(t, clusterOf(t, 1), NewTopic{"t", 1, 1, nil, nil})
	for _, clean := range []bool{true, false} {
		started := begin(t, image, 1, func(r *Registration) {
			if !clean {
				r.PreviousEpoch = -1
			}
		})
		p := started.Topic("t").Partition(0)
		require.Equal(t, kafka.NoBroker, p.Leader)
		require.Equal(t, clean, len(p.ELR) == 1)
		after := unfenced(t, started, 1)
		d := Diff(started, after)
		require.Equal(t, !clean, d.TopicsChanged[0].Partitions[0].Unclean())
		p = after.Topic("t").Partition(0)
		require.Equal(t, Standing{ids(1), nil, 1, kafka.NoBroker, !clean}, p.Standing)
		require.Equal(t, kafka.LeaderEpoch(2), p.LeaderEpoch)
	}
}

func TestSecondProcessIsRefusedWhileTheFirstIsAlive(t *testing.T) {
	image := clusterOf(t, 1)
	asked := registrationOf(1, 99)
	asked.Broker.Directories = []DirectoryID{{3}}
	records, _, code := RegisterBroker(image, asked, true)
	require.Equal(t, kafka.DuplicateBrokerRegistration, code)
	require.Empty(t, records)
	asked.Broker.Incarnation = image.Broker(1).Incarnation
	records, epoch, code := RegisterBroker(image, asked, true)
	require.Equal(t, kafka.None, code, "the process itself is not refused")
	require.Equal(t, image.Broker(1).Epoch, epoch)
	require.Empty(t, records)
	_, _, code = RegisterBroker(image, registrationOf(2, 99), true)
	require.Equal(t, kafka.None, code, "there is nobody that could be alive")
}

func TestSuccessorInTheSameDirectoryNeedNotWaitForTheSession(t *testing.T) {
	image := clusterOf(t, 1)
	asked := registrationOf(1, 99)
	asked.Broker.Directories = append([]DirectoryID{{3}}, image.Broker(1).Directories...)
	records, _, code := RegisterBroker(image, asked, true)
	require.Equal(t, kafka.None, code, "a directory is open in one process at a time")
	require.NotEmpty(t, records)
}

func TestBrokerThatDoesNotSupportTheLevelInForceIsRefused(t *testing.T) {
	for _, ranges := range [][]FeatureRange{
		nil,
		{{FeatureName, CurrentLevel + 1, CurrentLevel + 1}},
		{{FeatureName, 0, CurrentLevel - 1}},
		{{"another", 1, CurrentLevel}},
	} {
		asked := registrationOf(7, 1)
		asked.Broker.Features = ranges
		records, _, code := RegisterBroker(clusterOf(t, 1), asked, false)
		require.Equal(t, kafka.UnsupportedVersion, code)
		require.Empty(t, records)
	}
}

func TestUnregisteredBrokerIsForgotten(t *testing.T) {
	image := threeReplicas(t)
	_, code := UnregisterBroker(image, 7)
	require.Equal(t, kafka.BrokerIDNotRegistered, code)
	image = fence(t, image, 1)
	records, code := UnregisterBroker(image, 3)
	require.Equal(t, kafka.None, code)
	after := decide(t, image, records)
	require.Nil(t, after.Broker(3))
	each(image, after, func(_ int, _, p *Partition) {
		require.Equal(t, Standing{ids(2), nil, 2, kafka.NoBroker, false}, p.Standing)
		require.Equal(t, ids(1, 2, 3), p.Replicas)
	})
	_, epoch, code := RegisterBroker(after, registrationOf(3, 9), false)
	require.Equal(t, kafka.None, code)
	require.Equal(t, kafka.BrokerEpoch(-1), epoch)
	records, _, _ = RegisterBroker(after, registrationOf(3, 9), false)
	each(after, decide(t, after, records), func(_ int, _, p *Partition) {
		require.Equal(t, []DirectoryID{{9, 1}, {9, 2}, {}}, p.Directories, "of its two it has to choose")
	})
}

// configure changes a setting; value "" deletes it.
func configure(t *testing.T, image *Image, r Resource, name, value string) *Image {
	change := ResourceChange{Resource: r, Changes: []ConfigChange{{name, ConfigSet, &value}}}
	if value == "" {
		change.Changes[0].Op = ConfigDelete
	}
	records, outcomes := AlterConfigs(image, []ResourceChange{change})
	require.Equal(t, kafka.None, outcomes[0].Error, outcomes[0].Message)
	return decide(t, image, records)
}

func TestSmallerMinimumMakesTheELRSuperfluous(t *testing.T) {
	image := fence(t, threeReplicas(t), 1, 2)
	for _, r := range []Resource{{ResourceTopic, "t"}, BrokerDefaults()} {
		three := configure(t, image, r, "min.insync.replicas", "3")
		each(image, three, func(_ int, b, p *Partition) { require.Same(t, b, p) })
		one := configure(t, three, r, "min.insync.replicas", "1")
		each(image, one, func(_ int, b, p *Partition) {
			require.Equal(t, Standing{ids(3), nil, 3, kafka.NoBroker, false}, p.Standing)
			require.Equal(t, b.LeaderEpoch, p.LeaderEpoch)
			require.Equal(t, b.Epoch+1, p.Epoch)
		})
		back := fence(t, configure(t, one, r, "min.insync.replicas", ""), 3)
		each(one, back, func(_ int, _, p *Partition) { require.Equal(t, ids(3), p.ELR) })
	}
}

func TestTopicThatComesToAllowItGetsUncleanLeaders(t *testing.T) {
	const name = "unclean.leader.election.enable"
	image := unfenced(t, fence(t, fence(t, threeReplicas(t), 1), 2, 3), 1)
	for _, r := range []Resource{{ResourceTopic, "t"}, BrokerDefaults()} {
		same := configure(t, image, r, name, "false")
		each(image, same, func(_ int, b, p *Partition) { require.Same(t, b, p) })
		after := configure(t, image, r, name, "true")
		each(image, after, func(i int, b, p *Partition) {
			require.Equal(t, Standing{ids(1), nil, 1, kafka.NoBroker, true}, p.Standing)
			require.True(t, (&PartitionChange{kafka.PartitionID(i), b, p}).Unclean())
		})
	}
}
