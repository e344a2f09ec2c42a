package metadata

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// clusterInRacks has so many active brokers in each rack, with ids in an order of their own.
func clusterInRacks(t *rapid.T, sizes []int) *Image {
	var racks []string
	for r, size := range sizes {
		racks = append(racks, slices.Repeat([]string{fmt.Sprintf("r%d", r)}, size)...)
	}
	records := []Record{&ClusterRecord{"cluster", Features{CurrentLevel}}}
	for i, rack := range rapid.Permutation(racks).Draw(t, "racks of the brokers") {
		records = append(records, &BrokerRecord{Broker{ID: kafka.BrokerID(i), Epoch: -1, Rack: rack}})
	}
	image, err := Empty().Apply(1, records...)
	require.NoError(t, err)
	return image
}

// placement is what a test knows of the replicas of some partitions.
type placement struct {
	leaders, replicas map[kafka.BrokerID]int
	followers         map[kafka.BrokerID]map[kafka.BrokerID]int // by leader
}

func placementOf(all [][]kafka.BrokerID) placement {
	p := placement{
		map[kafka.BrokerID]int{}, map[kafka.BrokerID]int{}, map[kafka.BrokerID]map[kafka.BrokerID]int{},
	}
	for _, replicas := range all {
		leader := replicas[0]
		p.leaders[leader]++
		if p.followers[leader] == nil {
			p.followers[leader] = map[kafka.BrokerID]int{}
		}
		for _, id := range replicas {
			p.replicas[id]++
		}
		for _, id := range replicas[1:] {
			p.followers[leader][id]++
		}
	}
	return p
}

// spread is the difference of the largest and the smallest count of these brokers, but for one.
func spread(image *Image, counts map[kafka.BrokerID]int, without kafka.BrokerID) int {
	least, most := 1<<30, 0
	for b := range image.Brokers() {
		if b.Active() && b.ID != without {
			least, most = min(least, counts[b.ID]), max(most, counts[b.ID])
		}
	}
	return most - least
}

// requireRacksEven fails if a rack has two more replicas of a partition than one that has room.
func requireRacksEven(t *rapid.T, image *Image, replicas []kafka.BrokerID) {
	size, used := map[string]int{}, map[string]int{}
	for b := range image.Brokers() {
		if b.Active() {
			size[b.Rack]++
		}
	}
	for i, id := range replicas {
		require.True(t, image.Broker(id).Active())
		require.NotContains(t, replicas[:i], id, "a broker twice in one partition")
		used[image.Broker(id).Rack]++
	}
	for less := range size {
		for more := range size {
			if used[less]+1 < used[more] {
				require.Equal(t, size[less], used[less], "rack %s has %d, %s %d", less, used[less], more, used[more])
			}
		}
	}
}

func TestLoadIsSpreadOverBrokersAndRacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		racks, size := rapid.IntRange(1, 4).Draw(t, "racks"), rapid.IntRange(1, 4).Draw(t, "brokers in each")
		image := clusterInRacks(t, slices.Repeat([]int{size}, racks))
		n := racks * size
		factor := rapid.IntRange(1, min(n, 5)).Draw(t, "replication factor")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		count := rapid.IntRange(1, 60).Draw(t, "partitions")
		all, r := placeReplicas(image, nil, count, factor, random)
		require.False(t, r.refused())
		require.Len(t, all, count)
		for _, replicas := range all {
			require.Len(t, replicas, factor)
			requireRacksEven(t, image, replicas)
		}
		p := placementOf(all)
		require.LessOrEqual(t, spread(image, p.leaders, kafka.NoBroker), 1, "leaders")
		require.LessOrEqual(t, spread(image, p.replicas, kafka.NoBroker), 2, "replicas")
	})
}

func TestRacksOfDifferentSizesAreFilledEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 5).Draw(t, "sizes")
		image := clusterInRacks(t, sizes)
		factor := rapid.IntRange(1, image.brokers.size()).Draw(t, "replication factor")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		all, r := placeReplicas(image, nil, 40, factor, random)
		require.False(t, r.refused())
		for _, replicas := range all {
			requireRacksEven(t, image, replicas)
		}
		require.LessOrEqual(t, spread(image, placementOf(all).leaders, kafka.NoBroker), 1)
	})
}

