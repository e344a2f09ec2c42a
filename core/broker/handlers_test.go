package broker

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/core/record"
	"stet/core/wire"
)

func TestApiVersionsAnswersEveryVersion(t *testing.T) {
	h := newHarness(t, nil)
	for version := int16(0); version <= 5; version++ {
		m := kmsg.NewPtrApiVersionsRequest()
		m.Version, m.ClientSoftwareName, m.ClientSoftwareVersion, m.NodeID = version, "x", "1", -1
		h.ask(1, m)
		answer := h.one().(*kmsg.ApiVersionsResponse)
		require.Zero(t, answer.ErrorCode)
		require.Len(t, answer.ApiKeys, len(wire.NewApiVersionsResponse(wire.BrokerListener).ApiKeys))
	}
	// Version 99 with a client id and no tags: 18, 99, correlation, client id, tag byte.
	frame := []byte{0, 18, 0, 99, 0, 0, 0, 7, 0, 0, 0}
	h.askFrame(1, frame)
	answer := h.one().(*kmsg.ApiVersionsResponse)
	require.EqualValues(t, kafka.UnsupportedVersion, answer.ErrorCode)
	require.Len(t, answer.ApiKeys, 1)
}

func TestApiVersionsChecksWhomTheClientMeans(t *testing.T) {
	h := newHarness(t, nil)
	other, own := "other", h.broker.ClusterID()
	for _, c := range []struct {
		cluster *string
		node    int32
		code    kafka.ErrorCode
	}{
		{nil, -1, kafka.None},
		{&own, 1, kafka.None},
		{&other, -1, kafka.RebootstrapRequired},
		{&own, 2, kafka.RebootstrapRequired},
	} {
		m := kmsg.NewPtrApiVersionsRequest()
		m.Version, m.ClientSoftwareName, m.ClientSoftwareVersion = 5, "x", "1"
		m.ClusterID, m.NodeID = c.cluster, c.node
		h.ask(1, m)
		require.EqualValues(t, c.code, h.one().(*kmsg.ApiVersionsResponse).ErrorCode)
	}
	m := kmsg.NewPtrApiVersionsRequest()
	m.Version, m.ClientSoftwareName, m.ClientSoftwareVersion = 3, "-x", "1"
	h.ask(1, m)
	require.EqualValues(t, kafka.InvalidRequest, h.one().(*kmsg.ApiVersionsResponse).ErrorCode)
}

func (h *harness) metadata(version int16, create bool, names ...string) *kmsg.MetadataResponse {
	h.t.Helper()
	m := kmsg.NewPtrMetadataRequest()
	m.Version, m.AllowAutoTopicCreation = version, create
	for i := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &names[i]
		m.Topics = append(m.Topics, t)
	}
	h.ask(1, m)
	h.deliver()
	return h.one().(*kmsg.MetadataResponse)
}

func TestMetadataOfEveryVersionNamesTheLeader(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 2)
	for version := int16(0); version <= 13; version++ {
		answer := h.metadata(version, false, "orders")
		require.Len(t, answer.Brokers, 1)
		require.Equal(t, "b1", answer.Brokers[0].Host)
		require.Len(t, answer.Topics, 1)
		require.Equal(t, "orders", *answer.Topics[0].Topic)
		require.Len(t, answer.Topics[0].Partitions, 2)
		require.EqualValues(t, 1, answer.Topics[0].Partitions[1].Leader)
		require.Len(t, h.metadata(version, false).Topics, 1, "no list is all topics")
	}
}

func TestMetadataCreatesTopicsThatAreAskedFor(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.NumPartitions = 3 })
	require.EqualValues(t, kafka.UnknownTopicOrPartition,
		h.metadata(9, false, "orders").Topics[0].ErrorCode)
	require.EqualValues(t, kafka.InvalidTopicException,
		h.metadata(9, true, "or/ders").Topics[0].ErrorCode)
	answer := h.metadata(9, true, "orders")
	require.Zero(t, answer.Topics[0].ErrorCode)
	require.Len(t, answer.Topics[0].Partitions, 3)
	require.EqualValues(t, 0, h.produce(1, "orders", 2, "a").BaseOffset)
	require.Len(t, h.metadata(1, false, "new in v1").Topics, 1)
	require.Zero(t, h.metadata(1, false, "before-v4").Topics[0].ErrorCode)
}

