package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
)

// name is the replica of a partition of orders.
func (h *harness) replica(id kafka.PartitionID) *hosted {
	return h.broker.host.find(h.topicID("orders"), id)
}

func TestFollowerCopiesWhatTheLeaderHas(t *testing.T) {
	h := followerHarness(t, 1)
	q := h.leaders.next(h)
	require.Equal(t, "b2:9092", q.addr)
	require.EqualValues(t, 1, q.ReplicaID)
	require.Equal(t, h.broker.register.epoch, q.ReplicaEpoch)
	require.Equal(t, initialSessionEpoch, q.SessionEpoch)
	require.EqualValues(t, 500, q.MaxWaitMs)
	p := q.named()[0]
	require.EqualValues(t, 0, p.FetchOffset)
	require.EqualValues(t, 1, p.CurrentLeaderEpoch)
	require.EqualValues(t, 0, p.LastFetchedEpoch, "it has led in epoch 0")

	h.answer(q, &wire.ReplicaFetchResponse{SessionID: 9, Partitions: []wire.ReplicaFetched{
		h.fetched(0, 1, 0, "a", "b"),
	}})
	require.EqualValues(t, 2, h.replica(0).LogEndOffset())
	require.EqualValues(t, 1, h.replica(0).HighWatermark())

	q = h.leaders.next(h)
	require.EqualValues(t, 9, q.SessionID)
	require.EqualValues(t, 1, q.SessionEpoch)
	p = q.named()[0]
	require.EqualValues(t, 2, p.FetchOffset)
	require.EqualValues(t, 1, p.HighWatermark, "the leader need not tell it again")
	require.EqualValues(t, 1, p.LastFetchedEpoch)
}

func TestIdleReplicasCostOneLongPoll(t *testing.T) {
	h := followerHarness(t, 1000)
	q := h.leaders.next(h)
	require.Len(t, q.named(), 1000)
	full := &wire.ReplicaFetchResponse{SessionID: 9}
	for id := range kafka.PartitionID(1000) {
		full.Partitions = append(full.Partitions, h.fetched(id, 0, 0))
	}
	h.answer(q, full)
	timers, turns := len(h.broker.timers.heap), 0
	h.watch = func() { turns++ }
	for range 10 {
		h.answer(h.leaders.next(h), &wire.ReplicaFetchResponse{SessionID: 9})
	}
	require.Equal(t, 10, turns)
	require.Len(t, h.broker.timers.heap, timers)
	require.Empty(t, h.leaders.next(h).named())
}

func TestRefusedReplicaTriesAgainAfterAPause(t *testing.T) {
	h := followerHarness(t, 2)
	q := h.leaders.next(h)
	ahead := h.fetched(0, -1, 0)
	ahead.Error = kafka.UnknownLeaderEpoch // the leader does not know yet that it leads
	h.answer(q, &wire.ReplicaFetchResponse{SessionID: 9, Partitions: []wire.ReplicaFetched{
		ahead, h.fetched(1, 0, 0),
	}})
	q = h.leaders.next(h)
	require.Empty(t, q.named())
	require.Equal(t, []kafka.PartitionID{0}, q.forgets(), "the other goes on without it")
	h.tick(firstCopyPause.Milliseconds())
	again := h.leaders.next(h) // interrupts the long poll
	require.Len(t, again.named(), 1)
	require.EqualValues(t, 0, again.named()[0].Index)
}

func TestMetadataEndThePause(t *testing.T) {
	h := followerHarness(t, 1)
	fenced := h.fetched(0, -1, 0)
	fenced.Error = kafka.FencedLeaderEpoch
	h.answer(h.leaders.next(h), &wire.ReplicaFetchResponse{SessionID: 9, Partitions: []wire.ReplicaFetched{fenced}})
	require.Empty(t, h.leaders.asked)
	h.controller.place("orders", 0, 2, 2, 1)
	h.update()
	require.EqualValues(t, 2, h.leaders.next(h).named()[0].CurrentLeaderEpoch)
}

func TestNewPartitionInterruptsTheLongPoll(t *testing.T) {
	h := followerHarness(t, 1)
	h.createTopic("more", 1)
	h.answer(h.leaders.next(h), &wire.ReplicaFetchResponse{SessionID: 9})
	parked := h.leaders.next(h)
	h.controller.place("more", 0, 2, 2, 1)
	h.update()
	q := h.leaders.next(h)
	require.Equal(t, h.topicID("more"), q.Topics[0].ID)
	require.Equal(t, parked.SessionEpoch+1, q.SessionEpoch)
	h.answer(parked, &wire.ReplicaFetchResponse{SessionID: 9})
	require.Empty(t, h.leaders.asked, "one long poll is enough")
	h.answer(q, &wire.ReplicaFetchResponse{SessionID: 9})
	require.Empty(t, h.leaders.next(h).named())
}