func TestLoadOfABrokerThatFailsGoesToAllOthers(t *testing.T) {
	for n := 3; n <= 7; n++ {
		image := clusterOf(t, n)
		for factor := 2; factor <= 3; factor++ {
			all, _ := placeReplicas(image, nil, 10*n*(n-1), factor, rand.New(rand.NewPCG(1, 1)))
			p := placementOf(all)
			for b := range image.Brokers() {
				require.LessOrEqual(t, spread(image, p.followers[b.ID], b.ID), 2,
					"followers of %d of %d with factor %d: %v", b.ID, n, factor, p.followers[b.ID])
			}
		}
	}
}

func TestMorePartitionsEvenOutWhatATopicHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "brokers")
		image := clusterOf(t, n)
		factor := rapid.IntRange(1, min(n, 3)).Draw(t, "replication factor")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		count := rapid.IntRange(1, 20).Draw(t, "partitions")
		records, _ := CreateTopics(image, []NewTopic{{
			Name: "t", Partitions: int32(count), ReplicationFactor: int16(factor),
		}}, defaults, random)
		image = decide(t, image, records)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			count += rapid.IntRange(1, 10).Draw(t, "more")
			records, grown := CreatePartitions(image, []MorePartitions{{"t", int32(count), nil}}, random)
			require.Equal(t, kafka.None, grown[0].Error)
			image = decide(t, image, records)
		}
		var all [][]kafka.BrokerID
		for i := range count {
			all = append(all, image.Topic("t").Partition(kafka.PartitionID(i)).Replicas)
		}
		p := placementOf(all)
		require.LessOrEqual(t, spread(image, p.leaders, kafka.NoBroker), 1)
		require.LessOrEqual(t, spread(image, p.replicas, kafka.NoBroker), 2)
	})
}

func TestBrokersThatMayNotLeadTakeNoReplicas(t *testing.T) {
	image := decide(t, clusterOf(t, 4), FenceBrokers(clusterOf(t, 4), ids(2)))
	records, _, _ := Heartbeat(image, &Beat{Broker: 3, Epoch: 1, WantShutdown: true},
		func(kafka.BrokerID) Index { return 0 })
	image = decide(t, image, records)
	require.True(t, image.Broker(3).Stopping())
	random := rand.New(rand.NewPCG(1, 1))
	_, r := placeReplicas(image, nil, 1, 3, random)
	require.Equal(t, kafka.InvalidReplicationFactor, r.code)
	all, r := placeReplicas(image, nil, 10, 2, random)
	require.False(t, r.refused())
	require.Equal(t, map[kafka.BrokerID]int{1: 10, 4: 10}, placementOf(all).replicas)
}

func TestReplicasGoToTheDirectoryWithTheFewest(t *testing.T) {
	records := []Record{&ClusterRecord{"cluster", Features{CurrentLevel}}}
	for id, dirs := range [][]DirectoryID{{{1}, {2}, {3}}, {{4}}, nil} {
		records = append(records, &BrokerRecord{Broker{
			ID: kafka.BrokerID(id), Epoch: -1, Directories: dirs,
		}})
	}
	image, err := Empty().Apply(1, records...)
	require.NoError(t, err)
	image, _ = create(t, image, NewTopic{"a", 2, 3, nil, nil})
	image, _ = create(t, image, NewTopic{"b", 2, 3, nil, nil}, NewTopic{"c", 2, 3, nil, nil})
	load := map[DirectoryID]int{}
	for topic := range image.Topics() {
		for i := range 2 {
			p := topic.Partition(kafka.PartitionID(i))
			for b := range kafka.BrokerID(3) {
				load[p.Directory(b)]++
			}
		}
	}
	require.Equal(t, map[DirectoryID]int{{1}: 2, {2}: 2, {3}: 2, {4}: 6, {}: 6}, load)
}
