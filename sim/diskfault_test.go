package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

// onNth injects a fault into the n-th call of a kind on a path.
func onNth(path string, kind DiskOpKind, n int, fault DiskFault) DiskRules {
	return DiskRules{{Path: path, Kind: kind, Ordinal: n, Fault: fault}}
}

func TestFailedSyncLosesPagesThatStayReadableUntilEvicted(t *testing.T) {
	b := newBench(t, 3)
	b.disk.Plan = onNth("a", DiskSync, 2, DiskFault{Kind: DiskEIO})
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("o", "o", "o", "o"))
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, letters("n", "n", "n", "n"), 0)
		require.Equal(t, env.EIO, f.Sync())
		require.Equal(t, letters("n", "n", "n", "n"), b.bytes("a"), "still readable")
		require.Equal(t, env.OK, f.Sync(), "the next sync succeeds")
	})
	durable, _ := b.disk.DurableBytes(name("a"))
	require.Contains(t, string(durable), "o", "and proves nothing")
	require.Equal(t, "eio n1: sync 2 of a", b.faults.Faults()[0].String())
	require.Equal(t, 1, b.faults.Count("eio"))
	b.s.RunUntil(b.s.Now()+10*Second, nil)
	require.Equal(t, string(durable), b.bytes("a"), "once evicted, the loss is seen")
	b.losePower(KeepNothing{})
	require.Equal(t, string(durable), b.bytes("a"))
}

func TestPageWrittenAgainAfterAFailedSyncIsDirtyAgain(t *testing.T) {
	b := newBench(t, 3)
	b.disk.Plan = onNth("a", DiskSync, 1, DiskFault{Kind: DiskEIO})
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("1"))
		require.Equal(t, env.OK, d.SyncDir(name("")))
		require.Equal(t, env.EIO, f.Sync())
		write(t, f, "2", 0)
		require.Equal(t, env.OK, f.Sync())
	})
	b.losePower(KeepNothing{})
	require.Equal(t, "2"+letters("1")[1:], b.bytes("a"))
}

func TestFailedWriteStoresAPrefixAndFails(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Plan = onNth("a", DiskWrite, 2, DiskFault{Kind: DiskEIO, Bytes: 3})
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "")
		n, err := f.WriteAt([][]byte{[]byte("ab"), []byte("cdef")}, 0)
		require.Zero(t, n)
		require.Equal(t, env.EIO, err)
	})
	require.Equal(t, "abc", b.bytes("a"))
}

func TestShortWriteStoresAndReportsAPrefix(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Plan = onNth("a", DiskWrite, 2, DiskFault{Kind: DiskShort, Bytes: 3})
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "")
		n, err := f.WriteAt([][]byte{[]byte("ab"), []byte("cdef")}, 0)
		require.EqualValues(t, 3, n)
		require.Equal(t, env.OK, err)
	})
	require.Equal(t, "abc", b.bytes("a"))
}

func TestFullDiskStoresWhatFitsThenNothing(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Capacity = 3 * PageSize
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("x", "x"))
		n, err := f.WriteAt([][]byte{[]byte(letters("y", "y"))}, 2*PageSize)
		require.EqualValues(t, PageSize, n)
		require.Equal(t, env.OK, err, "a short write is no error, as Linux has it")
		n, err = f.WriteAt([][]byte{[]byte("z")}, 3*PageSize)
		require.Zero(t, n)
		require.Equal(t, env.ENOSPC, err)
		write(t, f, "inside", 5)
		require.Equal(t, env.OK, f.Truncate(PageSize))
		write(t, f, "fits", 2*PageSize)
	})
}

func TestPlannedFullDiskFailsCreatesAndWrites(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Plan = onNth("a", DiskCreate, 1, DiskFault{Kind: DiskFull})
	b.do(func(d env.Disk) {
		_, err := d.Open(name("a"), env.OpenCreate)
		require.Equal(t, env.ENOSPC, err)
		f := create(t, d, "a", "x")
		b.disk.Plan = onNth("a", DiskWrite, 2, DiskFault{Kind: DiskFull})
		n, err := f.WriteAt([][]byte{[]byte("y")}, 1)
		require.Zero(t, n)
		require.Equal(t, env.ENOSPC, err)
	})
	require.Equal(t, "x", b.bytes("a"))
}

