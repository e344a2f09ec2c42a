package linearizability_test

import (
	"fmt"
	"slices"
	"testing"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// story builds a small history by hand. All of it happens in one partition.
type story struct{ h lin.History }

var orders = lin.Partition{Topic: "orders"}

func value(client lin.ClientID, seq int64, invoke lin.Step) lin.Value {
	return lin.Value{Client: client, Seq: seq, Nonce: uint64(seq) + 1, Invoke: invoke}
}

// sends adds a send of one record by a client, a session of its own, and gives it back.
func (s *story) sends(
	client lin.ClientID, invoke, end lin.Step, attempts ...lin.Attempt,
) *lin.Send {
	s.h.Sends = append(s.h.Sends, lin.Send{
		Client: client, Partition: orders, Session: int32(len(s.h.Sends)), Acks: -1,
		Idempotent: true, Invoke: invoke, Return: end,
		Records:  []lin.Value{value(client, int64(len(s.h.Sends)), invoke)},
		Attempts: attempts,
	})
	return &s.h.Sends[len(s.h.Sends)-1]
}

func okAt(base kafka.Offset) lin.Attempt {
	return lin.Attempt{Ending: lin.Answered, BaseOffset: base}
}

func refused(code kafka.ErrorCode) lin.Attempt {
	return lin.Attempt{Ending: lin.Answered, Code: code, BaseOffset: kafka.NoOffset}
}

var lost = lin.Attempt{Ending: lin.Lost, BaseOffset: kafka.NoOffset}

func at(offset kafka.Offset, v lin.Value) lin.Observed {
	return lin.Observed{Offset: offset, Value: v, Timestamp: 1_000 + int64(offset)}
}

// polls adds a poll by a consumer of its own.
func (s *story) polls(invoke, end lin.Step, high kafka.Offset, records ...lin.Observed) *lin.Poll {
	position := kafka.Offset(0)
	if len(records) > 0 {
		position = records[0].Offset
	}
	s.h.Polls = append(s.h.Polls, lin.Poll{
		Client: lin.ClientID(100 + len(s.h.Polls)), Partition: orders, Position: position,
		Invoke: invoke, Return: end, HighWatermark: high, LastStableOffset: high, Records: records,
	})
	return &s.h.Polls[len(s.h.Polls)-1]
}

// ends adds the final read and the dump of the leader.
func (s *story) ends(start, end kafka.Offset, records ...lin.Observed) {
	s.polls(900, 910, end, records...)
	poll := &s.h.Polls[len(s.h.Polls)-1]
	poll.Final, poll.Position, poll.LogStart = true, start, start
	s.h.Dumps = append(s.h.Dumps, lin.Dump{
		Partition: orders, Replica: 1, Step: 920, Leader: true,
		LogStart: start, HighWatermark: end, LogEnd: end, Records: records,
	})
}

func (s *story) excuses(step lin.Step, from kafka.Offset) {
	s.h.Excuses = append(s.h.Excuses, lin.Excuse{
		Partition: orders, Step: step, From: from,
		To: kafka.NoOffset, Reason: "power loss",
	})
}

// lists adds a query by time.
func (s *story) lists(invoke, end lin.Step, timestamp int64, offset kafka.Offset, stamp int64) {
	s.h.Lists = append(s.h.Lists, lin.ListOffsets{
		Client: 50, Partition: orders, Invoke: invoke,
		Return: end, Timestamp: timestamp, Offset: offset, AnswerStamp: stamp,
	})
}

func (s *story) wantLegal(t *testing.T) lin.Verdict {
	t.Helper()
	verdict := lin.Judge(&s.h, lin.Options{})
	if !verdict.OK() {
		t.Fatalf("a legal history is rejected:\n%s", verdict.Evidence())
	}
	return verdict
}

func (s *story) wantBroken(t *testing.T, ids ...lin.ID) {
	t.Helper()
	verdict := lin.Judge(&s.h, lin.Options{})
	for _, id := range ids {
		if !slices.Contains(verdict.Failed, id) {
			t.Fatalf("%s holds, failed are %v", id, verdict.Failed)
		}
	}
	if verdict.First != verdict.Failed[0] || len(verdict.Evidence()) == 0 {
		t.Fatal("the verdict does not name the first check, or has no evidence")
	}
}

// Trap 1: a fetch may be stale, so the end of the log may go back between two of them.
func TestStaleReadIsLegal(t *testing.T) {
	var s story
	a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 40, okAt(1)).Records[0]
	s.polls(50, 60, 2, at(0, a), at(1, b))
	s.polls(70, 80, 1, at(0, a))
	s.ends(0, 2, at(0, a), at(1, b))
	s.wantLegal(t)
}

