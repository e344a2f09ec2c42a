package sim

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

// bench is a disk with a process on it, for tests.
type bench struct {
	t      testing.TB
	s      *Scheduler
	faults *FaultLog
	disk   *Disk
	owner  Owner
	mount  env.Disk
}

func newBench(t testing.TB, seed uint64) *bench {
	s := newTestScheduler(t)
	faults := NewFaultLog(s.Trace())
	b := &bench{
		t: t, s: s, faults: faults,
		disk: NewDisk(s, faults, NewEntropy(seed).Stream("disk", 1), 1, 2),
	}
	p := DefaultDiskProfile()
	p.WriteBack = 0
	b.disk.SetProfile(p)
	b.boot()
	return b
}

func (b *bench) boot() {
	b.owner = b.s.NewOwner(1)
	b.mount = b.disk.Mount(b.owner)
}

// do runs f as a task of the process, to its end or its death.
func (b *bench) do(f func(d env.Disk)) {
	b.s.Spawn(0, b.owner, "test", func() { f(b.mount) })
	for b.s.TaskCount(b.owner) > 0 && b.s.Step() {
	}
}

func (b *bench) kill() { b.s.Kill(b.owner, Killed); b.boot() }

func (b *bench) losePower(f PowerFates) {
	b.s.Kill(b.owner, PowerLost)
	b.disk.PowerLoss(f)
	b.boot()
}

func name(n string) env.Path { return env.Path{Name: n} }

// create makes a file with content, without a sync, and returns it open.
func create(t testing.TB, d env.Disk, n, content string) env.File {
	f, err := d.Open(name(n), env.OpenCreate)
	require.Equal(t, env.OK, err)
	write(t, f, content, 0)
	return f
}

func write(t testing.TB, f env.File, content string, off int64) {
	n, err := f.WriteAt([][]byte{[]byte(content)}, off)
	require.Equal(t, env.OK, err)
	require.EqualValues(t, len(content), n)
}

func (b *bench) bytes(n string) string {
	content, ok := b.disk.Bytes(name(n))
	if !ok {
		return "no file"
	}
	return string(content)
}

func TestDiskReadsWhatWasWritten(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "")
		n, err := f.WriteAt([][]byte{[]byte("one "), nil, []byte("two")}, 4090)
		require.Equal(t, env.OK, err)
		require.EqualValues(t, 7, n)
		size, _ := f.Size()
		require.EqualValues(t, 4097, size)
		p := make([]byte, 20)
		m, err := f.ReadAt(p, 4085)
		require.Equal(t, env.OK, err)
		require.Equal(t, "\x00\x00\x00\x00\x00one two", string(p[:m]))
		m, err = f.ReadAt(p, 4097)
		require.Zero(t, m)
		require.Equal(t, env.OK, err)
		require.Equal(t, env.OK, f.Truncate(4091))
		require.Equal(t, env.OK, f.Truncate(4096))
		m, _ = f.ReadAt(p, 4090)
		require.Equal(t, "o\x00\x00\x00\x00\x00", string(p[:m]))
		require.Equal(t, env.OK, f.Close())
	})
	require.Len(t, b.bytes("a"), 4096)
}

func TestDiskKeepsDirectoriesAndNames(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		require.Equal(t, env.OK, d.Mkdir(name("d")))
		require.Equal(t, env.EEXIST, d.Mkdir(name("d")))
		require.Equal(t, env.ENOENT, d.Mkdir(name("x/d")))
		create(t, d, "d/b", "bb")
		create(t, d, "d/a", "a")
		_, err := d.Open(name("d/a"), env.OpenCreate)
		require.Equal(t, env.EEXIST, err)
		_, err = d.Open(name("d/c"), env.OpenRead)
		require.Equal(t, env.ENOENT, err)
		_, err = d.Open(name("d"), env.OpenWrite)
		require.Equal(t, env.EOther, err)
		entries, err := d.List(name("d"))
		require.Equal(t, env.OK, err)
		require.Equal(t, []env.DirEntry{{Name: "a", Size: 1}, {Name: "b", Size: 2}}, entries)
		require.Equal(t, env.EEXIST, d.Remove(name("d")))
		require.Equal(t, env.OK, d.Rename(name("d/a"), name("d/b")))
		require.Equal(t, env.ENOENT, d.Rename(name("d/a"), name("d/b")))
		require.Equal(t, env.OK, d.Remove(name("d/b")))
		require.Equal(t, env.ENOENT, d.Remove(name("d/b")))
		require.Equal(t, env.OK, d.Rename(name("d"), name("e")))
		require.Equal(t, env.OK, d.Remove(name("e")))
		require.Equal(t, env.ENOENT, d.SyncDir(name("e")))
		_, err = d.List(name("e"))
		require.Equal(t, env.ENOENT, err)
		f, err := d.Open(env.Path{Dir: 1, Name: "other"}, env.OpenOrNew)
		require.Equal(t, env.OK, err)
		require.Equal(t, env.OK, f.Close())
		require.Equal(t, env.ENOENT, d.Rename(env.Path{Dir: 1, Name: "other"}, name("here")))
	})
	require.Empty(t, b.disk.Files(0))
	require.Equal(t, []string{"other"}, b.disk.Files(1))
}

