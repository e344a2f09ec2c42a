package broker

import (
	"strings"
	"testing"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"

	"github.com/stretchr/testify/require"
)

// fenced says whether the controller keeps this life of the broker from leading.
func (h *harness) fenced() bool {
	b := h.controller.image.Broker(1)
	return b == nil || b.Incarnation != h.broker.identity.Incarnation || b.Fenced
}

func TestBrokerIsFencedUntilItHasRecoveredWhatItFound(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 3)
	for id := range int32(3) {
		h.produce(1, "orders", id, "a")
	}
	h.kill()
	waited := false
	h.watch = func() {
		loading := h.broker.host.loading
		waited = waited || h.broker.register.caughtUp && loading > 0
		if !h.fenced() {
			require.Zero(t, loading)
			for id := range kafka.PartitionID(3) {
				r := h.broker.Replica(kafka.TopicPartition{Topic: "orders", Partition: id})
				require.Equal(t, partition.Online, r.State())
			}
		}
	}
	h.start()
	require.True(t, waited)
	require.False(t, h.fenced())
}

func TestBrokerIsUnfencedAlthoughALogCanNotBeRead(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 2)
	h.produce(1, "orders", 0, "a")
	h.kill()
	fail := h.world.Disk.Fail
	h.world.Disk.Fail = func(op, name string) env.Errno {
		if op == "list" && strings.HasPrefix(name, "orders-0") && h.broker.register.caughtUp {
			return env.EIO
		}
		return fail(op, name)
	}
	h.launch()
	r := h.broker.Replica(kafka.TopicPartition{Topic: "orders", Partition: 0})
	require.Equal(t, partition.Waiting, r.State())
	require.Error(t, r.Err())
	require.False(t, h.fenced())
}

func TestTopicThatIsDeletedMeanwhileIsNotWaitedFor(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.kill()
	h.watch = func() {
		if topic := h.controller.image.Topic("orders"); topic != nil && h.broker.host.loading > 0 {
			h.controller.delete(topic.ID)
			h.controller.publish(h)
		}
	}
	h.start()
	require.Nil(t, h.controller.image.Topic("orders"))
	require.False(t, h.fenced())
	require.Zero(t, h.broker.host.loading)
}
