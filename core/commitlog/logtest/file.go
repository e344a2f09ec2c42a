package logtest

import (
	"slices"

	"stet/core/env"
)

// file is an open file.
type file struct {
	disk *Disk
	node *node
	name string
}

func (f *file) WriteAt(bufs [][]byte, off int64) (int64, env.Errno) {
	joined := slices.Concat(bufs...)
	if f.disk.Fuse == 0 {
		f.store(joined[:f.disk.rand.IntN(len(joined)+1)], off)
	}
	if err := f.disk.enter("write", f.name); err != env.OK {
		return 0, err
	}
	f.store(joined, off)
	return int64(len(joined)), env.OK
}

func (f *file) store(b []byte, off int64) {
	if len(b) == 0 {
		return
	}
	if end := int(off) + len(b); end > len(f.node.data) {
		f.node.data = append(f.node.data, make([]byte, end-len(f.node.data))...)
	}
	copy(f.node.data[off:], b)
}

func (f *file) ReadAt(p []byte, off int64) (int, env.Errno) {
	if err := f.disk.enter("read", f.name); err != env.OK {
		return 0, err
	}
	if off >= int64(len(f.node.data)) {
		return 0, env.OK
	}
	return copy(p, f.node.data[off:]), env.OK
}

func (f *file) Sync() env.Errno {
	if err := f.disk.enter("sync", f.name); err != env.OK {
		return err
	}
	f.node.synced = slices.Clone(f.node.data)
	return env.OK
}

func (f *file) Truncate(size int64) env.Errno {
	if err := f.disk.enter("truncate", f.name); err != env.OK {
		return err
	}
	if size <= int64(len(f.node.data)) {
		f.node.data = f.node.data[:size]
		return env.OK
	}
	f.node.data = append(f.node.data, make([]byte, size-int64(len(f.node.data)))...)
	return env.OK
}

func (f *file) Size() (int64, env.Errno) {
	if err := f.disk.enter("size", f.name); err != env.OK {
		return 0, err
	}
	return int64(len(f.node.data)), env.OK
}

// Close gives the handle back, also when it fails, as Linux does.
func (f *file) Close() env.Errno {
	i := slices.Index(f.disk.OpenFiles, f.name)
	f.disk.OpenFiles = slices.Delete(f.disk.OpenFiles, i, i+1)
	return f.disk.enter("close", f.name)
}
