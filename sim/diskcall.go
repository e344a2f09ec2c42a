package sim

import (
	"slices"

	"stet/core/env"
	"stet/core/invariant"
)

// diskCall is a call in flight.
type diskCall struct {
	owner Owner
	// interrupt leaves what a death in the middle of the call leaves of its effect.
	interrupt func()
}

// Mount returns the disk as the processes of one owner see it. When the owner dies, its calls in
// flight leave what they leave, and no call of it has an effect any more.
func (d *Disk) Mount(owner Owner) env.Disk {
	d.scheduler.AtDeath(owner, func(Cause) { d.interruptAll(owner) })
	return &mount{d, owner}
}

// interruptAll ends the calls of an owner that are in flight, in the order of their submission.
func (d *Disk) interruptAll(owner Owner) {
	var rest []*diskCall
	for _, c := range d.inflight {
		if c.owner == owner {
			c.interrupt()
		} else {
			rest = append(rest, c)
		}
	}
	d.inflight = rest
}

// mount implements env.Disk for one owner.
type mount struct {
	disk  *Disk
	owner Owner
}

// Undigested keeps a node's digest from walking into the world.
func (m *mount) Undigested() {}

// call submits a call, waits for its time, and returns the plan's verdict. The effect is the
// caller's to make, at once; interrupt is its part when the owner dies before.
func (m *mount) call(k DiskOpKind, p env.Path, off, length int64, took Interval,
	interrupt func(),
) DiskFault {
	d := m.disk
	m.mustLive()
	fault := d.judge(DiskOp{d.place, p, k, d.ordinal(p, k), off, length})
	d.counts.Calls++
	delay := d.timing[k].Delay(took.Low, took.High)
	if d.scheduler.Now() < d.slowUntil {
		delay += d.slowBy
	}
	switch fault.Kind {
	case DiskSlow:
		delay += fault.Delay
	case DiskKillDuring:
		d.strike(delay, Killed)
	case DiskPowerDuring:
		d.strike(delay, PowerLost)
	}
	c := &diskCall{m.owner, interrupt}
	d.inflight = append(d.inflight, c)
	d.scheduler.Await(delay)
	i := slices.Index(d.inflight, c)
	invariant.Always(i >= 0, "a call that completes was in flight")
	d.inflight = slices.Delete(d.inflight, i, i+1)
	return fault
}

// strike has the machine die in the course of a call that takes the given time.
func (d *Disk) strike(within Time, cause Cause) {
	at := d.deaths.Delay(0, max(0, within-1))
	d.scheduler.After(at, 0, KindCrash, func() { d.Strike(cause) })
}

// mustLive unwinds a task whose owner is dead.
func (m *mount) mustLive() {
	if t := m.disk.scheduler.Current(); t != nil && t.killed {
		t.crash()
	}
	invariant.Always(m.disk.scheduler.Alive(m.owner), "a dead process calls its disk")
}

// done records a completed call and returns its error.
func (m *mount) done(k DiskOpKind, p env.Path, off, n int64, err env.Errno) env.Errno {
	m.disk.scheduler.trace.Record(Record{
		Place: m.disk.place, Kind: KindDisk, What: k.String(), Detail: pathOf(p),
		A: off, B: n, C: int64(err),
	})
	return err
}

// perhaps runs f in half of the cases: an operation that is all or nothing, cut by a death.
func (d *Disk) perhaps(f func()) func() {
	return func() {
		if d.deaths.Chance(1, 2) {
			f()
		}
	}
}

// failure turns a fault into the error of a call that is all or nothing.
func (f DiskFault) failure() env.Errno {
	switch f.Kind {
	case DiskEIO:
		return env.EIO
	case DiskFull:
		return env.ENOSPC
	}
	return env.OK
}

// Open implements env.Disk.
func (m *mount) Open(p env.Path, flag env.OpenFlag) (env.File, env.Errno) {
	m.mustLive()
	kind := DiskOpen
	if flag == env.OpenCreate || flag == env.OpenOrNew && m.disk.lookup(p) == nil {
		kind = DiskCreate
	}
	var n *inode
	var err env.Errno
	open := func() { n, err = m.disk.open(p, flag) }
	fault := m.call(kind, p, 0, 0, m.disk.profile.Meta, m.disk.perhaps(open))
	if err = fault.failure(); err == env.OK {
		open()
	}
	if m.done(kind, p, 0, 0, err) != env.OK {
		return nil, err
	}
	return &file{mount: m, path: p, node: n, writable: flag != env.OpenRead}, env.OK
}

