package sim

import (
	"maps"
	"slices"
	"strings"

	"stet/core/env"
)

// The functions here let checkers and tests look at a disk without events, faults or time.

// Bytes returns the content of a file as the cache has it, nil and false if there is none.
func (d *Disk) Bytes(p env.Path) ([]byte, bool) {
	n := d.lookup(p)
	if n == nil || n.isDir {
		return nil, false
	}
	out := make([]byte, n.size)
	n.read(out, 0)
	return out, true
}

// DurableSize returns the size that certainly survives power loss, of a file whose name does.
func (d *Disk) DurableSize(p env.Path) (int64, bool) {
	n := d.lookupDurable(p)
	if n == nil || n.isDir {
		return 0, false
	}
	return n.mediumSize, true
}

// DurableBytes returns what the medium has of a file, nil and false if it does not know the name.
func (d *Disk) DurableBytes(p env.Path) ([]byte, bool) {
	n := d.lookupDurable(p)
	if n == nil || n.isDir {
		return nil, false
	}
	out := make([]byte, n.mediumSize)
	n.readMedium(out, 0)
	return out, true
}

// lookupDurable finds what a name stands for on the medium.
func (d *Disk) lookupDurable(p env.Path) *inode {
	if int(p.Dir) >= len(d.roots) {
		return nil
	}
	n := d.roots[p.Dir]
	if p.Name == "" {
		return n
	}
	for part := range strings.SplitSeq(p.Name, "/") {
		if n == nil || !n.isDir {
			return nil
		}
		n = n.mediumNames[part]
	}
	return n
}

// Entries lists a directory as the cache has it, sorted by name.
func (d *Disk) Entries(p env.Path) []env.DirEntry {
	n := d.lookup(p)
	if n == nil || !n.isDir {
		return nil
	}
	return n.entries()
}

// Files lists the names of all files below a data directory as the cache has it, in order.
func (d *Disk) Files(dir env.DirID) (names []string) {
	d.roots[dir].walk("", func(name string, n *inode) {
		if !n.isDir {
			names = append(names, name)
		}
	})
	return names
}

// UnsyncedFiles lists the files of a data directory that are not durable as they are, or whose
// name is not.
func (d *Disk) UnsyncedFiles(dir env.DirID) (names []string) {
	d.roots[dir].walk("", func(name string, n *inode) {
		durable := d.lookupDurable(env.Path{Dir: dir, Name: name}) == n && n.size == n.mediumSize &&
			!slices.ContainsFunc(n.slots, func(s slot) bool { return s.cache != s.medium })
		if !n.isDir && !durable {
			names = append(names, name)
		}
	})
	return names
}

// Calls returns how many calls of a kind were made on a path.
func (d *Disk) Calls(p env.Path, k DiskOpKind) int { return d.ordinals[opKey{p, k}] }

// InFlight returns how many calls are in flight.
func (d *Disk) InFlight() int { return len(d.inflight) }

// Flip inverts a bit of a file for good, as a medium does that decays. It says false if there is
// nothing at that place.
func (d *Disk) Flip(p env.Path, off int64, bit uint) bool {
	n := d.lookup(p)
	if n == nil || n.isDir || !n.flip(off, bit) {
		return false
	}
	d.faults.Add(Fault{
		At: d.scheduler.Now(), Place: d.place, What: DiskFlip.String(),
		Target: pathOf(p), Detail: "bit " + itoa(int64(bit&7)) + " of byte " + itoa(off),
	})
	return true
}

// FailReads makes the sector of a byte unreadable until it is written again.
func (d *Disk) FailReads(p env.Path, off int64) bool {
	n := d.lookup(p)
	if n == nil || n.isDir || off >= n.size {
		return false
	}
	n.failReads(off)
	d.faults.Add(Fault{
		At: d.scheduler.Now(), Place: d.place, What: DiskLatent.String(),
		Target: pathOf(p), Detail: "byte " + itoa(off),
	})
	return true
}

// Put makes a durable file out of nothing, with its directories: the past of a scenario.
func (d *Disk) Put(p env.Path, content []byte) {
	dir := d.roots[p.Dir]
	parts := strings.Split(p.Name, "/")
	for _, part := range parts[:len(parts)-1] {
		if dir.names[part] == nil {
			sub := newDir(d.nextInode())
			dir.names[part], dir.mediumNames[part] = sub, sub
		}
		dir = dir.names[part]
	}
	n := &inode{id: d.nextInode()}
	d.stamp++
	n.write(content, 0, d.stamp)
	n.complete(n.image(d.stamp))
	name := parts[len(parts)-1]
	dir.names[name], dir.mediumNames[name] = n, n
}

// DurableEntries lists the names that the medium has of a directory, in order.
func (d *Disk) DurableEntries(p env.Path) []string {
	n := d.lookupDurable(p)
	if n == nil || !n.isDir {
		return nil
	}
	return slices.Sorted(maps.Keys(n.mediumNames))
}

// DurableStamp changes whenever the medium changes what it has of a file; 0 if it does not know the
// name. Decay (Flip) leaves it.
func (d *Disk) DurableStamp(p env.Path) uint64 {
	n := d.lookupDurable(p)
	if n == nil || n.isDir {
		return 0
	}
	const prime = 1099511628211
	stamp := (n.id*prime+uint64(n.mediumSize))*prime + n.sizeStamp + 1
	for i := range n.slots {
		stamp = stamp*prime + n.slots[i].mediumStamp
	}
	return stamp
}

// BytesFrom returns the content of a file from an offset on, as the cache has it; nothing if there is
// none.
func (d *Disk) BytesFrom(p env.Path, off int64) []byte {
	n := d.lookup(p)
	if n == nil || n.isDir || off >= n.size {
		return nil
	}
	out := make([]byte, n.size-off)
	n.read(out, off)
	return out
}