func TestBitFlipStaysOnTheMedium(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "abc")
		f.Sync()
		d.SyncDir(name(""))
	})
	require.True(t, b.disk.Flip(name("a"), 1, 0))
	require.False(t, b.disk.Flip(name("a"), 3, 0))
	require.Equal(t, "acc", b.bytes("a"))
	b.losePower(KeepNothing{})
	require.Equal(t, "acc", b.bytes("a"))
	b.disk.Plan = onNth("a", DiskWrite, 2, DiskFault{Kind: DiskFlip, Bytes: 8})
	b.do(func(d env.Disk) {
		f, _ := d.Open(name("a"), env.OpenWrite)
		write(t, f, "abc", 0)
	})
	require.Equal(t, "acc", b.bytes("a"), "flipped by the write's own fault")
}

func TestLatentSectorErrorFailsReadsUntilRewritten(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("x"))
		require.True(t, b.disk.FailReads(name("a"), 1030))
		p := make([]byte, 512)
		_, err := f.ReadAt(p, 512)
		require.Equal(t, env.OK, err)
		_, err = f.ReadAt(p, 1000)
		require.Equal(t, env.EIO, err)
		_, err = f.ReadAt(p, 1536)
		require.Equal(t, env.OK, err)
		write(t, f, letters("y")[:511], 1024)
		_, err = f.ReadAt(p, 1024)
		require.Equal(t, env.EIO, err, "half a sector does not heal it")
		write(t, f, letters("y")[:512], 1024)
		_, err = f.ReadAt(p, 1024)
		require.Equal(t, env.OK, err)
	})
}

func TestMisdirectedWriteLandsElsewhere(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Plan = onNth("a", DiskWrite, 2, DiskFault{Kind: DiskMisdirect, Bytes: 4})
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "........")
		write(t, f, "xy", 1)
	})
	require.Equal(t, ".....xy.", b.bytes("a"))
}

func TestSlowDiskTakesItsTime(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Slow(Minute, 3*Second)
	b.do(func(d env.Disk) { create(t, d, "a", "x") })
	require.Greater(t, b.s.Now(), 6*Second)
	require.Equal(t, 1, b.faults.Count("slow disk"))
}

func TestPlanCanKillInTheMiddleOfACall(t *testing.T) {
	for _, kind := range []DiskFaultKind{DiskKillDuring, DiskPowerDuring} {
		b := newBench(t, 5)
		var struck Cause
		b.disk.Strike = func(c Cause) {
			struck = c
			require.Equal(t, 1, b.disk.InFlight(), "the call is in flight")
			b.s.Kill(b.owner, c)
		}
		b.disk.Plan = onNth("a", DiskSync, 2, DiskFault{Kind: kind})
		after := false
		b.do(func(d env.Disk) {
			f := create(t, d, "a", "x")
			f.Sync()
			f.Sync()
			after = true
		})
		require.False(t, after)
		require.Equal(t, kind == DiskPowerDuring, struck == PowerLost)
		require.Equal(t, kind.String()+" n1: sync 2 of a", b.faults.Faults()[0].String())
	}
}

func TestOrdinalsCountAcrossRestarts(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) { create(t, d, "a", "x").Sync() })
	b.kill()
	b.disk.Plan = onNth("a", DiskSync, 2, DiskFault{Kind: DiskEIO})
	b.do(func(d env.Disk) {
		f, _ := d.Open(name("a"), env.OpenWrite)
		require.Equal(t, env.EIO, f.Sync())
	})
	require.Equal(t, 2, b.disk.Calls(name("a"), DiskSync))
}

func TestReplacedDiskHasTheOldContent(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) { create(t, d, "a", "1") })
	old := b.disk.Clone(b.s, b.faults, NewEntropy(2).Stream("old", 1))
	b.do(func(d env.Disk) {
		f, _ := d.Open(name("a"), env.OpenWrite)
		write(t, f, "2", 0)
	})
	b.s.Kill(b.owner, Killed)
	b.disk.Replace(old)
	b.boot()
	require.Equal(t, "1", b.bytes("a"))
	b.do(func(d env.Disk) { create(t, d, "b", "works") })
}