// Trap 1: ListOffsets latest is protected, unless a deposed leader answers.
func TestStaleListingIsLegalOnlyForADeposedLeader(t *testing.T) {
	build := func(deposed bool) *story {
		s := &story{}
		a := s.sends(1, 10, 20, okAt(0)).Records[0]
		s.lists(30, 40, kafka.LatestTimestamp, 0, kafka.NoTimestamp)
		s.h.Lists[0].Deposed = deposed
		s.ends(0, 1, at(0, a))
		return s
	}
	build(true).wantLegal(t)
	build(false).wantBroken(t, lin.OffsetListing, lin.OffsetGuided)
}

// Trap 2: a follower's log may diverge above its own high watermark, never below it.
func TestFollowerMayDivergeAboveItsHighWatermark(t *testing.T) {
	build := func(high kafka.Offset) *story {
		s := &story{}
		a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(2, 30, 40, okAt(1)).Records[0]
		tail := s.sends(3, 30, 60, lost).Records[0]
		s.ends(0, 2, at(0, a), at(1, b))
		s.h.Dumps = append(s.h.Dumps, lin.Dump{
			Partition: orders, Replica: 2, Step: 930,
			HighWatermark: high, LogEnd: 2, Records: []lin.Observed{at(0, a), at(1, tail)},
		})
		return s
	}
	build(1).wantLegal(t)
	build(2).wantBroken(t, lin.InconsistentOffset)
}

// Trap 4: offsets that hold no data are not skipped, and unknown outcomes may show up later.
func TestGapsAndLateUnknownOutcomesAreLegal(t *testing.T) {
	var s story
	a := s.sends(1, 10, 20, okAt(0)).Records[0]
	late := s.sends(2, 12, 25, lost).Records[0]
	b := s.sends(1, 30, 40, okAt(2)).Records[0]
	s.polls(50, 60, 3, at(0, a), at(2, b))
	s.polls(70, 80, 6, at(0, a), at(2, b), at(5, late))
	s.ends(0, 6, at(0, a), at(2, b), at(5, late))
	s.wantLegal(t)
}

// Trap 5: a new assignment may go back; without one it may not.
func TestGoingBackNeedsANewAssignment(t *testing.T) {
	build := func(assignment int32) *story {
		s := &story{}
		a := s.sends(1, 10, 20, okAt(0)).Records[0]
		s.polls(30, 40, 1, at(0, a)).Client = 7
		again := s.polls(50, 60, 1, at(0, a))
		again.Client, again.Assignment = 7, assignment
		s.ends(0, 1, at(0, a))
		return s
	}
	build(1).wantLegal(t)
	build(0).wantBroken(t, lin.PollOrder)
}

// Trap 7: what is below the log start is exempt only as far as somebody deleted it.
func TestDeletionExemptsUpToTheGhostsLogStart(t *testing.T) {
	build := func(ghost kafka.Offset) *story {
		s := &story{}
		s.sends(1, 10, 20, okAt(0))
		s.sends(1, 30, 40, okAt(1))
		c := s.sends(1, 50, 60, okAt(2)).Records[0]
		s.h.Deletions = []lin.Deletion{{Partition: orders, Step: 70, LogStart: ghost}}
		s.ends(2, 3, at(2, c))
		return s
	}
	build(2).wantLegal(t)
	build(1).wantBroken(t, lin.LostWrite, lin.Unseen)
}

// Trap 8: copies by a client that retries without idempotence are legal, others are not.
func TestCopiesNeedARetryWithoutIdempotence(t *testing.T) {
	build := func(idempotent bool) *story {
		s := &story{}
		send := s.sends(1, 10, 40, lost, okAt(1))
		send.Idempotent = idempotent
		a := send.Records[0]
		s.ends(0, 2, at(0, a), at(1, a))
		return s
	}
	build(false).wantLegal(t)
	build(true).wantBroken(t, lin.Duplicate)
}