// open finds or creates a file.
func (d *Disk) open(p env.Path, flag env.OpenFlag) (*inode, env.Errno) {
	dir, name := d.parent(p)
	if dir == nil {
		return nil, env.ENOENT
	}
	n := dir.names[name]
	switch {
	case name == "" || n != nil && n.isDir:
		return nil, env.EOther
	case n != nil && flag == env.OpenCreate:
		return nil, env.EEXIST
	case n == nil && (flag == env.OpenRead || flag == env.OpenWrite):
		return nil, env.ENOENT
	case n != nil:
		return n, env.OK
	}
	n = &inode{id: d.nextInode()}
	d.change("create "+name, entrySet{entryKey{dir, name}, n})
	return n, env.OK
}

// Rename implements env.Disk.
func (m *mount) Rename(from, to env.Path) env.Errno {
	err := env.OK
	rename := func() { err = m.disk.rename(from, to) }
	fault := m.call(DiskRename, from, 0, 0, m.disk.profile.Meta, m.disk.perhaps(rename))
	if err = fault.failure(); err == env.OK {
		rename()
	}
	m.done(DiskRename, to, 0, 0, err)
	return m.done(DiskRename, from, 0, 0, err)
}

func (d *Disk) rename(from, to env.Path) env.Errno {
	oldDir, oldName := d.parent(from)
	newDir, newName := d.parent(to)
	if oldDir == nil || newDir == nil || from.Dir != to.Dir || oldDir.names[oldName] == nil {
		return env.ENOENT
	}
	n := oldDir.names[oldName]
	replaced := newDir.names[newName]
	switch {
	case n == replaced:
		return env.OK
	case newName == "":
		return env.EOther
	case replaced != nil && (replaced.isDir != n.isDir || len(replaced.names) > 0):
		return env.EEXIST
	}
	d.change("rename "+oldName+" "+newName,
		entrySet{entryKey{oldDir, oldName}, nil}, entrySet{entryKey{newDir, newName}, n})
	return env.OK
}

// Remove implements env.Disk.
func (m *mount) Remove(p env.Path) env.Errno {
	err := env.OK
	remove := func() { err = m.disk.remove(p) }
	fault := m.call(DiskRemove, p, 0, 0, m.disk.profile.Meta, m.disk.perhaps(remove))
	if err = fault.failure(); err == env.OK {
		remove()
	}
	return m.done(DiskRemove, p, 0, 0, err)
}

func (d *Disk) remove(p env.Path) env.Errno {
	dir, name := d.parent(p)
	if dir == nil || dir.names[name] == nil {
		return env.ENOENT
	}
	if len(dir.names[name].names) > 0 {
		return env.EEXIST // POSIX: ENOTEMPTY or EEXIST
	}
	d.change("remove "+name, entrySet{entryKey{dir, name}, nil})
	return env.OK
}

// Mkdir implements env.Disk.
func (m *mount) Mkdir(p env.Path) env.Errno {
	err := env.OK
	mkdir := func() { err = m.disk.mkdir(p) }
	fault := m.call(DiskMkdir, p, 0, 0, m.disk.profile.Meta, m.disk.perhaps(mkdir))
	if err = fault.failure(); err == env.OK {
		mkdir()
	}
	return m.done(DiskMkdir, p, 0, 0, err)
}

func (d *Disk) mkdir(p env.Path) env.Errno {
	dir, name := d.parent(p)
	switch {
	case dir == nil:
		return env.ENOENT
	case name == "" || dir.names[name] != nil:
		return env.EEXIST
	}
	d.change("mkdir "+name, entrySet{entryKey{dir, name}, newDir(d.nextInode())})
	return env.OK
}

// List implements env.Disk.
func (m *mount) List(p env.Path) ([]env.DirEntry, env.Errno) {
	fault := m.call(DiskList, p, 0, 0, m.disk.profile.Meta, func() {})
	if err := fault.failure(); err != env.OK {
		return nil, m.done(DiskList, p, 0, 0, err)
	}
	dir := m.disk.lookup(p)
	if dir == nil || !dir.isDir {
		return nil, m.done(DiskList, p, 0, 0, env.ENOENT)
	}
	entries := dir.entries()
	m.done(DiskList, p, 0, int64(len(entries)), env.OK)
	return entries, env.OK
}

func (n *inode) entries() []env.DirEntry {
	var out []env.DirEntry
	for _, name := range sortedNames(n.names) {
		child := n.names[name]
		out = append(out, env.DirEntry{Name: name, Dir: child.isDir, Size: child.size})
	}
	return out
}

// SyncDir implements env.Disk.
func (m *mount) SyncDir(p env.Path) env.Errno {
	d := m.disk
	m.mustLive()
	dir, submitted := d.lookup(p), d.stamp
	commit := func() {
		if dir != nil && dir.isDir {
			d.commitDir(dir, submitted)
		}
	}
	fault := m.call(DiskSyncDir, p, 0, 0, d.profile.Sync, d.perhaps(commit))
	d.counts.DirSyncs++
	err := fault.failure()
	switch {
	case dir == nil || !dir.isDir:
		err = env.ENOENT
	case err == env.OK:
		commit()
	}
	return m.done(DiskSyncDir, p, 0, 0, err)
}
