package commitlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

func (h *harness) resetJob(start kafka.Offset) *ResetJob {
	return &ResetJob{Path: h.path(), TopicID: testTopicID, Config: h.config, Start: start}
}

// letGo returns a harness whose log of several segments has been let go.
func letGo(t *testing.T, seed uint64) *harness {
	h := newHarness(t, seed, tinyConfig())
	h.create()
	h.open()
	for i := range 20 {
		h.mustAppend(plain(1+i%3, int64(i), values(60)))
		h.settle()
	}
	require.Greater(t, h.log.Segments(), 3)
	h.point = h.log.RecoveryPoint()
	h.log.Stop()
	h.log.Abandon(&h.out)
	h.settle()
	return h
}

func TestAResetLeavesNothingButAnEmptyLogAtItsStart(t *testing.T) {
	h := letGo(t, 1)
	r := h.resetJob(500).Run(h.world.Disk).(*Recovered)
	require.NoError(t, r.Err)
	require.Equal(t, DerivedState{
		LogStart: 500, End: 500, Epochs: []EpochEntry{}, Producers: []ProducerEntry{},
		Segments:     []SegmentState{{500, 500, 0}},
		MaxTimestamp: TimeEntry{kafka.NoTimestamp, 500},
	}, normal(r.DerivedState()))
	require.ElementsMatch(t, []string{
		name(500, logSuffix), name(500, indexSuffix), name(500, timeIndexSuffix),
		epochCheckpointName, PartitionMetadataName,
	}, h.world.Disk.Names(testDir))

	h.log = Open(h.handles, testDir, h.config, r, &h.out)
	h.settle()
	data := plain(2, 1, "x").build()
	record.Stamp(data, env.Patch{Stamp: true, BaseOffset: 500, LeaderEpoch: 9})
	facts := examine(data)
	a, code := h.log.AppendReplica(h.now, &facts, bufOf(data), &h.out)
	require.Equal(t, kafka.None, code)
	require.EqualValues(t, 500, a.BaseOffset)
	h.settle()
	require.EqualValues(t, 502, h.log.Written())
}

// normal makes empty lists comparable.
func normal(d DerivedState) DerivedState {
	d.Epochs = append([]EpochEntry{}, d.Epochs...)
	return d
}

// A reset that was cut off leaves a log that recovery opens: a prefix of the old one, or an empty
// one. The next attempt does it whole.
func TestAResetMayBeCutOffAtAnyOperation(t *testing.T) {
	finished := false
	for fuse := 0; !finished; fuse++ {
		for _, power := range []bool{false, true} {
			h := letGo(t, uint64(fuse))
			h.world.Disk.Fuse = fuse
			finished = logtest.Attempt(func() { h.resetJob(500).Run(h.world.Disk) })
			h.crash(power)
			r := h.recover()
			require.NoError(t, r.Err, "fuse %d", fuse)
			require.True(t, r.Usable(), "fuse %d", fuse)
			if end := r.End; end != 0 && end != 500 {
				h.countBelow(end)
			}
			r = h.resetJob(500).Run(h.world.Disk).(*Recovered)
			require.NoError(t, r.Err)
			require.EqualValues(t, 500, r.End)
		}
		require.Less(t, fuse, 1000)
	}
}

func TestATruncationOfWhatWasServedLeavesTheOldFileAsItIs(t *testing.T) {
	for _, replace := range []bool{true, false} {
		h := newHarness(t, 1, DefaultConfig())
		h.create()
		h.open()
		for i := range 6 {
			h.mustAppend(plain(1, int64(i), values(50)))
			h.settle()
		}
		h.log.Stop()
		h.log.Abandon(&h.out)
		h.settle()
		old, errno := h.world.Disk.Open(child(h.path(), name(0, logSuffix)), env.OpenRead)
		require.Equal(t, env.OK, errno)
		before, _ := old.Size()

		job := h.recoverJob()
		job.TruncateTo, job.Replace = 3, replace
		r := job.Run(h.world.Disk).(*Recovered)
		require.NoError(t, r.Err)
		require.EqualValues(t, 3, r.End)
		after, _ := old.Size()
		require.Equal(t, replace, before == after)
		require.Equal(t, r.segments[0].bytes, int64(len(h.file(name(0, logSuffix)))))
		h.world.Disk.LosePower()
		require.EqualValues(t, 3, h.recover().End, "the cut is durable")
	}
}

func TestEpochsWithoutRecordsAreCutWithNothingToTruncate(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(plain(3, 1, "x"))
	h.settle()
	h.log.AssignEpoch(7)
	h.log.AssignEpoch(9)
	require.EqualValues(t, 9, h.log.LatestEpoch())
	h.log.CutEpochs(3)
	require.EqualValues(t, 1, h.log.LatestEpoch())
}

// The leader accepted it under a larger segment.bytes.
func TestAReplicaTakesABatchLargerThanASegment(t *testing.T) {
	h := started(t, tinyConfig())
	h.mustAppend(plain(1, 1, "x"))
	data := plain(1, 2, values(700)).build()
	record.Stamp(data, env.Patch{Stamp: true, BaseOffset: 1, LeaderEpoch: 1})
	facts := examine(data)
	require.Greater(t, facts.SizeBytes, h.config.SegmentBytes)
	_, code := h.log.AppendReplica(h.now, &facts, bufOf(data), &h.out)
	require.Equal(t, kafka.None, code)
	h.settle()
	require.EqualValues(t, 2, h.log.Written())
	require.Equal(t, 2, h.log.Segments())
}

func TestAShorterFlushIntervalSyncsWhatIsWritten(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(plain(1, 1, "x"))
	h.settle()
	require.EqualValues(t, 0, h.log.Synced())
	flush := *h.config
	flush.FlushMessages = 1
	h.log.SetConfig(&flush, &h.out)
	h.settle()
	require.EqualValues(t, 1, h.log.AckEnd())
}

func TestALogThatIsStoppedIsSuspectOnlyIfSomethingFails(t *testing.T) {
	for _, fails := range []bool{false, true} {
		h := started(t, DefaultConfig())
		h.mustAppend(plain(1, 1, "x"))
		h.log.Stop()
		h.world.Disk.Fail = func(op, _ string) env.Errno {
			if fails && op == "write" {
				return env.EIO
			}
			return env.OK
		}
		_, code := h.log.Append(h.now, new(record.Facts), env.BufRef{}, 1, &h.out)
		require.Equal(t, kafka.KafkaStorageError, code)
		h.settle()
		require.True(t, h.log.Quiescent())
		require.Equal(t, fails, h.log.FenceReason() != env.OK)
	}
}
