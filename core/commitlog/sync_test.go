package commitlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// complete performs the outstanding effects for which want holds, in the order they were emitted.
func (h *harness) complete(want func(op env.FileOp) bool) {
	h.held = append(h.held, h.out.File...)
	var rest []env.FileOp
	ops := h.held
	h.held = nil
	h.out.File = nil
	for _, op := range ops {
		if !want(op) {
			rest = append(rest, op)
			continue
		}
		h.done(op, env.OK)
	}
	h.held = append(rest, h.held...)
}

func (h *harness) done(op env.FileOp, err env.Errno) {
	ev := env.Event{
		Kind: env.EventFileDone, FileOp: op.Op, File: op.File, Token: op.Token,
		N: op.N, Err: err,
	}
	h.log.OnFileDone(&ev, &h.out)
}

func kind(k env.FileOpKind) func(env.FileOp) bool {
	return func(op env.FileOp) bool { return op.Op == k }
}

func fileOps(out *env.Effects, k env.FileOpKind) []env.FileOp {
	var found []env.FileOp
	for _, op := range out.File {
		if op.Op == k {
			found = append(found, op)
		}
	}
	return found
}

func TestProduceCostsOneWrite(t *testing.T) {
	h := started(t, DefaultConfig())
	for i := range 50 {
		h.out.Reset()
		h.mustAppend(plain(1, int64(i), values(200)))
		require.Len(t, h.out.File, 1)
	}
}

func TestSyncsAreGrouped(t *testing.T) {
	config := DefaultConfig()
	config.FlushMessages = 1
	h := started(t, config)
	for i := range 3 {
		h.mustAppend(plain(1, int64(i), "v"))
	}
	h.complete(kind(env.FileWrite))
	require.Equal(t, kafka.Offset(3), h.log.Written())
	require.Zero(t, h.log.Synced())
	require.Zero(t, h.log.AckEnd())
	syncs := fileOps(&h.out, env.FileSync)
	require.Len(t, syncs, 1, "one sync in flight")
	h.complete(kind(env.FileSync))
	require.Equal(t, kafka.Offset(1), h.log.Synced(), "it covers what was written when it was emitted")
	require.Len(t, fileOps(&h.out, env.FileSync), 1)
	h.complete(kind(env.FileSync))
	require.Equal(t, kafka.Offset(3), h.log.AckEnd(), "the next one covers the rest")
	h.out.Reset()
	h.settle()
}

func TestDefaultModeSyncsOnlySealedSegments(t *testing.T) {
	h := started(t, tinyConfig())
	for i := range 3 {
		h.mustAppend(plain(1, int64(i), "v"))
	}
	h.complete(kind(env.FileWrite))
	require.Empty(t, fileOps(&h.out, env.FileSync))
	require.Equal(t, h.log.Written(), h.log.AckEnd())
}

// rolledHarness has a segment of two batches and a batch in the next one.
func rolledHarness(t *testing.T) *harness {
	config := tinyConfig()
	config.FlushMessages = 1
	config.SegmentBytes = 200
	h := started(t, config)
	for h.log.Segments() == 1 {
		h.mustAppend(plain(1, 0, "v"))
	}
	return h
}

