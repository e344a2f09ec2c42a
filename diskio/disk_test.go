package diskio

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"stet/core/env"
)

var (
	_ env.Disk = (*Disk)(nil)
	_ env.File = (*File)(nil)
)

func open(t testing.TB, root string) *Disk {
	d, err := Open([]string{root})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func at(name string) env.Path { return env.Path{Name: name} }

func create(t testing.TB, d *Disk, name string) *File {
	f, errno := d.Open(at(name), env.OpenCreate)
	require.Equal(t, env.OK, errno)
	t.Cleanup(func() { f.Close() })
	return f.(*File)
}

func TestOpenFlags(t *testing.T) {
	d := open(t, t.TempDir())
	_, errno := d.Open(at("a"), env.OpenRead)
	require.Equal(t, env.ENOENT, errno)
	_, errno = d.Open(at("a"), env.OpenWrite)
	require.Equal(t, env.ENOENT, errno)
	create(t, d, "a")
	_, errno = d.Open(at("a"), env.OpenCreate)
	require.Equal(t, env.EEXIST, errno)
	f, errno := d.Open(at("a"), env.OpenOrNew)
	require.Equal(t, env.OK, errno)
	n, errno := f.WriteAt([][]byte{[]byte("x")}, 0)
	require.EqualValues(t, 1, n)
	require.Equal(t, env.OK, errno)
	require.Equal(t, env.OK, f.Close())
	f, errno = d.Open(at("a"), env.OpenRead)
	require.Equal(t, env.OK, errno)
	_, errno = f.WriteAt([][]byte{[]byte("x")}, 0)
	require.NotEqual(t, env.OK, errno)
	require.Equal(t, env.OK, f.Close())
}

func TestPathsStayInsideTheDirectory(t *testing.T) {
	d := open(t, t.TempDir())
	for _, p := range []env.Path{at("../x"), at("/etc/passwd"), at("a/../../x"), {Dir: 1, Name: "x"}} {
		_, errno := d.Open(p, env.OpenOrNew)
		require.Equal(t, env.EOther, errno)
		require.Equal(t, env.EOther, d.Remove(p))
		require.Equal(t, env.EOther, d.Mkdir(p))
		require.Equal(t, env.EOther, d.Rename(p, at("y")))
		require.Equal(t, env.EOther, d.Rename(at("y"), p))
	}
}

func TestDirectories(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "new", "data"))
	require.Equal(t, env.OK, d.Mkdir(at("topic-0")))
	require.Equal(t, env.EEXIST, d.Mkdir(at("topic-0")))
	create(t, d, "topic-0/b").WriteAt([][]byte{make([]byte, 7)}, 0)
	create(t, d, "topic-0/a")
	require.Equal(t, env.OK, d.SyncDir(at("topic-0")))
	require.Equal(t, env.OK, d.SyncDir(at("")))

	entries, errno := d.List(at("topic-0"))
	require.Equal(t, env.OK, errno)
	require.Equal(t, []env.DirEntry{{Name: "a"}, {Name: "b", Size: 7}}, entries)
	entries, _ = d.List(at(""))
	require.Equal(t, []env.DirEntry{{Name: ".lock"}, {Name: "topic-0", Dir: true}}, entries)

	require.Equal(t, env.EEXIST, d.Remove(at("topic-0")))
	require.Equal(t, env.OK, d.Rename(at("topic-0/b"), at("topic-0/a")))
	require.Equal(t, env.ENOENT, d.Rename(at("topic-0/b"), at("topic-0/a")))
	require.Equal(t, env.OK, d.Remove(at("topic-0/a")))
	require.Equal(t, env.ENOENT, d.Remove(at("topic-0/a")))
	require.Equal(t, env.OK, d.Remove(at("topic-0")))
	_, errno = d.List(at("topic-0"))
	require.Equal(t, env.ENOENT, errno)
}

// TestFilesAgreeWithAModel holds a file against a byte slice.
func TestFilesAgreeWithAModel(t *testing.T) {
	d := open(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		opened, errno := d.Open(at("a"), env.OpenOrNew)
		require.Equal(t, env.OK, errno)
		defer opened.Close()
		require.Equal(t, env.OK, opened.Truncate(0))
		var model []byte
		grow := func(size int) {
			if size > len(model) {
				model = append(model, make([]byte, size-len(model))...)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				off := rapid.IntRange(0, 5000).Draw(t, "off")
				bufs := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 9), 0, 1500).Draw(t, "bufs")
				all := bytes.Join(bufs, nil)
				n, errno := opened.WriteAt(bufs, int64(off))
				require.Equal(t, env.OK, errno)
				require.EqualValues(t, len(all), n)
				if len(all) > 0 {
					grow(off + len(all))
					copy(model[off:], all)
				}
			},
			"truncate": func(t *rapid.T) {
				size := rapid.IntRange(0, 6000).Draw(t, "size")
				require.Equal(t, env.OK, opened.Truncate(int64(size)))
				grow(size)
				model = model[:size:size]
			},
			"sync": func(t *rapid.T) { require.Equal(t, env.OK, opened.Sync()) },
			"": func(t *rapid.T) {
				got := make([]byte, len(model)+10)
				n, errno := opened.ReadAt(got, 0)
				require.Equal(t, env.OK, errno)
				require.True(t, bytes.Equal(model, got[:n]))
				size, errno := opened.Size()
				require.Equal(t, env.OK, errno)
				require.EqualValues(t, len(model), size)
			},
		})
	})
}

