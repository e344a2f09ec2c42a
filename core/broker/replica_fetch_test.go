package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/record"
)

// follows is broker 2 as it follows broker 1 in orders, over connection 9.
type follows struct {
	*harness
	epoch   kafka.BrokerEpoch
	id      int32 // of its session
	session int32 // epoch of its next request
}

// leaderHarness is a broker 1 that leads n partitions of orders, which broker 2 follows.
func leaderHarness(t *testing.T, n int32) *follows {
	h := newHarness(t, nil)
	h.createTopic("orders", n, "min.insync.replicas", "1")
	f := &follows{harness: h, epoch: h.controller.addBroker(2, "b2")}
	for id := range n {
		h.controller.place("orders", kafka.PartitionID(id), 1, 1, 2)
	}
	h.update()
	return f
}

// fetch asks for what follows an offset in each of the partitions, at most one answer later.
func (f *follows) fetch(highWatermark kafka.Offset, offsets map[int32]kafka.Offset) {
	m := kmsg.NewPtrFetchRequest()
	m.Version, m.MaxWaitMillis, m.MinBytes, m.MaxBytes = 18, 500, 1, 1<<20
	m.ReplicaState.ID, m.ReplicaState.Epoch = 2, int64(f.epoch)
	m.SessionID, m.SessionEpoch = f.id, f.session
	topic := kmsg.FetchRequestTopic{TopicID: f.topicID("orders")}
	for id := range int32(len(offsets)) {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.PartitionMaxBytes, p.FetchOffset = id, 1<<20, int64(offsets[id])
		p.CurrentLeaderEpoch = int32(f.broker.image.Topic("orders").Partition(kafka.PartitionID(id)).LeaderEpoch)
		p.LastFetchedEpoch, p.HighWatermark = -1, int64(highWatermark)
		if offsets[id] > 0 {
			p.LastFetchedEpoch = p.CurrentLeaderEpoch
		}
		topic.Partitions = append(topic.Partitions, p)
	}
	if len(offsets) > 0 {
		m.Topics = append(m.Topics, topic)
	}
	f.ask(9, m)
	f.deliver()
	f.session++
}

// fetched is the answer that has come, or nil while the fetch is parked.
func (f *follows) fetched() *kmsg.FetchResponse {
	for _, r := range f.take() {
		if m, ok := r.response.(*kmsg.FetchResponse); ok {
			f.sent()
			f.id = m.SessionID
			return m
		}
	}
	return nil
}

func (f *follows) produceAll(values ...string) {
	f.ask(1, f.produceRequest("orders", 0, -1, batch(record.Plain(), f.now.WallMs, values...)))
	f.deliver()
}

// acknowledged says whether a produce has been answered without an error.
func acknowledged(replies []reply) bool {
	for _, r := range replies {
		if m, ok := r.response.(*kmsg.ProduceResponse); ok {
			return m.Topics[0].Partitions[0].ErrorCode == 0
		}
	}
	return false
}

func TestProduceIsAcknowledgedOnceTheFollowerHasIt(t *testing.T) {
	f := leaderHarness(t, 1)
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	require.NotNil(t, f.fetched(), "the first answer of a session is full")
	f.fetch(0, nil)
	require.Nil(t, f.fetched())

	f.produceAll("a", "b")
	replies := f.take()
	require.False(t, acknowledged(replies))
	require.Len(t, replies, 1)
	m := replies[0].response.(*kmsg.FetchResponse)
	require.NotEmpty(t, m.Topics[0].Partitions[0].RecordBatches, "what is not committed is given to followers")
	require.Zero(t, m.Topics[0].Partitions[0].HighWatermark)
	f.sent()

	f.fetch(0, map[int32]kafka.Offset{0: 2})
	replies = f.take()
	require.True(t, acknowledged(replies))
	require.Len(t, replies, 2, "a follower that does not know what is committed is told at once")

	f.fetch(2, map[int32]kafka.Offset{0: 2})
	require.Nil(t, f.fetched(), "now it knows")
	require.EqualValues(t, 2, f.replica(0).HighWatermark())
}

// Ranges above the high watermark are marked for a copy: they may be truncated.
func TestOnlyWhatIsCommittedIsSentFromTheFile(t *testing.T) {
	f := leaderHarness(t, 1)
	f.produceAll("a")
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	require.Len(t, f.ranges, 1)
	require.True(t, f.ranges[0].Copy)
	f.fetched()
	f.fetch(0, map[int32]kafka.Offset{0: 1})
	f.fetched()
	f.fetch(1, map[int32]kafka.Offset{0: 0}) // it starts over
	require.Len(t, f.ranges, 1)
	require.False(t, f.ranges[0].Copy)
}