// Trap 10: excused records are counted, by reason, and every other loss is still a loss.
func TestLossIsCountedWhenExcused(t *testing.T) {
	build := func(from kafka.Offset, step lin.Step) *story {
		s := &story{}
		a := s.sends(1, 10, 20, okAt(0)).Records[0]
		s.sends(1, 30, 40, okAt(1))
		s.excuses(step, from)
		b := s.sends(2, 60, 70, okAt(1)).Records[0]
		s.ends(0, 2, at(0, a), at(1, b))
		return s
	}
	verdict := build(1, 50).wantLegal(t)
	if verdict.Acknowledged != 3 || verdict.ExcusedCount != 1 ||
		!slices.Equal(verdict.Excused, []lin.Counter{{Name: "power loss", Count: 1}}) {
		t.Fatalf("acknowledged %d, excused %v", verdict.Acknowledged, verdict.Excused)
	}
	build(2, 50).wantBroken(t, lin.LostWrite, lin.InconsistentOffset)
	build(1, 25).wantBroken(t, lin.LostWrite) // a loss from before the record existed
}

// An excuse begins the next life of an offset; within one life it still holds one value.
func TestExcuseDoesNotExemptFromConsistency(t *testing.T) {
	var s story
	a := s.sends(1, 10, 20, okAt(0)).Records[0]
	s.excuses(30, 0)
	b, c := s.sends(2, 40, 50, okAt(0)).Records[0], s.sends(3, 42, 52, lost).Records[0]
	s.polls(22, 25, 1, at(0, a))
	s.polls(60, 65, 1, at(0, b))
	s.ends(0, 1, at(0, b))
	s.wantLegal(t)

	s.polls(70, 75, 1, at(0, c))
	s.wantBroken(t, lin.InconsistentOffset, lin.StaleAcknowledgement)
}

// With several replicas an acks=1 answer may be truncated; with one it binds.
func TestWeakAcknowledgementBindsOnOneReplicaOnly(t *testing.T) {
	build := func(replicas int) *story {
		s := &story{}
		s.h.Partitions = []lin.PartitionInfo{{Partition: orders, Replicas: replicas}}
		s.sends(1, 10, 20, okAt(0)).Acks = 1
		b := s.sends(2, 30, 40, okAt(0)).Records[0]
		s.ends(0, 1, at(0, b))
		return s
	}
	build(3).wantLegal(t)
	build(1).wantBroken(t, lin.InconsistentOffset)
}

// Read-committed polls leave aborted records out; read-uncommitted ones do not.
func TestReadCommittedMayPassOverTransactionalRecords(t *testing.T) {
	build := func(isolation lin.Isolation) *story {
		s := &story{}
		a, middle := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(2, 10, 20, okAt(1))
		middle.Transactional = true
		inTxn := middle.Records[0]
		c := s.sends(1, 30, 40, okAt(2)).Records[0]
		s.polls(50, 60, 3, at(0, a), at(2, c)).Isolation = isolation
		s.ends(0, 3, at(0, a), at(1, inTxn), at(2, c))
		return s
	}
	build(lin.ReadCommitted).wantLegal(t)
	build(lin.ReadUncommitted).wantBroken(t, lin.PollOrder)
}

// The first batch may begin below the position that was asked for; it must not end there.
func TestFirstBatchMayBeginBelowThePosition(t *testing.T) {
	build := func(last kafka.Offset) *story {
		s := &story{}
		a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 40, okAt(1)).Records[0]
		poll := s.polls(50, 60, 2, at(1, b))
		poll.Batches = []lin.Batch{{Base: 0, Last: last, Count: 1}, {Base: 1, Last: 1, Count: 1}}
		if last == 1 {
			poll.Batches = []lin.Batch{{Base: 0, Last: 1, Count: 2}}
		}
		s.ends(0, 2, at(0, a), at(1, b))
		return s
	}
	build(1).wantLegal(t)
	build(0).wantBroken(t, lin.FetchForm)
}

