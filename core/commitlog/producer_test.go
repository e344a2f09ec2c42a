package commitlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// from is a batch of producer 9.
func from(epoch kafka.ProducerEpoch, sequence kafka.Sequence, count int) batch {
	return batch{
		count: count, producer: 9, epoch: epoch, sequence: sequence, timestamp: 50,
		value: "v",
	}
}

func TestSequenceMustFollow(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(from(3, 70, 2)) // unknown producer: any sequence
	for _, pending := range []bool{true, false} {
		for _, wrong := range []batch{from(3, 74, 1), from(3, 71, 1), from(3, 0, 1), from(4, 1, 1)} {
			_, code := h.append(wrong)
			require.Equal(t, kafka.OutOfOrderSequenceNumber, code, "pending %v: %+v", pending, wrong)
		}
		_, code := h.append(from(2, 72, 1))
		require.Equal(t, kafka.InvalidProducerEpoch, code)
		h.settle()
	}
	h.mustAppend(from(3, 72, 1))
	h.mustAppend(from(4, 0, 1))
	_, code := h.append(from(3, 73, 1))
	require.Equal(t, kafka.InvalidProducerEpoch, code, "a pending epoch fences the one before")
}

func TestSequenceWraps(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(from(0, 1<<31-3, 2))
	h.mustAppend(from(0, 1<<31-1, 3)) // 2^31-1, 0, 1
	require.True(t, h.mustAppend(from(0, 1<<31-1, 3)).Duplicate)
	h.mustAppend(from(0, 2, 1))
	h.settle()
	require.True(t, h.mustAppend(from(0, 1<<31-1, 3)).Duplicate)
	h.mustAppend(from(0, 3, 1))
}

func TestLastFiveBatchesAreDuplicates(t *testing.T) {
	h := started(t, DefaultConfig())
	for i := range 7 {
		h.mustAppend(from(0, kafka.Sequence(2*i), 2))
		if i == 3 {
			h.settle() // the window spans confirmed and pending batches
		}
	}
	for i := 2; i < 7; i++ {
		a := h.mustAppend(from(0, kafka.Sequence(2*i), 2))
		require.Equal(t, Appended{
			BaseOffset: kafka.Offset(2 * i), LastOffset: kafka.Offset(2*i + 1),
			LogAppendTime: kafka.NoTimestamp, Duplicate: true, Pending: i > 3,
		}, a)
	}
	for _, old := range []batch{from(0, 2, 2), from(0, 10, 1), from(0, 11, 2)} {
		_, code := h.append(old)
		require.Equal(t, kafka.OutOfOrderSequenceNumber, code, "%+v", old)
	}
}

func TestIdleProducersExpire(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(from(0, 5, 1))
	h.now.WallMs = 50 + h.config.ProducerExpirationMs
	require.Zero(t, h.log.ExpireProducers(h.now), "a pending batch keeps its producer")
	h.settle()
	h.now.WallMs--
	require.Zero(t, h.log.ExpireProducers(h.now))
	h.now.WallMs++
	require.Equal(t, 1, h.log.ExpireProducers(h.now))
	h.mustAppend(from(0, 99, 1))
}

func TestReplicaAppendDoesNotJudgeSequences(t *testing.T) {
	h := started(t, DefaultConfig())
	for i, sequence := range []kafka.Sequence{5, 900, 3} {
		b := from(kafka.ProducerEpoch(i), sequence, 2)
		data := b.build()
		facts := examine(data)
		facts.BaseOffset, facts.LeaderEpoch = kafka.Offset(2*i), 8
		a, code := h.log.AppendReplica(h.now, &facts, bufOf(data), &h.out)
		require.Equal(t, kafka.None, code)
		require.Equal(t, kafka.Offset(2*i), a.BaseOffset)
	}
	facts := examine(from(2, 5, 1).build())
	_, code := h.log.AppendReplica(h.now, &facts, bufOf(nil), &h.out)
	require.Equal(t, kafka.OffsetOutOfRange, code, "an offset below the end is refused")
	require.Equal(t, kafka.LeaderEpoch(8), h.log.LatestEpoch())
}
