package broker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

func TestProducedRecordsAreFetched(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 2)
	require.EqualValues(t, 0, h.produce(1, "orders", 0, "a", "b").BaseOffset)
	require.EqualValues(t, 2, h.produce(1, "orders", 0, "c").BaseOffset)

	h.ask(2, h.fetchRequest("orders", 1, 0))
	h.deliver()
	f := readFetched(&h.one().(*kmsg.FetchResponse).Topics[0].Partitions[0])
	require.Equal(t, fetched{kafka.None, 3, []string{"a", "b", "c"}, 0}, f)
}

func TestAcknowledgementWaitsForTheWrite(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	for _, acks := range []int16{1, -1} {
		h.ask(1, h.produceRequest("orders", 0, acks, batch(record.Plain(), h.now.WallMs, "a")))
		require.Empty(t, h.take())
		h.deliver()
		require.Zero(t, h.one().(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
	}
}

func TestFlushModeAcknowledgesAfterTheSync(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1, "flush.messages", "1")
	syncs := 0
	h.recorded = func(what string) {
		if what == "sync orders-0/00000000000000000000.log" {
			require.Empty(t, h.replies)
			syncs++
		}
	}
	h.produce(1, "orders", 0, "a")
	require.Equal(t, 1, syncs)
}

func TestUnacknowledgedProduceIsSilentAndHangsUpOnError(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.ask(1, h.produceRequest("orders", 0, 0, batch(record.Plain(), h.now.WallMs, "a")))
	h.deliver()
	require.Empty(t, h.take())
	require.Empty(t, h.closed)
	h.ask(1, h.produceRequest("orders", 7, 0, batch(record.Plain(), h.now.WallMs, "a")))
	require.Equal(t, []env.ConnID{1}, h.closed)
	require.EqualValues(t, 1, h.broker.Replica(kafka.TopicPartition{Topic: "orders"}).HighWatermark())
}

func TestFailedWriteIsAStorageErrorUntilTheLogIsOpenAgain(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.failOp = "write"
	require.Equal(t, int16(kafka.KafkaStorageError), h.produce(1, "orders", 0, "b").ErrorCode)
	answer := h.produce(1, "orders", 0, "c")
	require.Zero(t, answer.ErrorCode)
	require.EqualValues(t, 1, answer.BaseOffset)
}

func TestFencedLogWaitsForResponsesThatReadIt(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.ask(2, h.fetchRequest("orders", 0, 0))
	require.Len(t, h.take(), 1)
	h.failOp = "write"
	require.Equal(t, int16(kafka.KafkaStorageError), h.produce(1, "orders", 0, "b").ErrorCode)
	replica := h.broker.Replica(kafka.TopicPartition{Topic: "orders"})
	require.Equal(t, partition.Fenced, replica.State())
	require.Equal(t, int16(kafka.KafkaStorageError), h.produce(1, "orders", 0, "b").ErrorCode)
	h.sent()
	h.deliver()
	require.Equal(t, partition.Online, replica.State())
	require.Zero(t, h.produce(1, "orders", 0, "b").ErrorCode)
}

func TestFetchWaitsForDataOrTime(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.ask(2, h.fetchRequest("orders", 0, 0))
	h.deliver()
	require.Empty(t, h.take())
	h.tick(499)
	require.Empty(t, h.take())
	h.tick(1)
	f := readFetched(&h.one().(*kmsg.FetchResponse).Topics[0].Partitions[0])
	require.Equal(t, fetched{kafka.None, 0, nil, -1}, f)

	h.ask(2, h.fetchRequest("orders", 0, 0))
	h.ask(1, h.produceRequest("orders", 0, -1, batch(record.Plain(), h.now.WallMs, "a")))
	h.deliver()
	replies := h.take()
	require.Len(t, replies, 2)
	f = readFetched(&replies[1].response.(*kmsg.FetchResponse).Topics[0].Partitions[0])
	require.Equal(t, fetched{kafka.None, 1, []string{"a"}, 0}, f)
}

func TestFetchOfAClosedConnectionIsForgotten(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.ask(2, h.fetchRequest("orders", 0, 0))
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: 2})
	h.tick(1000)
	h.produce(1, "orders", 0, "a")
	require.Empty(t, h.take())
	require.Empty(t, h.broker.host.all[0].watchers)
}

