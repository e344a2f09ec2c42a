package sim

import (
	"maps"
	"slices"
	"strings"

	"stet/core/env"
)

// A directory's entries are durable only after a sync of that directory. Changes that no sync has
// covered wait in a list, in their order. Each sets names: creating and removing set one, renaming
// sets two at once (ext4 journals a rename as one transaction, so after a crash a file has its old
// name or its new one, never both and never none). Changes that share a name form a chain, of
// which power loss keeps some prefix; chains are independent of each other. That is weaker than
// ext4, which commits its journal in order across directories, and what POSIX lets one hope for.

// entryKey is a name in a directory.
type entryKey struct {
	dir  *inode
	name string
}

// entrySet makes a name stand for an inode, or for nothing.
type entrySet struct {
	entryKey
	node *inode
}

// dirChange is a change of names that is not durable.
type dirChange struct {
	seq  uint64
	what string // for reports
	sets []entrySet
}

func newDir(id uint64) *inode {
	return &inode{id: id, isDir: true, names: map[string]*inode{}, mediumNames: map[string]*inode{}}
}

// sortedNames lists names in order.
func sortedNames(names map[string]*inode) []string {
	return slices.Sorted(maps.Keys(names))
}

func copyNames(names map[string]*inode, seen map[*inode]*inode) map[string]*inode {
	if names == nil {
		return nil
	}
	c := make(map[string]*inode, len(names))
	for _, name := range sortedNames(names) {
		c[name] = names[name].copyTo(seen)
	}
	return c
}

// lookup finds what p names, nil if nothing.
func (d *Disk) lookup(p env.Path) *inode {
	dir, name := d.parent(p)
	switch {
	case dir == nil:
		return nil
	case name == "":
		return dir
	}
	return dir.names[name]
}

// parent finds the directory of p and the last part of its name. A data directory has the empty
// name in itself. The directory is nil if there is none.
func (d *Disk) parent(p env.Path) (dir *inode, name string) {
	if int(p.Dir) >= len(d.roots) {
		return nil, ""
	}
	dir, rest := d.roots[p.Dir], p.Name
	for {
		first, more, deeper := strings.Cut(rest, "/")
		if !deeper {
			return dir, first
		}
		dir = dir.names[first]
		if dir == nil || !dir.isDir {
			return nil, ""
		}
		rest = more
	}
}

// change sets names in the cache and remembers that the medium does not know yet.
func (d *Disk) change(what string, sets ...entrySet) {
	for _, s := range sets {
		setName(s.dir.names, s.name, s.node)
	}
	d.stamp++
	d.changes = append(d.changes, dirChange{d.stamp, what, sets})
}

func setName(names map[string]*inode, name string, n *inode) {
	if n == nil {
		delete(names, name)
	} else {
		names[name] = n
	}
}

// commit makes a change durable.
func (c *dirChange) commit() {
	for _, s := range c.sets {
		setName(s.dir.mediumNames, s.name, s.node)
	}
}

func (c *dirChange) touchesAny(keys map[entryKey]bool) bool {
	return slices.ContainsFunc(c.sets, func(s entrySet) bool { return keys[s.entryKey] })
}

func (c *dirChange) addKeys(keys map[entryKey]bool) {
	for _, s := range c.sets {
		keys[s.entryKey] = true
	}
}

// commitDir makes durable what was changed in dir up to the stamp, and what it builds on.
func (d *Disk) commitDir(dir *inode, stamp uint64) {
	needed := map[entryKey]bool{}
	take := make([]bool, len(d.changes))
	for i := len(d.changes) - 1; i >= 0; i-- {
		c := &d.changes[i]
		inDir := slices.ContainsFunc(c.sets, func(s entrySet) bool { return s.dir == dir })
		if c.seq <= stamp && (inDir || c.touchesAny(needed)) {
			take[i] = true
			c.addKeys(needed)
		}
	}
	rest := d.changes[:0]
	for i := range d.changes {
		if take[i] {
			d.changes[i].commit()
		} else {
			rest = append(rest, d.changes[i])
		}
	}
	clear(d.changes[len(rest):])
	d.changes = rest
}

// chains groups the changes that wait by the names they share, in the order of their beginnings.
func (d *Disk) chains() [][]dirChange {
	type chain struct {
		keys    map[entryKey]bool
		changes []dirChange
	}
	var all []*chain
	for _, c := range d.changes {
		joined := &chain{keys: map[entryKey]bool{}}
		var rest []*chain
		place := -1
		for _, other := range all {
			if !c.touchesAny(other.keys) {
				rest = append(rest, other)
				continue
			}
			if place < 0 {
				place = len(rest)
			}
			maps.Copy(joined.keys, other.keys)
			joined.changes = append(joined.changes, other.changes...)
		}
		slices.SortFunc(joined.changes, func(a, b dirChange) int { return int(a.seq) - int(b.seq) })
		joined.changes = append(joined.changes, c)
		c.addKeys(joined.keys)
		if place < 0 {
			place = len(rest)
		}
		all = slices.Insert(rest, place, joined)
	}
	out := make([][]dirChange, len(all))
	for i, c := range all {
		out[i] = c.changes
	}
	return out
}
