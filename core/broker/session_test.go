package broker

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

func TestIncrementalFetchOverAThousandIdlePartitionsIsSmall(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("wide", 1000)
	ids := make([]int32, 1000)
	for i := range ids {
		ids[i] = int32(i)
	}
	open := h.fetchRequest("wide", 0, ids...)
	open.SessionEpoch, open.MaxWaitMillis = 0, 0
	h.ask(1, open)
	first := h.one().(*kmsg.FetchResponse)
	require.Len(t, first.Topics[0].Partitions, 1000)

	next := h.fetchRequest("wide", 0)
	next.SessionID, next.SessionEpoch, next.MaxWaitMillis = first.SessionID, 1, 0
	h.ask(1, next)
	replies := h.take()
	require.Len(t, replies, 1)
	require.Less(t, replies[0].bytes, 300)
	require.Zero(t, h.broker.sessions.byID[first.SessionID].queued, "an idle session costs nothing")

	// One partition of a thousand has data: one is looked at, one is named.
	next.SessionEpoch, next.MaxWaitMillis = 2, 500
	h.ask(1, next)
	h.ask(2, h.produceRequest("wide", 500, -1, batch(record.Plain(), h.now.WallMs, "a")))
	h.deliver()
	replies = h.take()
	require.Len(t, replies, 2)
	require.Less(t, replies[1].bytes, 200)
	answer := replies[1].response.(*kmsg.FetchResponse)
	require.Len(t, answer.Topics, 1)
	require.Len(t, answer.Topics[0].Partitions, 1)
	require.EqualValues(t, 500, answer.Topics[0].Partitions[0].Partition)
}

// modelPartition is what a client knows of a partition it fetches, and what is true.
type modelPartition struct {
	offset, highWatermark, told int64
}

// TestSessionSaysWhatAFullFetchWould drives an incremental session with random appends, offsets
// and forgotten partitions, and checks that what the client has put together from the increments
// is what the log says.
func TestSessionSaysWhatAFullFetchWould(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHarness(t, nil)
		const partitions = 4
		h.createTopic("orders", partitions)
		model := map[int32]*modelPartition{}
		ends := make([]int64, partitions)
		session, epoch := int32(0), int32(0)
		full := true
		for range rapid.IntRange(1, 25).Draw(rt, "rounds") {
			if rapid.Bool().Draw(rt, "append") {
				id := rapid.Int32Range(0, partitions-1).Draw(rt, "to")
				require.Zero(rt, h.produce(2, "orders", id, "v").ErrorCode)
				ends[id]++
			}
			m := h.fetchRequest("orders", 0)
			m.SessionID, m.SessionEpoch, m.MaxWaitMillis = session, epoch, 0
			m.MaxBytes = rapid.SampledFrom([]int32{1, 100, 1 << 20}).Draw(rt, "max")
			named := map[int32]bool{}
			for id := range int32(partitions) {
				switch p := model[id]; {
				case p == nil && rapid.Bool().Draw(rt, "add"):
					model[id] = &modelPartition{told: -1}
				case p != nil && p.offset != p.told:
				case p != nil && !full && rapid.IntRange(0, 9).Draw(rt, "forget") == 0:
					f := kmsg.NewFetchRequestForgottenTopic()
					f.TopicID = h.controller.image.Topic("orders").ID
					f.Partitions = []int32{id}
					m.ForgottenTopics = append(m.ForgottenTopics, f)
					delete(model, id)
					continue
				case p == nil || !full:
					continue
				}
				p := model[id]
				p.told = p.offset
				m.Topics = append(m.Topics, h.fetchRequest("orders", p.offset, id).Topics...)
				named[id] = true
			}
			h.ask(1, m)
			answer := h.one().(*kmsg.FetchResponse)
			require.Zero(rt, answer.ErrorCode)
			h.sent()
			for i := range answer.Topics {
				for j := range answer.Topics[i].Partitions {
					a := &answer.Topics[i].Partitions[j]
					p := model[a.Partition]
					require.NotNil(rt, p, "a forgotten partition is not heard of")
					f := readFetched(a)
					require.Equal(rt, kafka.None, f.code)
					p.highWatermark = f.highWatermark
					if len(f.values) > 0 {
						require.Equal(rt, p.offset, f.base)
						p.offset += int64(len(f.values))
					}
					delete(named, a.Partition)
				}
			}
			if full {
				require.Empty(rt, named, "a full answer names every partition")
			}
			session, full = answer.SessionID, false
			epoch = nextSessionEpoch(epoch)
			if epoch == 1 && len(model) == 0 {
				session, epoch, full = 0, 0, true
			}
		}
		h.drain(rt, model, ends, session, epoch)
	})
}