func TestFollowerOfAnotherLifeIsRefused(t *testing.T) {
	f := leaderHarness(t, 1)
	for epoch, want := range map[kafka.BrokerEpoch]kafka.ErrorCode{
		f.epoch - 1: kafka.NotLeaderOrFollower, f.epoch + 1: kafka.UnknownLeaderEpoch, -1: kafka.NotLeaderOrFollower,
	} {
		other := *f
		other.epoch = epoch
		other.fetch(0, map[int32]kafka.Offset{0: 0})
		require.EqualValues(t, want, other.fetched().Topics[0].Partitions[0].ErrorCode)
	}
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	require.Zero(t, f.fetched().Topics[0].Partitions[0].ErrorCode)
}

// A parked fetch of a life that is over while it waits counts for nothing.
func TestFollowerThatRegistersAgainIsRefusedWhereItWaits(t *testing.T) {
	f := leaderHarness(t, 1)
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.fetch(0, nil)
	f.controller.addBroker(2, "b2")
	f.update()
	require.EqualValues(t, kafka.NotLeaderOrFollower, f.fetched().Topics[0].Partitions[0].ErrorCode)
}

// A session keeps the epoch that a follower believes in, so that every fetch is fenced by it (KAFKA-9338).
func TestFetchThatWaitsInAFormerEpochIsFenced(t *testing.T) {
	f := leaderHarness(t, 1)
	f.catchUp()
	f.controller.place("orders", 0, 1, 1, 2)
	f.update()
	require.EqualValues(t, kafka.FencedLeaderEpoch, f.fetched().Topics[0].Partitions[0].ErrorCode)
}

func TestFollowerThatBeginsASessionHasNoOther(t *testing.T) {
	f := leaderHarness(t, 1)
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.fetch(0, nil)
	require.Len(t, f.broker.sessions.order, 1)
	again := &follows{harness: f.harness, epoch: f.epoch}
	again.fetch(0, map[int32]kafka.Offset{0: 0})
	require.Len(t, f.take(), 2, "the fetch that waited is answered")
	require.Len(t, f.broker.sessions.order, 1)
	require.Len(t, f.replica(0).watchers, 1)
}

func TestIdleAnswersToFollowersAreSmall(t *testing.T) {
	f := leaderHarness(t, 1000)
	offsets := map[int32]kafka.Offset{}
	for id := range int32(1000) {
		offsets[id] = 0
	}
	f.fetch(0, offsets)
	require.Len(t, f.fetched().Topics[0].Partitions, 1000)
	turns := 0
	f.watch = func() { turns++ }
	for range 10 {
		f.fetch(0, nil)
		f.tick(500)
		replies := f.take()
		require.Len(t, replies, 1)
		require.Less(t, replies[0].bytes, 300)
	}
	require.Less(t, turns, 30)
}

// fence fences broker 2, or takes that back.
func (f *follows) fence(fenced bool) {
	f.controller.commit(&metadata.BrokerStateRecord{ID: 2, Epoch: f.epoch, Fenced: fenced})
	f.update()
}

// A follower that was fenced when it caught up joins once it is not, though nothing happens in the
// partition; and one that is fenced leaves.
func TestFollowerOfAnIdlePartitionJoinsOnceItMay(t *testing.T) {
	f := leaderHarness(t, 1)
	f.controller.isr("orders", 0, 1)
	f.fence(true)
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.fetch(0, nil)
	require.Equal(t, []kafka.BrokerID{1}, f.controller.image.Topic("orders").Partition(0).ISR)
	f.fence(false)
	require.Equal(t, []kafka.BrokerID{1, 2}, f.controller.image.Topic("orders").Partition(0).ISR)
	require.Equal(t, f.controller.image, f.broker.image)
}

func TestFollowerThatStopsFetchingLeavesTheISR(t *testing.T) {
	f := leaderHarness(t, 1)
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.produceAll("a")
	for range 3 {
		f.tick(f.config.Replica.LagTime.Milliseconds() / 2)
		f.deliver()
	}
	require.False(t, acknowledged(f.take()))
	f.tick(f.config.Replica.LagTime.Milliseconds() / 2)
	f.deliver()
	require.Equal(t, []kafka.BrokerID{1}, f.controller.image.Topic("orders").Partition(0).ISR)
	require.EqualValues(t, 1, f.replica(0).HighWatermark())
	f.produceAll("b")
	require.True(t, acknowledged(f.take()))
}
