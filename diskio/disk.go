package diskio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

// Disk offers data directories to the node. It is safe for concurrent use.
type Disk struct {
	// OnError, if set before the first use, is told the details of a failure that is not part of
	// normal life: not of a missing or existing file. It is called from any goroutine.
	OnError func(op, path string, err error)

	roots []string
	locks []*os.File
}

// Open prepares data directories: it creates those that are missing and locks each, so that no
// second process uses it. The index in roots is the DirID.
func Open(roots []string) (*Disk, error) {
	d := &Disk{}
	for _, root := range roots {
		if err := d.add(root); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// add takes a directory into use. Errors name it as it was given.
func (d *Disk) add(given string) error {
	root, err := filepath.Abs(given)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", given, err)
	}
	if err := makeDurableDir(root); err != nil {
		return fmt.Errorf("data directory %s: %w", given, err)
	}
	lock, err := lockDir(root)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", given, err)
	}
	d.roots, d.locks = append(d.roots, root), append(d.locks, lock)
	return nil
}

// makeDurableDir creates a directory and its parents where they are missing, durably.
func makeDurableDir(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDurableDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// Close gives the locks back. Open files stay open.
func (d *Disk) Close() error {
	var all error
	for _, lock := range d.locks {
		all = errors.Join(all, lock.Close())
	}
	d.locks = nil
	return all
}

// resolve gives the absolute path. A name that leads out of the directory has none.
func (d *Disk) resolve(p env.Path) (string, env.Errno) {
	if int(p.Dir) >= len(d.roots) || p.Name != "" && !filepath.IsLocal(p.Name) {
		return "", env.EOther
	}
	return filepath.Join(d.roots[p.Dir], filepath.FromSlash(p.Name)), env.OK
}

// Open opens or creates a file, as env.Disk says.
func (d *Disk) Open(p env.Path, flag env.OpenFlag) (env.File, env.Errno) {
	path, errno := d.resolve(p)
	if errno != env.OK {
		return nil, errno
	}
	mode := unix.O_CLOEXEC
	switch flag {
	case env.OpenRead:
		mode |= unix.O_RDONLY
	case env.OpenWrite:
		mode |= unix.O_RDWR
	case env.OpenCreate:
		mode |= unix.O_RDWR | unix.O_CREAT | unix.O_EXCL
	case env.OpenOrNew:
		mode |= unix.O_RDWR | unix.O_CREAT
	}
	fd, err := retry(func() (int, error) { return unix.Open(path, mode, 0o644) })
	if err != nil {
		return nil, d.errno("open", path, err)
	}
	return newFile(d, path, fd), env.OK
}

// Rename moves a file or directory within one data directory and replaces what was there.
func (d *Disk) Rename(from, to env.Path) env.Errno {
	source, errno := d.resolve(from)
	if errno != env.OK {
		return errno
	}
	target, errno := d.resolve(to)
	if errno != env.OK || from.Dir != to.Dir {
		return env.EOther
	}
	return d.errno("rename", source, unix.Rename(source, target))
}

// Remove removes a file or an empty directory; EEXIST for one that is not empty.
func (d *Disk) Remove(p env.Path) env.Errno {
	path, errno := d.resolve(p)
	if errno != env.OK {
		return errno
	}
	return d.errno("remove", path, os.Remove(path))
}

// Mkdir creates a directory.
func (d *Disk) Mkdir(p env.Path) env.Errno {
	path, errno := d.resolve(p)
	if errno != env.OK {
		return errno
	}
	return d.errno("mkdir", path, unix.Mkdir(path, 0o755))
}

// List returns the entries of a directory, sorted by name. What disappears meanwhile is left out.
func (d *Disk) List(p env.Path) ([]env.DirEntry, env.Errno) {
	path, errno := d.resolve(p)
	if errno != env.OK {
		return nil, errno
	}
	found, err := os.ReadDir(path) // sorted
	if err != nil {
		return nil, d.errno("list", path, err)
	}
	entries := make([]env.DirEntry, 0, len(found))
	for _, f := range found {
		entry := env.DirEntry{Name: f.Name(), Dir: f.IsDir()}
		if !entry.Dir {
			info, err := f.Info()
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, d.errno("list", path, err)
			}
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
	}
	return entries, env.OK
}

// SyncDir makes the entries of a directory durable.
func (d *Disk) SyncDir(p env.Path) env.Errno {
	path, errno := d.resolve(p)
	if errno != env.OK {
		return errno
	}
	return d.errno("sync directory", path, syncDir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