// drain fetches until nothing is new and compares.
func (h *harness) drain(rt *rapid.T, model map[int32]*modelPartition, ends []int64,
	session, epoch int32,
) {
	for range 60 {
		m := h.fetchRequest("orders", 0)
		m.SessionID, m.SessionEpoch, m.MaxWaitMillis, m.MaxBytes = session, epoch, 0, 1
		for id := range int32(len(ends)) {
			if p := model[id]; p != nil && (p.offset != p.told || session == 0) {
				p.told = p.offset
				m.Topics = append(m.Topics, h.fetchRequest("orders", p.offset, id).Topics...)
			}
		}
		h.ask(1, m)
		answer := h.one().(*kmsg.FetchResponse)
		require.Zero(rt, answer.ErrorCode)
		h.sent()
		session, epoch = answer.SessionID, nextSessionEpoch(epoch)
		if session == 0 {
			epoch = 0
		}
		for i := range answer.Topics {
			for j := range answer.Topics[i].Partitions {
				a := &answer.Topics[i].Partitions[j]
				f := readFetched(a)
				model[a.Partition].highWatermark = f.highWatermark
				model[a.Partition].offset += int64(len(f.values))
			}
		}
	}
	for id, p := range model {
		require.Equal(rt, ends[id], p.offset, "everything was read")
		require.Equal(rt, ends[id], p.highWatermark)
	}
}

func TestSessionsAreEvictedByWorth(t *testing.T) {
	c := newSessionCache(2, rand.New(rand.NewPCG(1, 1)))
	open := func(now env.Mono, size int, privileged bool) *fetchSession {
		s, code := c.begin(now, sessionRequest{partitions: size, privileged: privileged})
		require.Equal(t, kafka.None, code)
		for i := range size {
			s.put(fetchKey{name: "t", partition: kafka.PartitionID(i)}, fetchWant{})
		}
		return s
	}
	small, large := open(0, 1, false), open(0, 5, false)
	require.Equal(t, noSession, open(1, 9, false).id, "young sessions are not evicted by a consumer")

	follower := open(1, 1, true)
	require.NotEqual(t, noSession, follower.id, "a follower evicts the smaller consumer")
	require.Equal(t, noSession, small.id)
	require.NotEqual(t, noSession, large.id)

	later := env.Mono(0).Add(3 * time.Minute)
	s, _ := c.begin(later, sessionRequest{id: follower.id, epoch: 1, privileged: true})
	require.Equal(t, follower, s)
	require.NotEqual(t, noSession, open(later, 1, false).id, "a stale session makes room")
	require.Equal(t, noSession, large.id)
}

func TestSessionEpochWraps(t *testing.T) {
	require.EqualValues(t, 1, nextSessionEpoch(1<<31-1))
	require.EqualValues(t, 8, nextSessionEpoch(7))
}

func TestSessionsDoNotMixNamesAndIDs(t *testing.T) {
	c := newSessionCache(2, rand.New(rand.NewPCG(1, 1)))
	s, _ := c.begin(0, sessionRequest{partitions: 1, usesIDs: true})
	_, code := c.begin(0, sessionRequest{id: s.id, epoch: 1})
	require.Equal(t, kafka.FetchSessionTopicIDError, code)
}

func TestLargePartitionDoesNotStarveOthers(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 3)
	for id := range int32(3) {
		for range 3 {
			h.produce(2, "orders", id, "v")
		}
	}
	m := h.fetchRequest("orders", 0, 0, 1, 2)
	m.SessionEpoch, m.MaxBytes, m.MaxWaitMillis = 0, 1, 0
	served := map[int32]int{}
	for epoch := int32(0); epoch < 6; epoch++ {
		m.SessionEpoch = epoch
		h.ask(1, m)
		answer := h.one().(*kmsg.FetchResponse)
		for i := range answer.Topics {
			for j := range answer.Topics[i].Partitions {
				a := &answer.Topics[i].Partitions[j]
				served[a.Partition] += len(readFetched(a).values)
			}
		}
		m = h.fetchRequest("orders", 0) // the client never moves on
		m.SessionID, m.MaxBytes = answer.SessionID, 1
	}
	require.Equal(t, map[int32]int{0: 2, 1: 2, 2: 2}, served)
}
