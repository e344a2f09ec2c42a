package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

func TestLostLinkIsTakenUpAgain(t *testing.T) {
	h := newHarness(t, nil)
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link})
	require.Empty(t, h.broker.link.requests)
	h.controller.create(&kmsg.CreateTopicsRequestTopic{Topic: "orders", NumPartitions: 1})
	h.tick(5_000) // heartbeats have nowhere to go
	h.deliver()
	h.tick(1_000)
	h.deliver()
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}

func TestLateAnswerOfAFormerLinkIsDropped(t *testing.T) {
	h := newHarness(t, nil)
	former := h.link
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: former})
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.NotEqual(t, former, h.link)
	pending := len(h.broker.link.requests)
	h.turn(env.Event{
		Kind: env.EventResponse, Conn: former, Slot: 1,
		Res: kmsg.NewPtrBrokerHeartbeatResponse(),
	})
	require.Len(t, h.broker.link.requests, pending)
}

func TestBrokerRegistersAgainWhenItsEpochIsStale(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	before := h.broker.register.epoch
	h.controller.stale = true
	h.tick(h.config.HeartbeatInterval.Milliseconds())
	h.deliver()
	require.Greater(t, h.broker.register.epoch, before)
	require.True(t, h.broker.Ready())
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}

func TestCleanStopAnswersWhoWaits(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	m := h.fetchRequest("orders", 0, 0)
	m.MaxWaitMillis = 60_000
	h.ask(2, m)
	h.ask(1, h.produceRequest("orders", 0, -1, batch(record.Plain(), h.now.WallMs, "a")))
	h.stop()
	replies := h.take()
	require.Len(t, replies, 2)
	for _, r := range replies {
		switch m := r.response.(type) {
		case *kmsg.ProduceResponse:
			require.EqualValues(t, kafka.NotLeaderOrFollower, m.Topics[0].Partitions[0].ErrorCode)
		case *kmsg.FetchResponse:
			require.EqualValues(t, kafka.NotLeaderOrFollower, m.Topics[0].Partitions[0].ErrorCode)
		}
	}
	h.start()
	require.EqualValues(t, 1, h.broker.host.all[0].HighWatermark(), "what was under way is kept")
}

func TestFailedStopLeavesNoMarker(t *testing.T) {
	for _, operation := range []string{"sync", "rename", "write"} {
		h := newHarness(t, nil)
		h.createTopic("orders", 1)
		h.produce(1, "orders", 0, "a")
		h.failOp = operation
		h.stop()
		require.Nil(t, h.world.Disk.Content(commitlog.CleanMarkerName), operation)
		h.start()
		require.EqualValues(t, 1, h.produce(1, "orders", 0, "b").BaseOffset)
	}
}

func TestConfigurationIsReplaced(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
	changed := h.config
	changed.Topic.MaxMessageBytes = 80
	changed.Topic.FlushMessages = 1
	h.turn(env.Event{Kind: env.EventConfig, Res: &changed})
	require.EqualValues(t, kafka.MessageTooLarge,
		h.produce(1, "orders", 0, string(make([]byte, 100))).ErrorCode)
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}

func TestProducersAreForgottenWhenTheyAreIdle(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	spec := record.Plain()
	spec.ProducerID, spec.ProducerEpoch, spec.BaseSequence = 7, 0, 0
	h.ask(1, h.produceRequest("orders", 0, -1, batch(spec, h.now.WallMs, "a")))
	h.deliver()
	h.take()
	spec.BaseSequence = 5
	gap := func() kafka.ErrorCode {
		h.ask(1, h.produceRequest("orders", 0, -1, batch(spec, h.now.WallMs, "b")))
		h.deliver()
		m := h.one().(*kmsg.ProduceResponse)
		return kafka.ErrorCode(m.Topics[0].Partitions[0].ErrorCode)
	}
	h.now.WallMs += 40 * 24 * 3600 * 1000 // the wall clock leaps
	h.tick(600_000)
	h.now.WallMs -= 40 * 24 * 3600 * 1000
	require.Equal(t, kafka.OutOfOrderSequenceNumber, gap(), "a leap forgets nobody")
	for range 25 * 6 {
		h.tick(600_000)
		h.deliver()
	}
	require.Equal(t, kafka.None, gap(), "a producer that is not known may start anywhere")
}

// A broker that was started before a controller joined does not have it in its configuration.
func TestBrokerFollowsALeaderThatItWasNotConfiguredWith(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.Controllers = []kafka.ControllerAddress{{Node: 1, Addr: "k1:9093"}, {Node: 2, Addr: "k2:9093"}}
	})
	h.controller.leader, h.controller.joined = "k9:9093", kafka.ControllerAddress{Node: 9, Addr: "k9:9093"}
	h.dialled = nil
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link})
	for range 10 {
		h.tick(500)
		h.deliver()
	}
	require.Equal(t, "k9:9093", h.peer, "%v", h.dialled)
	h.controller.leader, h.controller.joined = "k1:9093", kafka.ControllerAddress{}
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link})
	for range 10 {
		h.tick(500)
		h.deliver()
	}
	require.Equal(t, "k1:9093", h.peer)
	h.createTopic("orders", 1)
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}