func TestRemovedFileStaysReadableWhileOpen(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "still here")
		require.Equal(t, env.OK, d.Remove(name("a")))
		create(t, d, "a", "another")
		p := make([]byte, 10)
		_, err := f.ReadAt(p, 0)
		require.Equal(t, env.OK, err)
		require.Equal(t, "still here", string(p))
	})
}

func TestKillKeepsCompletedWritesAndAPrefixOfARunningOne(t *testing.T) {
	old, written := bytes.Repeat([]byte("o"), 10_000), bytes.Repeat([]byte("n"), 10_000)
	lengths := map[int]bool{}
	for seed := range uint64(60) {
		b := newBench(t, seed)
		b.do(func(d env.Disk) { create(t, d, "a", string(old)) })
		b.s.Spawn(0, b.owner, "writer", func() {
			f, _ := b.mount.Open(name("a"), env.OpenWrite)
			_, _ = f.WriteAt([][]byte{written}, 0)
			t.Error("a dead process went on")
		})
		for b.disk.Counts().Calls < 4 { // create, write, open, write
			b.s.Step()
		}
		require.Equal(t, 1, b.disk.InFlight())
		b.kill()
		got := []byte(b.bytes("a"))
		n := bytes.Count(got, []byte("n"))
		require.Equal(t, append(bytes.Clone(written[:n]), old[n:]...), got)
		lengths[n] = true
		require.Zero(t, b.disk.InFlight())
	}
	require.Greater(t, len(lengths), 40)
}

func TestKillDecidesAboutARunningCallAsAWhole(t *testing.T) {
	happened := 0
	for seed := range uint64(60) {
		b := newBench(t, seed)
		b.do(func(d env.Disk) { create(t, d, "a", "x") })
		b.s.Spawn(0, b.owner, "renamer", func() { b.mount.Rename(name("a"), name("b")) })
		b.s.Step()
		b.kill()
		switch files := fmt.Sprint(b.disk.Files(0)); files {
		case "[b]":
			happened++
		default:
			require.Equal(t, "[a]", files)
		}
	}
	require.True(t, happened > 10 && happened < 50, happened)
}

func TestWhatWasSyncedSurvivesEveryPowerLoss(t *testing.T) {
	for seed := range uint64(40) {
		b := newBench(t, seed)
		b.do(func(d env.Disk) {
			require.Equal(t, env.OK, d.Mkdir(name("d")))
			f := create(t, d, "d/a", "synced")
			require.Equal(t, env.OK, f.Sync())
			require.Equal(t, env.OK, d.SyncDir(name("d")))
			require.Equal(t, env.OK, d.SyncDir(name("")))
			write(t, f, " and more", 6)
		})
		b.losePower(NewRandomFates(NewEntropy(seed).Stream("fates", 1)))
		require.Equal(t, "synced", b.bytes("d/a")[:6])
		durable, ok := b.disk.DurableBytes(name("d/a"))
		require.True(t, ok)
		require.Equal(t, b.bytes("d/a"), string(durable))
		require.Empty(t, b.disk.UnsyncedFiles(0))
	}
}

func TestPowerLossDropsWhatNobodySynced(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "synced")
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, "changed", 0)
		create(t, d, "b", "no directory sync")
		require.Equal(t, []string{"a", "b"}, b.disk.UnsyncedFiles(0))
	})
	b.losePower(KeepNothing{})
	require.Equal(t, "synced", b.bytes("a"))
	require.Equal(t, []string{"a"}, b.disk.Files(0))
}

func TestFileSyncDoesNotMakeTheNameDurable(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		require.Equal(t, env.OK, create(t, d, "a", "synced").Sync())
		require.Equal(t, env.OK, d.Mkdir(name("d")))
		require.Equal(t, env.OK, create(t, d, "d/b", "synced").Sync())
		require.Equal(t, env.OK, d.SyncDir(name("d"))) // but not of the root, where d lives
	})
	b.losePower(KeepNothing{})
	require.Empty(t, b.disk.Files(0))
	require.Empty(t, b.disk.Entries(name("")))
}