func TestMetadataByTopicID(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	ask := func(version int16, id kafka.TopicID) kmsg.MetadataResponseTopic {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = version
		topic := kmsg.NewMetadataRequestTopic()
		topic.TopicID = id
		if version < 12 {
			topic.Topic = kmsg.StringPtr("orders")
		}
		m.Topics = append(m.Topics, topic)
		h.ask(1, m)
		return h.one().(*kmsg.MetadataResponse).Topics[0]
	}
	id := h.controller.image.Topic("orders").ID
	require.Equal(t, "orders", *ask(12, id).Topic)
	require.EqualValues(t, kafka.UnknownTopicID, ask(12, kafka.TopicID{1}).ErrorCode)
	require.EqualValues(t, kafka.InvalidRequest, ask(10, id).ErrorCode)
}

func (h *harness) listOffset(version int16, topic string, id int32, timestamp int64,
) kmsg.ListOffsetsResponseTopicPartition {
	m := kmsg.NewPtrListOffsetsRequest()
	m.Version, m.ReplicaID = version, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp, p.CurrentLeaderEpoch = id, timestamp, -1
	t.Partitions = append(t.Partitions, p)
	m.Topics = append(m.Topics, t)
	h.ask(1, m)
	h.deliver()
	return h.one().(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
}

func TestListOffsetsFindsEndsAndTimes(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	start := h.now.WallMs
	require.EqualValues(t, 0, h.listOffset(7, "orders", 0, kafka.LatestTimestamp).Offset)
	require.EqualValues(t, -1, h.listOffset(7, "orders", 0, start).Offset)
	for i := range int64(3) {
		h.ask(1, h.produceRequest("orders", 0, 1, batch(record.Plain(), start+10*i, "a", "b")))
		h.deliver()
		h.one()
	}
	for _, c := range []struct{ timestamp, offset, at int64 }{
		{kafka.LatestTimestamp, 6, -1},
		{kafka.EarliestTimestamp, 0, -1},
		{kafka.EarliestLocalTimestamp, 0, -1},
		{kafka.LatestTieredTimestamp, -1, -1},
		{kafka.EarliestPendingUpload, -1, -1},
		{kafka.MaxTimestamp, 4, start + 20},
		{start + 5, 2, start + 10},
		{start, 0, start},
		{start + 21, -1, -1},
	} {
		answer := h.listOffset(11, "orders", 0, c.timestamp)
		require.Zero(t, answer.ErrorCode)
		require.Equal(t, c.offset, answer.Offset, c.timestamp)
		require.Equal(t, c.at, answer.Timestamp, c.timestamp)
	}
	require.EqualValues(t, kafka.UnsupportedVersion,
		h.listOffset(6, "orders", 0, kafka.MaxTimestamp).ErrorCode)
	require.EqualValues(t, kafka.UnsupportedVersion,
		h.listOffset(10, "orders", 0, kafka.EarliestPendingUpload).ErrorCode)
	require.EqualValues(t, kafka.UnknownTopicOrPartition,
		h.listOffset(6, "orders", 3, kafka.LatestTimestamp).ErrorCode)
}

func TestLookUpOfAFencedLogIsAnsweredAfterwards(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.failOp = "read"
	answer := h.listOffset(6, "orders", 0, 0)
	require.EqualValues(t, kafka.KafkaStorageError, answer.ErrorCode)
	require.EqualValues(t, 0, h.listOffset(6, "orders", 0, 0).Offset)
}

func TestCreateTopicsAnswersWithWhatTheControllerSays(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	m := kmsg.NewPtrCreateTopicsRequest()
	m.Version, m.TimeoutMillis = 5, 5000
	for _, name := range []string{"a", "b"} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = "segment.ms", kmsg.StringPtr("1000")
		topic.Configs = append(topic.Configs, config)
		m.Topics = append(m.Topics, topic)
	}
	h.ask(1, m)
	h.deliver()
	answer := h.one().(*kmsg.CreateTopicsResponse)
	require.Len(t, answer.Topics, 2)
	require.EqualValues(t, kafka.TopicAlreadyExists, answer.Topics[0].ErrorCode)
	require.Zero(t, answer.Topics[1].ErrorCode)
	replica := h.broker.Replica(kafka.TopicPartition{Topic: "b"})
	require.Equal(t, partition.Online, replica.State(), "answered when it serves")
	require.EqualValues(t, 1000, replica.Config().SegmentMs)
}

func TestTopicRequestsAreAnsweredWhenTheControllerIsLost(t *testing.T) {
	h := newHarness(t, nil)
	h.controller.silent = true
	m := kmsg.NewPtrCreateTopicsRequest()
	m.Version, m.TimeoutMillis = 5, 1000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "a", 1, 1
	m.Topics = append(m.Topics, topic)
	h.ask(1, m)
	h.tick(1000)
	answer := h.one().(*kmsg.CreateTopicsResponse)
	require.EqualValues(t, kafka.RequestTimedOut, answer.Topics[0].ErrorCode)
}