func TestCleanRestartNeedsNoScan(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.stop()
	require.NotNil(t, h.world.Disk.Content(commitlog.CleanMarkerName))
	require.NotNil(t, h.world.Disk.Content(commitlog.KafkaCleanName))
	h.start()
	require.Nil(t, h.world.Disk.Content(commitlog.CleanMarkerName))
	require.Nil(t, h.world.Disk.Content(commitlog.KafkaCleanName))
	require.Zero(t, h.broker.host.all[0].Counters.RecoveredBytes)
	require.EqualValues(t, 1, h.produce(1, "orders", 0, "b").BaseOffset)
}

func TestRestartAfterAKillKeepsWhatWasAcknowledged(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.kill()
	h.start()
	require.Positive(t, h.broker.host.all[0].Counters.RecoveredBytes)
	answer := h.produce(1, "orders", 0, "b")
	require.Zero(t, answer.ErrorCode)
	require.EqualValues(t, 1, answer.BaseOffset)
}

func TestLogThatCanNotBeReadDoesNotHoldUpOthers(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.createTopic("other", 1)
	h.kill()
	broken := true
	fail := h.world.Disk.Fail
	h.world.Disk.Fail = func(op, name string) env.Errno {
		if broken && op == "read" && strings.HasPrefix(name, "orders-0/") &&
			!strings.HasSuffix(name, commitlog.PartitionMetadataName) {
			return env.EIO
		}
		return fail(op, name)
	}
	h.start()
	require.Zero(t, h.produce(1, "other", 0, "a").ErrorCode)
	require.EqualValues(t, kafka.KafkaStorageError, h.produce(1, "orders", 0, "a").ErrorCode)
	broken = false
	h.tick(1000)
	h.deliver()
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}

func TestTopicCreatedAgainStartsEmpty(t *testing.T) {
	h := newHarness(t, nil)
	for _, how := range []string{"running", "stopped"} {
		h.createTopic("orders", 1)
		h.produce(1, "orders", 0, "a")
		old := h.controller.image.Topic("orders").ID
		if how == "running" {
			m := kmsg.NewPtrDeleteTopicsRequest()
			m.Version, m.TimeoutMillis, m.TopicNames = 5, 5000, []string{"orders"}
			h.ask(1, m)
		} else {
			h.kill()
			h.controller.delete(old)
		}
		h.controller.create(&kmsg.CreateTopicsRequestTopic{Topic: "orders", NumPartitions: 1})
		if how == "stopped" {
			h.start()
		}
		h.deliver()
		h.take()
		require.EqualValues(t, 0, h.produce(1, "orders", 0, "b").BaseOffset, how)
		h.controller.delete(h.controller.image.Topic("orders").ID)
		h.controller.publish(h)
		h.deliver()
		require.NotContains(t, h.world.Disk.Names(""), "orders-0")
	}
}

func TestCheckpointsAreWrittenNowAndThen(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.tick(60_000)
	h.deliver()
	b := h.world.Disk.Content(commitlog.HighWatermarkCheckpointName)
	entries, err := commitlog.DecodeCheckpoint(b)
	require.NoError(t, err)
	require.Equal(t, []commitlog.CheckpointEntry{{
		Partition: kafka.TopicPartition{Topic: "orders"},
		Offset:    1,
	}}, entries)
}

func TestAnotherClustersDirectoryIsRefused(t *testing.T) {
	h := newHarness(t, nil)
	h.stop()
	h.controller.image, h.controller.entries = newStandIn().image, nil
	meta, err := commitlog.DecodeMetaProperties(
		h.world.Disk.Content(commitlog.MetaPropertiesName))
	require.NoError(t, err)
	meta.ClusterID = "BBBBBBBBBBBBBBBBBBBBBB"
	h.world.Disk.SetContent(commitlog.MetaPropertiesName, commitlog.AppendMetaProperties(nil, meta))
	h.controller = newStandIn()
	h.launch()
	require.ErrorContains(t, h.broker.Fatal(), "cluster")
}
