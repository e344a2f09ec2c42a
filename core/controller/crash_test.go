package controller

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"stet/core/commitlog/logtest"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// told is what clients were told over all lives of a controller.
type told struct {
	topics    map[string]kafka.TopicID // created, not deleted since
	doubtful  map[string]bool          // an answer was lost
	clusterID string
	nextID    int64
}

// script creates and deletes topics with snapshots in between, and notes what was acknowledged.
func (r *rig) script(k *told, life int) {
	epoch := r.join(byte(life + 1))
	for i := range 6 {
		name := topicNumber(i)
		if _, exists := k.topics[name]; exists {
			k.doubtful[name] = true
			answer := r.call(deletionRequest(name)).(*kmsg.DeleteTopicsResponse).Topics[0]
			if answer.ErrorCode == 0 {
				delete(k.topics, name)
				delete(k.doubtful, name)
			}
		} else {
			k.doubtful[name] = true
			answer := r.call(creationRequest(2, name)).(*kmsg.CreateTopicsResponse).Topics[0]
			if answer.ErrorCode == 0 {
				k.topics[name] = answer.TopicID
				delete(k.doubtful, name)
			}
		}
		block := r.call(allocationRequest(epoch)).(*kmsg.AllocateProducerIDsResponse)
		require.Zero(r.t, block.ErrorCode)
		require.GreaterOrEqual(r.t, block.ProducerIDStart, k.nextID, "a producer id is given twice")
		k.nextID = block.ProducerIDStart + 1000
	}
	r.settle()
}

// check compares the recovered image with what clients were told.
func (r *rig) check(k *told) {
	require.NoError(r.t, r.c.Fatal())
	require.True(r.t, r.c.Ready())
	image := r.c.Image()
	if k.clusterID != "" {
		require.Equal(r.t, k.clusterID, image.ClusterID())
	}
	k.clusterID = image.ClusterID()
	for _, name := range slices.Sorted(maps.Keys(k.topics)) {
		topic := image.Topic(name)
		if topic == nil {
			require.True(r.t, k.doubtful[name], "topic %s was acknowledged and is gone", name)
			delete(k.topics, name)
			continue
		}
		require.Equal(r.t, k.topics[name], topic.ID)
		require.Equal(r.t, 2, topic.PartitionCount())
	}
	for topic := range image.Topics() {
		if _, known := k.topics[topic.Name]; !known {
			require.True(r.t, k.doubtful[topic.Name], "topic %s was deleted and is back", topic.Name)
			k.topics[topic.Name] = topic.ID
		}
	}
	clear(k.doubtful)
	require.GreaterOrEqual(r.t, int64(image.NextProducerID()), k.nextID)
	again, err := metadata.DecodeSnapshot(image.AppendSnapshot(nil))
	require.NoError(r.t, err)
	require.Equal(r.t, image.AppendSnapshot(nil), again.AppendSnapshot(nil))
}

// crash runs f with a fuse and says whether it burned down; then power is lost or the process
// killed.
func (r *rig) crash(fuse int, power bool, f func()) bool {
	r.world.Disk.Fuse = fuse
	finished := logtest.Attempt(f)
	if power {
		r.world.Disk.LosePower()
	} else {
		r.world.Disk.Kill()
	}
	r.reset()
	return !finished
}

func TestCrashAtEveryDiskOperationKeepsWhatWasAcknowledged(t *testing.T) {
	for _, power := range []bool{true, false} {
		t.Run(fmt.Sprintf("power=%v", power), func(t *testing.T) {
			seeds := uint64(4)
			if testing.Short() {
				seeds = 1
			}
			for seed := range seeds {
				for fuse := 0; ; fuse++ {
					if !crashOnce(t, seed*10_000+uint64(fuse), fuse, power) {
						break
					}
				}
			}
		})
	}
}

// crashOnce crashes a first life, or a second one over a whole first, and the recovery after it,
// twice, at a place that moves along. It says whether the fuse burned down.
func crashOnce(t *testing.T, seed uint64, fuse int, power bool) bool {
	r := newRig(t, seed)
	r.config.Quorum.SnapshotEntries = 4
	k := &told{topics: map[string]kafka.TopicID{}, doubtful: map[string]bool{}}
	life := func(n int) func() {
		return func() {
			r.boot()
			r.check(k)
			r.script(k, n)
		}
	}
	if !r.crash(fuse, power, life(0)) {
		return false
	}
	r.crash(fuse%23, power, life(1))
	r.crash(fuse%7, !power, life(2))
	require.False(t, r.crash(-1, false, life(3)))
	r.boot()
	r.check(k)
	return true
}
