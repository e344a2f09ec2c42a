package commitlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
)

func TestSequentialReadersRarelyLocate(t *testing.T) {
	config := DefaultConfig()
	config.SegmentBytes = 1 << 20
	h := started(t, config)
	for i := range 5000 {
		h.mustAppend(plain(1, int64(i), values(200)))
		if i%100 == 0 {
			h.settle()
		}
	}
	h.settle()
	h.closeCleanly()
	h.open()
	locates, reads, offset := 0, 0, kafka.Offset(0)
	for offset < h.log.Written() {
		f, code := h.log.Find(offset, 100<<10, true, h.log.Written())
		require.Equal(t, kafka.None, code)
		if f.Locate {
			locates++
			h.log.Locate(offset, &h.out)
			h.settle()
			continue
		}
		require.Greater(t, f.Len, int64(0))
		require.Equal(t, offset, f.Start)
		reads++
		offset = f.End
	}
	require.LessOrEqual(t, locates, h.log.Segments())
	require.Less(t, reads, 40)
}

func TestReaderAtTheTailNeverLocates(t *testing.T) {
	h := started(t, DefaultConfig())
	offset := kafka.Offset(0)
	for i := range 400 {
		for range i % 300 {
			h.mustAppend(plain(1, int64(i), "v"))
		}
		h.settle()
		for offset < h.log.Written() {
			f, code := h.log.Find(offset, 1<<20, true, h.log.Written())
			require.Equal(t, kafka.None, code)
			require.False(t, f.Locate, "offset %d of %d", offset, h.log.Written())
			offset = f.End
		}
	}
}

func TestFindKeepsToItsBounds(t *testing.T) {
	h := started(t, DefaultConfig())
	for range 3 {
		h.mustAppend(plain(2, 0, values(100)))
	}
	h.settle()
	size := int64(len(h.accepted[0]))
	find := func(offset kafka.Offset, maxBytes int64, minOne bool,
		upTo kafka.Offset,
	) (int64, kafka.Offset) {
		f, code := h.log.Find(offset, maxBytes, minOne, upTo)
		require.Equal(t, kafka.None, code)
		require.False(t, f.Locate)
		return f.Len, f.End
	}
	check := func(wantLen int64, wantEnd kafka.Offset) func(int64, kafka.Offset) {
		return func(n int64, end kafka.Offset) {
			t.Helper()
			require.Equal(t, wantLen, n)
			require.Equal(t, wantEnd, end)
		}
	}
	check(3*size, 6)(find(0, 1<<20, false, 6))
	check(3*size, 6)(find(1, 1<<20, false, 100))
	check(2*size, 4)(find(0, 1<<20, false, 5)) // no half batch
	check(2*size, 4)(find(0, 3*size-1, false, 6))
	check(size, 2)(find(0, size-1, true, 6))
	check(0, 0)(find(0, size-1, false, 6))
	check(0, 6)(find(6, 100, true, 6))
	check(0, 5)(find(5, 100, true, 4))
	check(0, 1)(find(1, 1<<20, true, 1))
	for _, offset := range []kafka.Offset{-1, 7} {
		_, code := h.log.Find(offset, 100, true, 100)
		require.Equal(t, kafka.OffsetOutOfRange, code)
	}
}

func TestPendingBatchesAreNotFound(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(plain(1, 0, "v"))
	f, code := h.log.Find(0, 100, true, 100)
	require.Equal(t, kafka.None, code)
	require.Zero(t, f.Len)
	_, code = h.log.Find(1, 100, true, 100)
	require.Equal(t, kafka.OffsetOutOfRange, code)
}

func TestLeasedFilesStayOpen(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(plain(1, 0, "v"))
	h.settle()
	f, _ := h.log.Find(0, 1000, true, 1)
	h.handles.Lease(f.File)
	h.handles.Lease(f.File)
	h.log.Fence(env.EOther)
	h.log.Abandon(&h.out)
	require.Empty(t, fileOps(&h.out, env.FileClose))
	h.handles.Release(f.File, &h.out)
	require.Empty(t, fileOps(&h.out, env.FileClose))
	h.handles.Release(f.File, &h.out)
	closes := fileOps(&h.out, env.FileClose)
	require.Len(t, closes, 1)
	require.Equal(t, f.File, closes[0].File)
	require.Zero(t, h.handles.Leased())
	h.settle()
}

func TestALookUpThatFindsDamageFencesTheLog(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	h.open()
	first := h.segmentNames()[0]
	h.set(first, flipped(h.file(first), 16)) // magic
	h.log.Locate(1, &h.out)
	h.settle()
	require.True(t, h.log.Fenced())
	require.EqualValues(t, 1, h.log.Damage().Offset)
}

func TestALookUpThatCanNotReadIsTriedAgain(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	h.open()
	first := h.segmentNames()[0]
	content := h.file(first)
	h.world.Disk.Remove(env.Path{Name: testDir + "/" + first})
	h.log.Locate(1, &h.out)
	h.settle()
	require.False(t, h.log.Fenced(), "nothing was read that could be broken")
	f, _ := h.log.Find(1, 1000, true, 2)
	require.True(t, f.Locate)
	h.set(first, content)
	h.log.Locate(1, &h.out)
	h.settle()
	f, _ = h.log.Find(1, 1000, true, 2)
	require.False(t, f.Locate)
}
