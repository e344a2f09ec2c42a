package sim

import (
	"stet/core/env"
	"stet/core/invariant"
)

// file implements env.File: an open file of one process.
type file struct {
	mount    *mount
	path     env.Path // at the time of opening, for names
	node     *inode
	writable bool
	closed   bool
}

// Undigested keeps a node's digest from walking into the world.
func (f *file) Undigested() {}

func (f *file) check() {
	f.mount.mustLive()
	invariant.Always(!f.closed, "a closed file is used")
}

// WriteAt implements env.File. A write that does not fit stores what fits and reports a short
// count, or ENOSPC if nothing does, as Linux has it.
func (f *file) WriteAt(bufs [][]byte, off int64) (int64, env.Errno) {
	f.check()
	invariant.Always(f.writable && off >= 0, "a write goes to a writable file, at an offset")
	d := f.mount.disk
	var total int64
	for _, b := range bufs {
		total += int64(len(b))
	}
	fault := f.mount.call(DiskWrite, f.path, off, total, d.profile.Write, func() {
		d.counts.TornInFlight++
		f.land(bufs, off, d.deaths.Between(0, total))
	})
	d.counts.Writes++
	n, err := f.store(fault, bufs, off, total)
	f.mount.done(DiskWrite, f.path, off, n, err)
	if n > 0 && d.caching.Chance(d.profile.WriteBack, 256) && len(f.node.dirty) > 0 {
		f.node.writeBack(f.node.dirty[d.caching.Index(len(f.node.dirty))])
	}
	return n, err
}

// store makes the effect of a write as far as fault and capacity let it.
func (f *file) store(fault DiskFault, bufs [][]byte, off, total int64) (int64, env.Errno) {
	n, err := total, env.OK
	switch fault.Kind {
	case DiskEIO:
		f.land(bufs, off, min(total, fault.Bytes))
		return 0, env.EIO
	case DiskShort:
		n = min(total, fault.Bytes)
	case DiskFull:
		n, err = min(total, fault.Bytes), env.ENOSPC
	case DiskMisdirect:
		f.land(bufs, max(0, off+fault.Bytes), total)
		return total, env.OK
	}
	if room := f.room(off, n); room < n {
		n, err = room, env.ENOSPC
	}
	f.land(bufs, off, n)
	switch fault.Kind {
	case DiskFlip:
		f.node.flip(off+fault.Bytes/8, uint(fault.Bytes%8))
	case DiskLatent:
		f.node.failReads(off + fault.Bytes)
	}
	if n > 0 {
		err = env.OK
	}
	return n, err
}

// room returns how many of length bytes at off fit.
func (f *file) room(off, length int64) int64 {
	d := f.mount.disk
	if d.Capacity == 0 || length == 0 {
		return length
	}
	pages := (d.Capacity - d.used()) / PageSize
	if f.node.newPages(off, length) <= pages {
		return length
	}
	fits := int64(0)
	for end := off; end < off+length; {
		end = min(off+length, (end/PageSize+1)*PageSize)
		if f.node.newPages(off, end-off) > pages {
			break
		}
		fits = end - off
	}
	return fits
}

// land stores the first n bytes of bufs at off.
func (f *file) land(bufs [][]byte, off, n int64) {
	d := f.mount.disk
	d.stamp++
	for _, b := range bufs {
		part := b[:min(int64(len(b)), n)]
		f.node.write(part, off, d.stamp)
		d.scheduler.trace.Record(Record{
			Place: d.place, Kind: KindDisk, What: "bytes", A: off, B: int64(len(part)), Payload: part,
		})
		d.counts.BytesWritten += uint64(len(part))
		off, n = off+int64(len(part)), n-int64(len(part))
	}
}

// ReadAt implements env.File.
func (f *file) ReadAt(p []byte, off int64) (int, env.Errno) {
	f.check()
	d := f.mount.disk
	fault := f.mount.call(DiskRead, f.path, off, int64(len(p)), d.profile.Read, func() {})
	d.counts.Reads++
	if fault.Kind == DiskEIO || !f.node.readable(off, int64(len(p))) {
		return 0, f.mount.done(DiskRead, f.path, off, 0, env.EIO)
	}
	n := f.node.read(p, off)
	d.counts.BytesRead += uint64(n)
	return n, f.mount.done(DiskRead, f.path, off, int64(n), env.OK)
}

// Sync implements env.File.
func (f *file) Sync() env.Errno {
	f.check()
	d := f.mount.disk
	im := f.node.image(d.stamp)
	complete := func() { f.node.complete(im) }
	fault := f.mount.call(DiskSync, f.path, 0, 0, d.profile.Sync, d.perhaps(complete))
	d.counts.Syncs++
	if fault.Kind == DiskEIO {
		d.failSync(f.node, im)
		return f.mount.done(DiskSync, f.path, 0, int64(len(im.pages)), env.EIO)
	}
	complete()
	return f.mount.done(DiskSync, f.path, 0, int64(len(im.pages)), env.OK)
}

// complete makes an image durable.
func (n *inode) complete(im syncImage) {
	for _, p := range im.pages {
		n.settle(p, true)
	}
	n.settleSize(im)
	n.compactDirty()
}

// failSync is what Linux does when a write-back fails: each page was written or was not, all count
// as clean, and those that were not stay readable until they are evicted.
func (d *Disk) failSync(n *inode, im syncImage) {
	d.counts.FailedSyncs++
	for _, p := range im.pages {
		n.settle(p, d.deaths.Chance(1, 4))
	}
	if d.deaths.Chance(1, 2) {
		n.settleSize(im)
	}
	n.compactDirty()
	wait := d.caching.Delay(d.profile.Evict.Low, d.profile.Evict.High)
	d.scheduler.After(wait, 0, KindDisk, func() {
		if d.evicting != nil {
			d.evicting(n)
		}
		count := n.evictClean()
		d.scheduler.trace.Record(Record{Place: d.place, Kind: KindDisk, What: "evict", A: int64(count)})
	})
}

// Truncate implements env.File.
func (f *file) Truncate(size int64) env.Errno {
	f.check()
	d := f.mount.disk
	cut := func() {
		d.stamp++
		f.node.truncate(size, d.stamp)
	}
	fault := f.mount.call(DiskTruncate, f.path, size, 0, d.profile.Meta, d.perhaps(cut))
	err := fault.failure()
	if err == env.OK {
		cut()
	}
	return f.mount.done(DiskTruncate, f.path, size, 0, err)
}

// Size implements env.File. It takes no time.
func (f *file) Size() (int64, env.Errno) {
	f.check()
	return f.node.size, env.OK
}

// Close implements env.File. It takes no time; a second Close does nothing.
func (f *file) Close() env.Errno {
	f.mount.mustLive()
	f.closed = true
	return env.OK
}
