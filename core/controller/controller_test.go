package controller

import (
	"testing"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestEmptyDirectoryBecomesAClusterOfOne(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	require.True(t, r.c.Ready())
	require.Len(t, r.c.Image().ClusterID(), 22)
	require.Equal(t, metadata.CurrentLevel, r.c.Image().Features().Level)

	id := r.c.Image().ClusterID()
	r.reset()
	r.boot()
	require.True(t, r.c.Ready())
	require.Equal(t, id, r.c.Image().ClusterID(), "a restart keeps the cluster id")
}

func TestDirectoryOfAnotherClusterIsRefused(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.reset()
	r.config.ClusterID, r.config.Directory = "another", "../some/data"
	r.boot()
	require.False(t, r.c.Ready())
	require.ErrorContains(t, r.c.Fatal(), "another")
	require.ErrorContains(t, r.c.Fatal(), "data directory ../some/data: ")
	require.Empty(t, r.world.Disk.OpenFiles)
}

func TestRequestsBeforeTheElectionAreRefused(t *testing.T) {
	r := newRig(t, 1)
	r.turn(env.Event{Kind: env.EventTick})
	slot := r.send(allocationRequest(1))
	answer := r.answers[slot].(*kmsg.AllocateProducerIDsResponse)
	require.Equal(t, int16(kafka.NotController), answer.ErrorCode)
}

func TestRegistrationsEpochIsTheIndexOfItsEntry(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	epoch := r.register(1)
	b := r.c.Image().Broker(1)
	require.Equal(t, epoch, int64(b.Epoch))
	require.True(t, b.Fenced)
	require.Equal(t, epoch, r.register(1), "the same incarnation keeps its epoch")

	stale := r.beat(epoch - 1)
	require.Equal(t, int16(kafka.StaleBrokerEpoch), stale.ErrorCode)
	beat := r.beat(epoch)
	require.False(t, beat.IsFenced)
	require.False(t, r.c.Image().Broker(1).Fenced)
}

func TestSilenceFencesNobodyInAClusterOfOne(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	epoch := r.join(1)
	r.now.Mono += env.Mono(time.Hour)
	r.turn(env.Event{Kind: env.EventTick})
	r.settle()
	require.False(t, r.c.Image().Broker(1).Fenced)
	require.Equal(t, env.Never, r.out.Wake, "nothing is timed")
	require.Zero(t, r.beat(epoch).ErrorCode)
}

func TestNewIncarnationLeadsInANewEpoch(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	r.call(creationRequest(2, "a"))
	before := r.c.Image().Topic("a").Partition(1)
	require.Equal(t, kafka.BrokerID(1), before.Leader)
	require.Equal(t, metadata.DirectoryID{9}, before.Directory(1))

	r.reset()
	r.boot()
	r.join(2)
	after := r.c.Image().Topic("a").Partition(1)
	require.Equal(t, kafka.BrokerID(1), after.Leader)
	require.Equal(t, before.LeaderEpoch+2, after.LeaderEpoch, "one epoch without a leader")
	require.Equal(t, before.Epoch+2, after.Epoch)
	require.Equal(t, uint64(2), r.c.Metrics.UncleanElections, "its former life did not end cleanly")
}

func TestTopicIsCreatedOnce(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	// Both are decided before either is committed.
	first, second := r.send(creationRequest(3, "a")), r.send(creationRequest(3, "a"))
	require.Nil(t, r.answers[first], "an answer before its sync")
	require.Nil(t, r.answers[second], "an answer that rests on what is not synced")
	r.settle()
	created := r.answers[first].(*kmsg.CreateTopicsResponse).Topics[0]
	require.Zero(t, created.ErrorCode)
	require.Equal(t, int32(3), created.NumPartitions)
	require.Len(t, created.Configs, 37)
	refused := r.answers[second].(*kmsg.CreateTopicsResponse).Topics[0]
	require.Equal(t, int16(kafka.TopicAlreadyExists), refused.ErrorCode)
	require.Equal(t, kafka.TopicID(created.TopicID), r.c.Image().Topic("a").ID)
}

func TestValidateOnlyCreatesNothing(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	m := creationRequest(3, "a")
	m.ValidateOnly = true
	require.Zero(t, r.call(m).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
	require.Nil(t, r.c.Image().Topic("a"))
}

func TestTopicsAreDeletedByNameAndByID(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	created := r.call(creationRequest(1, "a", "b")).(*kmsg.CreateTopicsResponse)
	require.Zero(t, r.call(deletionRequest("a")).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode)
	byID := deletionRequest("")
	byID.Topics[0].Topic, byID.Topics[0].TopicID = nil, created.Topics[1].TopicID
	answer := r.call(byID).(*kmsg.DeleteTopicsResponse).Topics[0]
	require.Zero(t, answer.ErrorCode)
	require.Equal(t, "b", *answer.Topic)
	require.Zero(t, r.c.Image().TopicCount())
	again := r.call(byID).(*kmsg.DeleteTopicsResponse).Topics[0]
	require.Equal(t, int16(kafka.UnknownTopicID), again.ErrorCode)
}

func TestProducerIDBlocksAreDistinctAcrossRestarts(t *testing.T) {
	r := newRig(t, 1)
	next := int64(0)
	for life := range byte(5) {
		r.reset()
		r.boot()
		epoch := r.join(life + 1)
		for range 3 {
			block := r.call(allocationRequest(epoch)).(*kmsg.AllocateProducerIDsResponse)
			require.Zero(t, block.ErrorCode)
			require.Equal(t, next, block.ProducerIDStart)
			require.Equal(t, int32(1000), block.ProducerIDLen)
			next += 1000
		}
	}
}

func TestRequestsShareASync(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	epoch := r.join(1)
	syncs := 0
	r.world.Disk.Fail = func(op, _ string) env.Errno {
		if op == "sync" {
			syncs++
		}
		return env.OK
	}
	for range 100 {
		r.send(allocationRequest(epoch))
	}
	r.settle()
	require.Len(t, r.asked, 0)
	require.LessOrEqual(t, syncs, 2, "one sync under way, one for all the others")
}

func TestFailedSyncIsNeverAnsweredOn(t *testing.T) {
	for _, failing := range []string{"write", "sync"} {
		r := newRig(t, 1)
		r.boot()
		r.join(1)
		r.call(creationRequest(1, "kept"))
		r.world.Disk.Fail = func(op, _ string) env.Errno {
			if op == failing {
				return env.EIO
			}
			return env.OK
		}
		answer := r.call(creationRequest(1, "lost")).(*kmsg.CreateTopicsResponse).Topics[0]
		require.Equal(t, int16(kafka.RequestTimedOut), answer.ErrorCode, "it may have happened")
		require.False(t, r.c.Ready())

		// It tries again, in vain as long as the disk is broken, and serves when it is not.
		for range 3 {
			r.now.Mono = r.now.Mono.Add(time.Minute)
			r.boot()
			require.False(t, r.c.Ready())
		}
		r.world.Disk.Fail = nil
		r.now.Mono = r.now.Mono.Add(time.Minute)
		r.boot()
		require.True(t, r.c.Ready())
		require.NotNil(t, r.c.Image().Topic("kept"))
		r.join(2)
	}
}

func TestFollowerSeesEveryEntryOnce(t *testing.T) {
	r := newRig(t, 1)
	r.config.Quorum.SnapshotEntries = 3
	r.boot()
	image := metadata.Empty()
	fetch := func(waitMs int32) (*wire.MetadataFetchResponse, bool) {
		slot := r.send(&wire.MetadataFetchRequest{
			BrokerID: 1, FromIndex: int64(image.Index()) + 1, MaxBytes: 100, MaxWaitMs: waitMs,
		})
		answer, ok := r.answers[slot].(*wire.MetadataFetchResponse)
		return answer, ok
	}
	catchUp := func() {
		for image.Index() < r.c.Image().Index() {
			answer, ok := fetch(0)
			require.True(t, ok)
			image = follow(t, image, answer)
		}
		require.Equal(t, r.c.Image().AppendSnapshot(nil), image.AppendSnapshot(nil))
	}
	catchUp()
	r.join(1)
	for i := range 20 {
		r.call(creationRequest(2, topicNumber(i)))
		if i%3 == 0 {
			catchUp()
		}
	}
	r.settle()
	catchUp()

	// With nothing new it waits, until its time is up.
	_, ok := fetch(500)
	require.False(t, ok)
	slot := r.slot
	require.Equal(t, r.now.Mono.Add(500*time.Millisecond), r.c.fetch.deadline())
	r.now.Mono = r.now.Mono.Add(500 * time.Millisecond)
	r.turn(env.Event{Kind: env.EventTick})
	require.Empty(t, r.answers[slot].(*wire.MetadataFetchResponse).Entries)
	// Or until something is committed.
	_, ok = fetch(500)
	require.False(t, ok)
	slot = r.slot
	r.call(creationRequest(1, "new"))
	require.Len(t, r.answers[slot].(*wire.MetadataFetchResponse).Entries, 1)
}

func TestBrokerWithoutMetadataReadsTheLogInPieces(t *testing.T) {
	r := newRig(t, 1)
	r.boot()
	r.join(1)
	for i := range 3 {
		r.call(creationRequest(1, topicNumber(i)))
	}
	r.settle()
	image, pieces := metadata.Empty(), 0
	for image.Index() < r.c.Image().Index() {
		slot := r.send(&wire.MetadataFetchRequest{BrokerID: 1, FromIndex: int64(image.Index()) + 1, MaxBytes: 1})
		answer := r.answers[slot].(*wire.MetadataFetchResponse)
		require.Nil(t, answer.Snapshot)
		require.Len(t, answer.Entries, 1)
		image = follow(t, image, answer)
		pieces++
	}
	require.Equal(t, int(r.c.Image().Index()), pieces+quorum.FirstEntry-1)
	require.Equal(t, r.c.Image().AppendSnapshot(nil), image.AppendSnapshot(nil))
}

func follow(t *testing.T, image *metadata.Image, answer *wire.MetadataFetchResponse) *metadata.Image {
	require.Zero(t, answer.ErrorCode)
	require.Equal(t, int32(1), answer.LeaderID)
	var err error
	if answer.Snapshot != nil {
		image, err = metadata.DecodeSnapshot(answer.Snapshot)
		require.NoError(t, err)
		require.Equal(t, answer.SnapshotIndex, int64(image.Index()))
	}
	for _, e := range answer.Entries {
		require.Equal(t, max(int64(image.Index())+1, quorum.FirstEntry), e.Index)
		image, err = image.ApplyEntry(metadata.Index(e.Index), e.Record)
		require.NoError(t, err)
	}
	return image
}