// scripted fates keep what a test says.
type scripted struct {
	kept  int
	size  int64
	pages map[int]PageFate
}

func (s scripted) Kept([]string) int                       { return s.kept }
func (s scripted) Size(UnsyncedFile) int64                 { return s.size }
func (s scripted) Page(_ UnsyncedFile, index int) PageFate { return s.pages[index] }

func letters(pages ...string) (all string) {
	for _, p := range pages {
		for len(p) < PageSize {
			p += p
		}
		all += p
	}
	return all
}

func TestPowerLossKeepsLaterPagesAndDropsEarlierOnes(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) { create(t, d, "a", letters("a", "b", "c", "d")) })
	b.losePower(scripted{1, 4 * PageSize, map[int]PageFate{
		1: Uniform(SectorNew), 3: Uniform(SectorNew),
	}})
	require.Equal(t, letters("\x00", "b", "\x00", "d"), b.bytes("a"))
	require.EqualValues(t, 2, b.disk.Counts().PagesDropped)
}

func TestSizeIsIndependentOfPages(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) { create(t, d, "a", letters("a", "b", "c")) })
	b.losePower(scripted{1, PageSize + 10, map[int]PageFate{2: Uniform(SectorNew)}})
	require.Equal(t, letters("\x00")+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", b.bytes("a"))
	b.do(func(d env.Disk) {
		f, _ := d.Open(name("a"), env.OpenWrite)
		require.Equal(t, env.OK, f.Truncate(3*PageSize))
	})
	require.Equal(t, letters("\x00", "\x00", "\x00"), b.bytes("a"), "what was cut off stays away")
}

func TestPageIsTornBySectors(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("o")[:1000])
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, letters("n"), 0)
	})
	b.losePower(scripted{0, PageSize, map[int]PageFate{0: {
		SectorNew, SectorOld, SectorOld, SectorNew, SectorGarbage, SectorOld, SectorOld, SectorNew,
	}}})
	got := b.bytes("a")
	sector := func(i int) string { return got[i*SectorSize : (i+1)*SectorSize] }
	require.Equal(t, letters("n")[:512], sector(0))
	require.Equal(t, letters("o")[:488]+letters("\x00")[:24], sector(1))
	require.Equal(t, letters("\x00")[:512], sector(2))
	require.Equal(t, letters("n")[:512], sector(3))
	require.NotContains(t, []string{letters("n")[:512], letters("\x00")[:512]}, sector(4))
	require.Equal(t, letters("n")[:512], sector(7))
	require.EqualValues(t, 1, b.disk.Counts().PagesTorn)
}

func TestGarbageNeverStrikesASectorThatHoldsDurableBytes(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", letters("o")[:1000])
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, letters("n")[:1000], 1000)
	})
	b.losePower(scripted{0, 2000, map[int]PageFate{0: Uniform(SectorGarbage)}})
	require.Equal(t, letters("o")[:1000], b.bytes("a")[:1000])
}

func TestPreallocatedTailReadsZeros(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "")
		require.Equal(t, env.OK, f.Truncate(1<<20))
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, letters("n"), 0)
	})
	b.losePower(KeepNothing{})
	require.Equal(t, 1<<20, len(b.bytes("a")))
	require.Equal(t, letters("\x00"), b.bytes("a")[:PageSize])
}

func TestSyncCoversOnlyWhatWasWrittenBeforeItWasSubmitted(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		create(t, d, "a", "before")
		require.Equal(t, env.OK, d.SyncDir(name("")))
	})
	p := DefaultDiskProfile()
	p.Sync = Interval{Second, Second}
	b.disk.SetProfile(p)
	b.s.Spawn(0, b.owner, "syncer", func() {
		f, _ := b.mount.Open(name("a"), env.OpenWrite)
		require.Equal(t, env.OK, f.Sync())
	})
	b.s.Spawn(10*Millisecond, b.owner, "writer", func() {
		f, _ := b.mount.Open(name("a"), env.OpenWrite)
		write(t, f, "AFTER!", 0)
		write(t, f, "more", 6)
	})
	b.s.RunUntil(b.s.Now()+2*Second, nil)
	require.Equal(t, "AFTER!more", b.bytes("a"))
	durable, _ := b.disk.DurableBytes(name("a"))
	require.Equal(t, "before", string(durable))
	require.Equal(t, []string{"a"}, b.disk.UnsyncedFiles(0))
	b.losePower(KeepNothing{})
	require.Equal(t, "before", b.bytes("a"))
}