func TestSyncAcrossARollNeedsOldSegmentThenDirectory(t *testing.T) {
	h := rolledHarness(t)
	old, next := h.log.segments[0], h.log.segments[1]
	h.complete(kind(env.FileCreate))
	inNext := func(op env.FileOp) bool { return op.File == next.file && op.Op == env.FileWrite }
	h.complete(inNext)
	require.Zero(t, h.log.Written(), "a write that overtakes is not written")
	h.complete(kind(env.FileWrite))
	require.Equal(t, h.log.Assigned(), h.log.Written())

	syncOf := func(s *segment) func(env.FileOp) bool {
		return func(op env.FileOp) bool { return op.File == s.file && op.Op == env.FileSync }
	}
	h.complete(syncOf(next))
	require.Less(t, h.log.Synced(), old.end, "the new file's sync does not count alone")
	h.complete(func(op env.FileOp) bool { return op.Op == env.FileSyncDir })
	require.Empty(t, dirSyncs(h), "the directory is synced after the old segment")
	for range 3 {
		h.complete(syncOf(old))
	}
	require.Equal(t, next.base, h.log.Synced())
	require.Len(t, dirSyncs(h), 1)
	h.complete(kind(env.FileSyncDir))
	require.Equal(t, h.log.Assigned(), h.log.Synced())
	require.Zero(t, h.log.RecoveryPoint(), "the companions are not durable yet")
	for range 4 {
		h.complete(func(op env.FileOp) bool { return true })
	}
	require.Len(t, h.out.Jobs, 1)
	job := h.out.Jobs[0]
	require.Nil(t, job.Job.Run(h.world.Disk))
	h.log.OnJobDone(&env.Event{Kind: env.EventJobDone, Token: job.Token}, &h.out)
	require.Equal(t, next.base, h.log.RecoveryPoint())
	require.NotNil(t, h.file(name(next.base, snapshotSuffix)))
	require.NotNil(t, h.file(name(next.base, sequencesSuffix)))
}

func dirSyncs(h *harness) []env.FileOp {
	var found []env.FileOp
	for _, op := range append(h.held, h.out.File...) {
		if op.Op == env.FileSyncDir {
			found = append(found, op)
		}
	}
	return found
}

func TestFirstFailureFencesTheLog(t *testing.T) {
	kinds := []env.FileOpKind{env.FileWrite, env.FileSync, env.FileSyncDir, env.FileCreate}
	for _, failing := range kinds {
		h := rolledHarness(t)
		failed := false
		for range 12 {
			h.complete(func(op env.FileOp) bool {
				if op.Op == failing && !failed {
					failed = true
					return false
				}
				return !failed
			})
			if failed {
				break
			}
		}
		require.True(t, failed)
		written, synced := h.log.Written(), h.log.Synced()
		i := 0
		for h.held[i].Op != failing {
			i++
		}
		op := h.held[i]
		h.held = append(h.held[:i], h.held[i+1:]...)
		h.done(op, env.EIO)
		require.True(t, h.log.Fenced())
		require.Equal(t, env.EIO, h.log.FenceReason())
		_, code := h.log.Find(0, 100, true, 1)
		require.Equal(t, kafka.KafkaStorageError, code)
		_, code = h.append(plain(1, 0, "v"))
		require.Equal(t, kafka.KafkaStorageError, code)
		require.False(t, h.log.Quiescent() && len(h.held) > 0)
		for range 12 {
			h.complete(func(env.FileOp) bool { return true })
		}
		require.Equal(t, written, h.log.Written(), "completions behind the failure move nothing")
		require.Equal(t, synced, h.log.Synced())
		require.Equal(t, len(h.out.Jobs) == 0, h.log.Quiescent())
	}
}

func TestIndexFailureFencesButKeepsOffsets(t *testing.T) {
	if invariant.CanaryEndAfterIndex.On() {
		t.Skip("the canary is the opposite")
	}
	config := tinyConfig()
	config.IndexIntervalBytes = 0
	h := started(t, config)
	h.mustAppend(plain(1, 0, "v"))
	h.mustAppend(plain(1, 1, "v"))
	log := h.log.segments.active().file
	h.complete(func(op env.FileOp) bool { return op.File == log })
	require.Equal(t, kafka.Offset(2), h.log.Written())
	h.complete(kind(env.FileOpen))
	ops := fileOps(&h.out, env.FileWrite)
	ops = append(ops, h.held...)
	h.done(ops[len(ops)-1], env.EIO)
	require.True(t, h.log.Fenced())
	require.Equal(t, kafka.Offset(2), h.log.Assigned())
	require.Equal(t, kafka.Offset(2), h.log.Written())
}
