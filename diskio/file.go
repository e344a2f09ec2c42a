package diskio

import (
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

// File is an open file. It is safe for concurrent use; the order of operations is the caller's.
type File struct {
	disk *Disk
	path string
	fd   int

	// refs counts the users of fd: the open file itself and every running call. The descriptor is
	// closed by the last of them, so that a number that the kernel gives out again is never used.
	refs   atomic.Int64
	closed atomic.Bool
}

var errClosed = errors.New("file is closed")

func newFile(d *Disk, path string, fd int) *File {
	f := &File{disk: d, path: path, fd: fd}
	f.refs.Store(1)
	return f
}

// Fd lends the descriptor, for sendfile, until ReleaseFd; a Close meanwhile takes effect then. It
// returns false when the file is closed.
func (f *File) Fd() (fd int, ok bool) {
	for !f.closed.Load() {
		n := f.refs.Load()
		if n <= 0 {
			break
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return f.fd, true
		}
	}
	return -1, false
}

// ReleaseFd ends the loan of a successful Fd.
func (f *File) ReleaseFd() {
	if f.refs.Add(-1) > 0 {
		return
	}
	if err := unix.Close(f.fd); err != nil {
		f.errno("close", err)
	}
}

// Close closes the file once no call uses it any more. A second Close does nothing.
func (f *File) Close() env.Errno {
	if f.closed.CompareAndSwap(false, true) {
		f.ReleaseFd()
	}
	return env.OK
}

const (
	maxIovecs     = 1024    // UIO_MAXIOV
	maxWriteBytes = 1 << 30 // the kernel writes less than 2 GB a call
)

// WriteAt writes bufs one behind the other. A write that the kernel cuts short, as it does when
// the disk is full, is not continued: the caller is told how much is stored.
func (f *File) WriteAt(bufs [][]byte, off int64) (written int64, errno env.Errno) {
	fd, ok := f.Fd()
	if !ok {
		return 0, f.errno("write", errClosed)
	}
	defer f.ReleaseFd()
	for len(bufs) > 0 {
		count, size := nextWrite(bufs)
		n, err := pwrite(fd, bufs[:count], off+written)
		if err != nil && written == 0 {
			return 0, f.errno("write", err)
		}
		written += int64(max(n, 0))
		if err != nil || int64(n) < size {
			return written, env.OK
		}
		bufs = bufs[count:]
	}
	return written, env.OK
}

// nextWrite says how many of bufs go into one call, and how many bytes that is.
func nextWrite(bufs [][]byte) (count int, size int64) {
	for count < min(len(bufs), maxIovecs) {
		next := int64(len(bufs[count]))
		if count > 0 && size+next > maxWriteBytes {
			break
		}
		size += next
		count++
	}
	return count, size
}

func pwrite(fd int, bufs [][]byte, off int64) (n int, err error) {
	for {
		if len(bufs) == 1 {
			n, err = unix.Pwrite(fd, bufs[0], off)
		} else {
			n, err = unix.Pwritev(fd, bufs, off)
		}
		if err != unix.EINTR {
			return n, err
		}
	}
}

// ReadAt fills p, up to the end of the file.
func (f *File) ReadAt(p []byte, off int64) (n int, errno env.Errno) {
	fd, ok := f.Fd()
	if !ok {
		return 0, f.errno("read", errClosed)
	}
	defer f.ReleaseFd()
	for n < len(p) {
		m, err := unix.Pread(fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, f.errno("read", err)
		}
		if m == 0 {
			break
		}
		n += m
	}
	return n, env.OK
}

// Sync makes the file's bytes and size durable (fdatasync).
func (f *File) Sync() env.Errno { return f.call("sync", unix.Fdatasync) }

// Truncate sets the file's size; bytes beyond the old end read as zero.
func (f *File) Truncate(size int64) env.Errno {
	return f.call("truncate", func(fd int) error { return unix.Ftruncate(fd, size) })
}

// Size returns the file's size in bytes.
func (f *File) Size() (size int64, errno env.Errno) {
	errno = f.call("stat", func(fd int) error {
		var stat unix.Stat_t
		err := unix.Fstat(fd, &stat)
		size = stat.Size
		return err
	})
	return size, errno
}

// call runs one system call on the descriptor.
func (f *File) call(op string, do func(fd int) error) env.Errno {
	fd, ok := f.Fd()
	if !ok {
		return f.errno(op, errClosed)
	}
	defer f.ReleaseFd()
	_, err := retry(func() (int, error) { return 0, do(fd) })
	return f.errno(op, err)
}

func (f *File) errno(op string, err error) env.Errno { return f.disk.errno(op, f.path, err) }
