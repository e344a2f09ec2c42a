package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
)

// ISR is who is in sync in partition 0 of orders, as the controller has it.
func (f *follows) isr() []kafka.BrokerID { return f.controller.image.Topic("orders").Partition(0).ISR }

// catchUp has broker 2 fetch all of partition 0, and wait.
func (f *follows) catchUp() {
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.fetch(0, nil)
}

func TestProposalIsSentAgainWhenItsAnswerIsLost(t *testing.T) {
	f := leaderHarness(t, 1)
	f.controller.isr("orders", 0, 1)
	f.update()
	f.controller.deaf = true
	f.catchUp()
	require.Equal(t, []kafka.BrokerID{1, 2}, f.isr(), "the request arrived")
	f.controller.deaf = false
	f.turn(env.Event{Kind: env.EventConnClosed, Conn: f.link})
	for range 5 {
		f.tick(linkPause.Milliseconds())
		f.deliver()
	}
	require.Empty(t, f.broker.alter.waiting)
	require.Empty(t, f.broker.alter.under)
	f.produceAll("a")
	require.False(t, acknowledged(f.take()), "broker 2 is in sync and does not have it")
}

func TestProposalThatIsNotTakenIsMadeAgain(t *testing.T) {
	f := leaderHarness(t, 1)
	f.controller.isr("orders", 0, 1)
	f.update()
	f.controller.undecided = true // takes no request
	f.catchUp()
	require.Len(t, f.broker.alter.under, 1)
	require.Equal(t, []kafka.BrokerID{1}, f.isr())
	f.controller.undecided = false
	f.turn(env.Event{Kind: env.EventConnClosed, Conn: f.link})
	for range 5 {
		f.tick(linkPause.Milliseconds())
		f.deliver()
	}
	require.Equal(t, []kafka.BrokerID{1, 2}, f.isr())
}

// While a request is under way what comes up waits, and all of it is in the next.
func TestProposalsOfManyPartitionsShareARequest(t *testing.T) {
	f := leaderHarness(t, 50)
	offsets := map[int32]kafka.Offset{}
	for id := range int32(50) {
		f.controller.isr("orders", kafka.PartitionID(id), 1)
		offsets[id] = 0
	}
	f.update()
	requests := 0
	f.controller.seen = func(key int16) {
		if key == 56 {
			requests++
		}
	}
	f.fetch(0, offsets)
	require.Equal(t, 1, requests)
	for id := range kafka.PartitionID(50) {
		require.Len(t, f.broker.image.Topic("orders").Partition(id).ISR, 2)
	}
}