// What the leader says of an epoch that is over here is not taken for the new one.
func TestAnswerOfTheFormerEpochIsDropped(t *testing.T) {
	h := followerHarness(t, 1)
	h.answer(h.leaders.next(h), &wire.ReplicaFetchResponse{SessionID: 9})
	former := h.leaders.next(h)
	old := h.fetched(0, 1, 0, "a")
	h.controller.place("orders", 0, 2, 2, 1)
	h.update()
	q := h.leaders.next(h)
	require.EqualValues(t, 2, q.named()[0].CurrentLeaderEpoch)
	h.answer(former, &wire.ReplicaFetchResponse{SessionID: 9, Partitions: []wire.ReplicaFetched{old}})
	require.Zero(t, h.replica(0).LogEndOffset())
	require.Zero(t, h.replica(0).HighWatermark())
}

func TestFollowerGoesToTheNewLeader(t *testing.T) {
	h := followerHarness(t, 1)
	h.leaders.listen("b3:9092")
	h.controller.addBroker(3, "b3")
	former := h.leaders.next(h)
	h.controller.place("orders", 0, 3, 3, 1)
	h.update()
	require.Equal(t, "b3:9092", h.leaders.next(h).addr)
	require.Len(t, h.broker.fetchers.byLeader, 1, "nothing is copied from the former leader")
	h.answer(former, &wire.ReplicaFetchResponse{SessionID: 9, Partitions: []wire.ReplicaFetched{h.fetched(0, 1, 0, "a")}})
	require.Zero(t, h.replica(0).LogEndOffset())

	h.controller.place("orders", 0, 1, 3, 1)
	h.update()
	require.Empty(t, h.broker.fetchers.byLeader, "who leads copies from nobody")
	require.True(t, h.replica(0).Leading())
	h.controller.place("orders", 0, kafka.NoBroker, 3, 1)
	h.update()
	require.Empty(t, h.broker.fetchers.byLeader)
	require.False(t, h.replica(0).Leading())
}

func TestLeaderIsFoundAtAnotherAddress(t *testing.T) {
	h := followerHarness(t, 1)
	h.leaders.listen("c2:9092")
	h.leaders.next(h)
	h.controller.addBroker(2, "c2")
	h.update()
	h.tick(linkPause.Milliseconds())
	h.deliver()
	q := h.leaders.next(h)
	require.Equal(t, "c2:9092", q.addr)
	require.Equal(t, initialSessionEpoch, q.SessionEpoch)
	require.Len(t, q.named(), 1)
}

func TestLostLinkBeginsANewSession(t *testing.T) {
	for name, lose := range map[string]func(h *harness, q leaderAsked){
		"closed": func(h *harness, q leaderAsked) {
			h.turn(env.Event{Kind: env.EventConnClosed, Conn: q.conn, Err: env.EReset})
		},
		"silent": func(h *harness, _ leaderAsked) {
			h.tick((h.config.Replica.FetchWait + h.broker.linkPatience()).Milliseconds())
		},
		"session lost": func(h *harness, q leaderAsked) {
			h.answer(q, &wire.ReplicaFetchResponse{Error: kafka.FetchSessionIDNotFound})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := followerHarness(t, 1)
			h.answer(h.leaders.next(h), &wire.ReplicaFetchResponse{SessionID: 9})
			lose(h, h.leaders.next(h))
			h.deliver()
			h.tick(linkPause.Milliseconds())
			h.deliver()
			q := h.leaders.next(h)
			require.Equal(t, initialSessionEpoch, q.SessionEpoch)
			require.Len(t, q.named(), 1)
			require.Empty(t, h.leaders.asked)
		})
	}
}

// A dead leader is dialled at most every 400 ms, and soon enough after it is back.
func TestLeaderThatIsAwayIsDialledWithPauses(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.controller.addBroker(2, "b2")
	h.controller.place("orders", 0, 2, 2, 1)
	h.update()
	for range 100 {
		h.tick(50)
		h.deliver()
	}
	require.InDelta(t, 5000/400, len(h.leaders.dials), 4)
	h.leaders.listen("b2:9092")
	h.tick(mostLinkPause.Milliseconds())
	h.deliver()
	require.NotEmpty(t, h.leaders.asked)
}

// The next fetch waits for records that are being written, but not for ever.
func TestStragglerIsForgotten(t *testing.T) {
	h := followerHarness(t, 2)
	q := h.leaders.next(h)
	h.turn(env.Event{Kind: env.EventResponse, Conn: q.conn, Slot: q.slot, Res: &wire.ReplicaFetchResponse{
		SessionID: 9, Partitions: []wire.ReplicaFetched{h.fetched(0, 1, 0, "a"), h.fetched(1, 0, 0)},
	}})
	require.Empty(t, h.leaders.asked)
	h.tick(stragglerPause.Milliseconds())
	q = h.leaders.next(h)
	require.Empty(t, q.named())
	require.Equal(t, []kafka.PartitionID{0}, q.forgets())
	h.deliver() // the write is done
	require.EqualValues(t, 1, h.leaders.next(h).named()[0].FetchOffset)
}

func TestWhoStopsFollowsNobody(t *testing.T) {
	h := followerHarness(t, 1)
	h.leaders.next(h)
	h.turn(env.Event{Kind: env.EventConfig, Res: Shutdown{}})
	h.deliver()
	require.True(t, h.broker.Stopped())
	require.Empty(t, h.leaders.asked)
	require.Empty(t, h.broker.fetchers.byLeader)
	require.Len(t, h.broker.links.byConn, 1, "the controller's")
}