func TestProducerIDsComeFromBlocksOfTheController(t *testing.T) {
	h := newHarness(t, nil)
	seen := map[int64]bool{}
	for range 7 {
		h.ask(1, kmsg.NewPtrInitProducerIDRequest())
		h.deliver()
		answer := h.one().(*kmsg.InitProducerIDResponse)
		require.Zero(t, answer.ErrorCode)
		require.Zero(t, answer.ProducerEpoch)
		require.False(t, seen[answer.ProducerID])
		seen[answer.ProducerID] = true
	}
	require.EqualValues(t, 9, h.controller.image.NextProducerID())
	h.stop()
	h.start()
	h.ask(1, kmsg.NewPtrInitProducerIDRequest())
	h.deliver()
	require.False(t, seen[h.one().(*kmsg.InitProducerIDResponse).ProducerID],
		"a block is never used again")

	m := kmsg.NewPtrInitProducerIDRequest()
	m.TransactionalID = kmsg.StringPtr("t")
	h.ask(1, m)
	require.EqualValues(t, kafka.CoordinatorNotAvailable,
		h.one().(*kmsg.InitProducerIDResponse).ErrorCode)
}

func TestProduceOfEveryVersionIsAcknowledged(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	for version := int16(3); version <= 13; version++ {
		m := h.produceRequest("orders", 0, -1, batch(record.Plain(), h.now.WallMs, "a"))
		m.Version, m.Topics[0].Topic = version, "orders"
		h.ask(1, m)
		h.deliver()
		p := h.one().(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		require.Zero(t, p.ErrorCode)
		require.EqualValues(t, version-3, p.BaseOffset)
	}
	zstd := record.Plain()
	zstd.Codec = record.Zstd
	m := h.produceRequest("orders", 0, -1, batch(zstd, h.now.WallMs, "a"))
	m.Version, m.Topics[0].Topic = 6, "orders"
	h.ask(1, m)
	p := h.one().(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	require.EqualValues(t, kafka.UnsupportedCompressionType, p.ErrorCode)
}

func TestFetchOfEveryVersionGivesTheRecords(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	for version := int16(4); version <= 18; version++ {
		m := h.fetchRequest("orders", 0, 0)
		m.Version, m.Topics[0].Topic = version, "orders"
		h.ask(1, m)
		f := readFetched(&h.one().(*kmsg.FetchResponse).Topics[0].Partitions[0])
		require.Equal(t, []string{"a"}, f.values)
	}
}

func TestWrongLeaderIsToldTheRightOne(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	topic := h.controller.image.Topic("orders")
	h.controller.commit(&metadata.BrokerRecord{Broker: metadata.Broker{
		ID: 2, Epoch: -1,
		Endpoints: []metadata.Endpoint{{Name: "INTERNAL", Host: "x2", Port: 8}, {Name: "PLAINTEXT", Host: "b2", Port: 9}},
	}},
		&metadata.PartitionRecord{TopicID: topic.ID, Partition: metadata.Partition{
			Replicas: []kafka.BrokerID{1, 2}, LeaderEpoch: 5, Epoch: 5,
			Standing: metadata.Standing{ISR: []kafka.BrokerID{2}, Leader: 2},
		}})
	h.controller.publish(h)
	h.deliver()
	h.ask(1, h.produceRequest("orders", 0, -1, batch(record.Plain(), h.now.WallMs, "a")))
	produced := h.one().(*kmsg.ProduceResponse)
	p := produced.Topics[0].Partitions[0]
	require.EqualValues(t, kafka.NotLeaderOrFollower, p.ErrorCode)
	require.EqualValues(t, 2, p.CurrentLeader.LeaderID)
	require.EqualValues(t, 5, p.CurrentLeader.LeaderEpoch)
	require.Equal(t, "b2", produced.Brokers[0].Host)

	h.ask(1, h.fetchRequest("orders", 0, 0))
	fetched := h.one().(*kmsg.FetchResponse)
	f := fetched.Topics[0].Partitions[0]
	require.EqualValues(t, kafka.NotLeaderOrFollower, f.ErrorCode)
	require.EqualValues(t, 2, f.CurrentLeader.LeaderID)
	require.Equal(t, "b2", fetched.Brokers[0].Host)
}

func TestMetadataTellOfTheWholeCluster(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 4)
	topic := h.controller.image.Topic("orders")
	broker := func(id kafka.BrokerID, fenced bool) metadata.Record {
		return &metadata.BrokerRecord{Broker: metadata.Broker{
			ID: id, Epoch: -1, Fenced: fenced, Rack: "r",
			Endpoints: []metadata.Endpoint{
				{Name: "INTERNAL", Host: "inside", Port: 1},
				{Name: "PLAINTEXT", Host: fmt.Sprint("b", id), Port: 9},
			},
		}}
	}
	partition := func(id kafka.PartitionID, leader kafka.BrokerID) metadata.Record {
		return &metadata.PartitionRecord{TopicID: topic.ID, ID: id, Partition: metadata.Partition{
			Replicas: []kafka.BrokerID{3, 1, 2}, LeaderEpoch: 7, Epoch: 5,
			Standing: metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: leader},
		}}
	}
	h.controller.commit(broker(2, false), broker(3, true),
		partition(0, 1), partition(1, 2), partition(2, 3), partition(3, kafka.NoBroker))
	h.controller.publish(h)
	h.deliver()
	m := h.metadata(12, false, "orders")
	require.EqualValues(t, 1, m.ControllerID, "clients may ask this broker for everything")
	require.Len(t, m.Brokers, 2, "without the one that is fenced")
	require.Equal(t, "b2", m.Brokers[1].Host, "the listener by which the client came")
	require.Equal(t, "r", *m.Brokers[1].Rack)
	for i, want := range []struct {
		leader int32
		code   kafka.ErrorCode
	}{
		{1, kafka.None},
		{2, kafka.None},
		{-1, kafka.LeaderNotAvailable},
		{-1, kafka.LeaderNotAvailable},
	} {
		p := &m.Topics[0].Partitions[i]
		require.Equal(t, want.leader, p.Leader, i)
		require.Equal(t, want.code, kafka.ErrorCode(p.ErrorCode), i)
		require.EqualValues(t, 7, p.LeaderEpoch)
		require.Equal(t, []int32{3, 1, 2}, p.Replicas)
		require.Equal(t, []int32{1, 2}, p.ISR)
		require.Equal(t, []int32{3}, p.OfflineReplicas)
	}
}