func TestClosedFilesRefuse(t *testing.T) {
	f := create(t, open(t, t.TempDir()), "a")
	require.Equal(t, env.OK, f.Close())
	require.Equal(t, env.OK, f.Close())
	_, errno := f.WriteAt([][]byte{{1}}, 0)
	require.Equal(t, env.EOther, errno)
	_, errno = f.ReadAt(make([]byte, 1), 0)
	require.Equal(t, env.EOther, errno)
	require.Equal(t, env.EOther, f.Sync())
	_, ok := f.Fd()
	require.False(t, ok)
}

func TestLentDescriptorOutlivesClose(t *testing.T) {
	f := create(t, open(t, t.TempDir()), "a")
	fd, ok := f.Fd()
	require.True(t, ok)
	require.Equal(t, env.OK, f.Close())
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &stat))
	f.ReleaseFd()
	require.Error(t, unix.Fstat(fd, &stat))
}

func TestLoansRaceWithClose(t *testing.T) {
	d := open(t, t.TempDir())
	for range 200 {
		opened, errno := d.Open(at("a"), env.OpenOrNew)
		require.Equal(t, env.OK, errno)
		f := opened.(*File)
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				if fd, ok := f.Fd(); ok {
					var stat unix.Stat_t
					require.NoError(t, unix.Fstat(fd, &stat))
					f.ReleaseFd()
				}
			})
		}
		f.Close()
		users.Wait()
		require.Zero(t, f.refs.Load())
	}
}

func TestErrorsAreMappedAndReported(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(root, "full")))
	var reported []string
	d := open(t, root)
	d.OnError = func(op, path string, err error) {
		reported = append(reported, op+" "+filepath.Base(path)+": "+err.Error())
	}
	f, errno := d.Open(at("full"), env.OpenWrite)
	require.Equal(t, env.OK, errno)
	defer f.Close()
	n, errno := f.WriteAt([][]byte{{1}, {2}}, 0)
	require.Zero(t, n)
	require.Equal(t, env.ENOSPC, errno)
	require.Equal(t, []string{"write full: no space left on device"}, reported)
	for number, want := range map[unix.Errno]env.Errno{
		unix.EIO: env.EIO, unix.EDQUOT: env.ENOSPC,
		unix.EMFILE: env.EOther, unix.ENOTEMPTY: env.EEXIST,
	} {
		require.Equal(t, want, toErrno(number))
	}
}

// TestFullDiskCutsAWriteShort needs the right to mount a small file system.
func TestFullDiskCutsAWriteShort(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no right to mount:", err)
	}
	defer unix.Unmount(root, unix.MNT_DETACH)
	d := open(t, root)
	f := create(t, d, "a")
	half := make([]byte, 48<<10)
	n, errno := f.WriteAt([][]byte{half, half}, 0)
	require.Equal(t, env.OK, errno)
	require.Greater(t, n, int64(len(half)))
	require.Less(t, n, int64(2*len(half)))
	more, errno := f.WriteAt([][]byte{half}, n)
	require.Zero(t, more)
	require.Equal(t, env.ENOSPC, errno)
}

func TestSecondUserIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const root = "./given"
	d := open(t, root)
	_, err := Open([]string{root})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "data directory ./given: ")
	require.NoError(t, d.Close())
	open(t, root)
}

// TestKillFreesTheLock runs this test binary again as the process that is killed.
func TestKillFreesTheLock(t *testing.T) {
	if root := os.Getenv("STET_TEST_LOCK"); root != "" {
		open(t, root)
		os.Stdout.WriteString("locked\n")
		os.Stdin.Read(make([]byte, 1)) // until killed
		return
	}
	root := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestKillFreesTheLock$")
	child.Env = append(os.Environ(), "STET_TEST_LOCK="+root)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	_, err = child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	_, err = Open([]string{root})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, child.Process.Kill())
	child.Wait()
	open(t, root)
}

func TestWritesDoNotAllocate(t *testing.T) {
	f := create(t, open(t, t.TempDir()), "a")
	bufs := [][]byte{make([]byte, 100), make([]byte, 100)}
	require.Zero(t, testing.AllocsPerRun(100, func() { f.WriteAt(bufs[:1], 0) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.WriteAt(bufs, 0) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.ReadAt(bufs[0], 0) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { f.Sync() }))
}
