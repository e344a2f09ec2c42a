package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
)

// failed wraps a failure of the disk. It returns nil for env.OK.
func failed(what string, p env.Path, err env.Errno) error {
	if err == env.OK {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, p.Name, err)
}

// child names a file in the directory dir.
func child(dir env.Path, name string) env.Path {
	if dir.Name == "" {
		return env.Path{Dir: dir.Dir, Name: name}
	}
	return env.Path{Dir: dir.Dir, Name: dir.Name + "/" + name}
}

// ReadFile returns the content of a small file. The Errno is ENOENT when there is none.
func ReadFile(disk env.Disk, p env.Path) ([]byte, env.Errno) {
	f, err := disk.Open(p, env.OpenRead)
	if err != env.OK {
		return nil, err
	}
	size, err := f.Size()
	if err != env.OK {
		f.Close()
		return nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if closeErr := f.Close(); err == env.OK {
		err = closeErr
	}
	return b[:n], err
}

// ReplaceFile gives a file this content, so that a crash leaves the old or the new one: it writes
// a temporary file, syncs it and renames it. The new name is durable after SyncDirectory.
func ReplaceFile(disk env.Disk, p env.Path, content []byte) error {
	temporary := env.Path{Dir: p.Dir, Name: p.Name + temporarySuffix}
	f, err := disk.Open(temporary, env.OpenOrNew)
	if err != env.OK {
		return failed("open", temporary, err)
	}
	if err = f.Truncate(0); err == env.OK {
		err = writeAll(f, content, 0)
	}
	if err == env.OK {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == env.OK {
		err = closeErr
	}
	if err != env.OK {
		return failed("write", temporary, err)
	}
	return failed("rename", temporary, disk.Rename(temporary, p))
}

const temporarySuffix = ".tmp"

// SyncDirectory makes the entries of a directory durable.
func SyncDirectory(disk env.Disk, p env.Path) error {
	if invariant.CanarySkipDirSync.On() {
		return nil
	}
	return failed("sync directory", p, disk.SyncDir(p))
}

// writeAll writes b at off, over short writes.
func writeAll(f env.File, b []byte, off int64) env.Errno {
	for len(b) > 0 {
		n, err := f.WriteAt([][]byte{b}, off)
		if err != env.OK {
			return err
		}
		if n <= 0 {
			return env.EShort
		}
		b, off = b[n:], off+n
	}
	return env.OK
}

// rewrite gives an open file this content and syncs it.
func rewrite(f env.File, content []byte) env.Errno {
	err := writeAll(f, content, 0)
	if err == env.OK {
		err = f.Truncate(int64(len(content)))
	}
	if err == env.OK {
		err = f.Sync()
	}
	return err
}

// removeFile removes a file that need not exist.
func removeFile(disk env.Disk, p env.Path) error {
	if err := disk.Remove(p); err != env.OK && err != env.ENOENT {
		return failed("remove", p, err)
	}
	return nil
}