func TestLeaderEpochDoesNotGoBackOverARestart(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.controller.lead("orders", 0, 30, 1)
	h.controller.publish(h)
	h.deliver()
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
	h.kill()
	h.start()
	r := h.broker.host.all[0]
	epoch := r.Log().LatestEpoch()
	require.Greater(t, epoch, kafka.LeaderEpoch(30))
	require.True(t, r.Leading())
	r.Resign()
	r.Lead(partition.Leadership{Epoch: epoch - 1, ISR: []kafka.BrokerID{1}, ReplicationFactor: 1}, &h.out)
	require.False(t, r.Leading(), "the log knows a later one")
	r.Lead(partition.Leadership{Epoch: epoch, ISR: []kafka.BrokerID{1}, ReplicationFactor: 1}, &h.out)
	require.True(t, r.Leading())
}

func TestFormerLifeOfATopicMayLieInAnotherDirectory(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Directories = []string{"a", "b"} })
	name := kafka.TopicPartition{Topic: "orders"}
	found := func(id byte) *foundDirectory {
		return &foundDirectory{replicas: []foundReplica{{name: name, topicID: kafka.TopicID{id}}}}
	}
	b := h.broker
	b.host.adopt(b, 0, found(7))
	b.host.adopt(b, 1, found(8))
	require.NoError(t, b.Fatal())
	stray := b.host.takeStray(kafka.TopicID{8}, "orders", 0)
	require.EqualValues(t, 1, stray.Handles().Dir())
	b.host.adopt(b, 1, found(7))
	require.EqualError(t, b.Fatal(), "orders-0 is in data directories a and b")
}

func TestEpochOfTheClientIsChecked(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.controller.lead("orders", 0, 3, 1)
	h.controller.publish(h)
	h.deliver()
	for epoch, code := range map[int32]kafka.ErrorCode{
		2: kafka.FencedLeaderEpoch,
		3: kafka.None, 4: kafka.UnknownLeaderEpoch,
	} {
		m := h.fetchRequest("orders", 0, 0)
		m.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
		m.MaxWaitMillis = 0
		h.ask(1, m)
		require.EqualValues(t, code,
			h.one().(*kmsg.FetchResponse).Topics[0].Partitions[0].ErrorCode, epoch)
	}
}