// Timestamps need not grow with offsets: the first that is new enough is the answer.
func TestListingByTimeTakesTheFirstNewEnough(t *testing.T) {
	build := func(timestamp int64, offset kafka.Offset, stamp int64) *story {
		s := &story{}
		var records []lin.Observed
		for i, ms := range []int64{500, 900, 700, 900} {
			send := s.sends(1, lin.Step(10+20*i), lin.Step(20+20*i), okAt(kafka.Offset(i)))
			records = append(records, lin.Observed{
				Offset: kafka.Offset(i), Timestamp: ms,
				Value: send.Records[0],
			})
		}
		s.lists(200, 210, timestamp, offset, stamp)
		s.ends(0, 4, records...)
		return s
	}
	build(600, 1, 900).wantLegal(t)
	build(901, -1, -1).wantLegal(t)
	build(kafka.MaxTimestamp, 1, 900).wantLegal(t)
	for _, wrong := range []*story{
		build(600, 2, 700),                // not the first
		build(600, 0, 500),                // too old
		build(600, 1, 700),                // another record's timestamp
		build(600, -1, -1),                // there is one
		build(kafka.MaxTimestamp, 2, 700), // not the largest
		build(kafka.MaxTimestamp, 0, 500),
		build(kafka.MaxTimestamp, -1, -1),
	} {
		wrong.wantBroken(t, lin.OffsetListing)
	}
}

// A log start that goes back undoes a deletion.
func TestEarliestNeverFalls(t *testing.T) {
	var s story
	a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 40, okAt(1)).Records[0]
	s.h.Deletions = []lin.Deletion{{Partition: orders, Step: 50, LogStart: 1}}
	s.lists(60, 70, kafka.EarliestTimestamp, 1, kafka.NoTimestamp)
	s.ends(0, 2, at(0, a), at(1, b))
	s.wantLegal(t)
	s.lists(80, 90, kafka.EarliestTimestamp, 0, kafka.NoTimestamp)
	s.wantBroken(t, lin.OffsetListing)
}

// A smaller high watermark than the true one is legal, a larger one is not.
func TestHighWatermarkMayLagBehindTheTrueOne(t *testing.T) {
	for high, legal := range map[kafka.Offset]bool{0: true, 1: true, 2: false} {
		t.Run(fmt.Sprint(high), func(t *testing.T) {
			var s story
			a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 90, okAt(1)).Records[0]
			s.polls(50, 60, high).Ghost = &lin.Ghost{HighWatermark: 1, LastStableOffset: 1}
			s.ends(0, 2, at(0, a), at(1, b))
			if legal {
				s.wantLegal(t)
			} else {
				s.wantBroken(t, lin.UncommittedRead)
			}
		})
	}
}

// The topic id is part of the partition: a record of the topic's former life is garbage in the new
// one.
func TestRecordOfADeletedTopicIsGarbageInTheNextOne(t *testing.T) {
	var s story
	a := s.sends(1, 10, 20, okAt(0)).Records[0]
	s.ends(0, 1, at(0, a))
	s.wantLegal(t)
	reborn := orders
	reborn.ID[0] = 1
	s.h.Dumps = append(s.h.Dumps, lin.Dump{
		Partition: reborn, Step: 930, Leader: true,
		HighWatermark: 1, LogEnd: 1, Records: []lin.Observed{at(0, a)},
	})
	s.wantBroken(t, lin.GarbageRead)
}

// Without a dump the final polls are the final log, as for a live cluster.
func TestFinalPollsStandInForADump(t *testing.T) {
	var s story
	a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 40, okAt(1)).Records[0]
	s.ends(0, 2, at(0, a), at(1, b))
	s.h.Dumps = nil
	s.wantLegal(t)
	s.h.Polls[0].Records = s.h.Polls[0].Records[:1]
	s.wantBroken(t, lin.LostWrite, lin.Unseen)
}

// A partition that must not serve is not seen; its files still have to hold what stands.
func TestRefusedPartitionIsUnseenNotLost(t *testing.T) {
	build := func(refused bool, records ...lin.Observed) *story {
		s := &story{}
		s.h.Partitions = []lin.PartitionInfo{{Partition: orders, Refused: refused}}
		a, b := s.sends(1, 10, 20, okAt(0)).Records[0], s.sends(1, 30, 40, okAt(1)).Records[0]
		s.h.Excuses = []lin.Excuse{{Partition: orders, Step: 50, From: 1, To: 2, Reason: "bit flip"}}
		s.ends(0, 2, at(0, a), at(1, b))
		s.h.Polls[0].Code, s.h.Polls[0].Records = kafka.KafkaStorageError, nil
		s.h.Dumps[0].Records = records
		return s
	}
	first := at(0, value(1, 0, 10))
	build(true, first).wantLegal(t)
	build(false, first).wantBroken(t, lin.Unseen)
	build(true).wantBroken(t, lin.LostWrite)
}