func TestDirectorySyncCoversOnlyWhatWasChangedBeforeItWasSubmitted(t *testing.T) {
	b := newBench(t, 1)
	p := DefaultDiskProfile()
	p.Sync = Interval{Second, Second}
	b.disk.SetProfile(p)
	b.do(func(d env.Disk) { create(t, d, "a", "") })
	b.s.Spawn(0, b.owner, "syncer", func() { require.Equal(t, env.OK, b.mount.SyncDir(name(""))) })
	b.s.Spawn(10*Millisecond, b.owner, "creator", func() { create(t, b.mount, "b", "") })
	b.s.RunUntil(b.s.Now()+2*Second, nil)
	b.losePower(KeepNothing{})
	require.Equal(t, []string{"a"}, b.disk.Files(0))
}

func TestRenameIsOldOrNewAndNeverBoth(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		b := newBench(t, seed)
		b.do(func(d env.Disk) {
			create(t, d, "a", "old").Sync()
			require.Equal(t, env.OK, d.SyncDir(name("")))
			create(t, d, "a.tmp", "new").Sync()
			require.Equal(t, env.OK, d.Rename(name("a.tmp"), name("a")))
			create(t, d, "other", "").Sync()
		})
		b.losePower(NewRandomFates(NewEntropy(seed).Stream("fates", 1)))
		seen[fmt.Sprintf("%v %s", b.disk.Files(0), b.bytes("a"))]++
		require.Contains(t, []string{"old", "new"}, b.bytes("a"), "one of the two is there")
	}
	for _, want := range []string{
		"[a] old", "[a a.tmp] old", "[a] new",
		"[a other] old", "[a a.tmp other] old", "[a other] new",
	} {
		require.NotZero(t, seen[want], want)
	}
	require.Len(t, seen, 6)
}

func TestRemovedDirectoryContentComesBackOnlyIfItsRemovalIsLost(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		require.Equal(t, env.OK, d.Mkdir(name("t-0")))
		create(t, d, "t-0/log", "x").Sync()
		d.SyncDir(name("t-0"))
		d.SyncDir(name(""))
		require.Equal(t, env.OK, d.Rename(name("t-0"), name("t-0.deleted")))
		require.Equal(t, env.OK, d.Remove(name("t-0.deleted/log")))
		require.Equal(t, env.OK, d.Remove(name("t-0.deleted")))
	})
	b.losePower(KeepNothing{})
	require.Equal(t, []string{"t-0/log"}, b.disk.Files(0))
	b.do(func(d env.Disk) {
		require.Equal(t, env.OK, d.Remove(name("t-0/log")))
		require.Equal(t, env.OK, d.Remove(name("t-0")))
		require.Equal(t, env.OK, d.SyncDir(name("")))
	})
	b.losePower(KeepNothing{})
	require.Empty(t, b.disk.Entries(name("")))
}

func TestKernelWritesBackDirtyPagesUnasked(t *testing.T) {
	b := newBench(t, 1)
	p := DefaultDiskProfile()
	p.WriteBack = 256
	b.disk.SetProfile(p)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "")
		require.Equal(t, env.OK, d.SyncDir(name("")))
		require.Equal(t, env.OK, f.Truncate(6))
		require.Equal(t, env.OK, f.Sync())
		write(t, f, "first!", 0)
		p.WriteBack = 0
		b.disk.SetProfile(p)
		write(t, f, "second", 0)
	})
	b.losePower(KeepNothing{})
	require.Equal(t, "first!", b.bytes("a"), "a version between the durable and the last one")
}

func TestCloneSharesNothing(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		f := create(t, d, "a", "one")
		require.Equal(t, env.OK, f.Sync())
		require.Equal(t, env.OK, d.SyncDir(name("")))
		write(t, f, "two", 0)
		create(t, d, "b", "new")
	})
	c := b.disk.Clone(b.s, b.faults, NewEntropy(2).Stream("clone", 1))
	b.do(func(d env.Disk) {
		f, _ := d.Open(name("a"), env.OpenWrite)
		write(t, f, "333", 0)
		f.Sync()
		d.SyncDir(name(""))
	})
	content, _ := c.Bytes(name("a"))
	require.Equal(t, "two", string(content))
	c.PowerLoss(KeepNothing{})
	content, _ = c.Bytes(name("a"))
	require.Equal(t, "one", string(content))
	require.Equal(t, []string{"a"}, c.Files(0))
	require.Equal(t, "333", b.bytes("a"))
	require.Equal(t, []string{"a", "b"}, b.disk.Files(0))
}

func TestPutMakesADurablePast(t *testing.T) {
	b := newBench(t, 1)
	b.disk.Put(name("d/e/f"), []byte("past"))
	b.losePower(KeepNothing{})
	require.Equal(t, "past", b.bytes("d/e/f"))
}
