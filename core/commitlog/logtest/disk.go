// Package logtest is a small world for tests of logs: a disk in memory that can lose power or be
// cut off between two operations, and a performer of effects that runs them one at a time, in any
// order that the law of effects allows.
//
// It is simpler than the simulator: no time passes, and nothing is measured. Same random stream,
// same run.
package logtest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"stet/core/env"
)

// Crashed is what an operation of a disk panics with when its fuse has burned down.
type Crashed struct{}

// Disk is an env.Disk in memory. It is for one goroutine.
type Disk struct {
	rand *rand.Rand
	root *node

	// Fuse is the number of operations until the disk panics with Crashed; negative for never. A
	// write that is hit may store a part first.
	Fuse int
	// Operations counts all operations.
	Operations int
	// OpenFiles lists the names of the files that are open, a name for each time.
	OpenFiles []string
	// Fail, if set, may let an operation fail before it does anything.
	Fail func(op, name string) env.Errno
}

// node is a file or a directory.
type node struct {
	dir      bool
	children map[string]*node
	// history holds what a power loss may leave of children: the durable entries and the states
	// since, the newest last.
	history []map[string]*node

	data   []byte
	synced []byte
}

// NewDisk returns an empty disk whose faults are drawn from r.
func NewDisk(r *rand.Rand) *Disk { return &Disk{rand: r, root: newDir(), Fuse: -1} }

func newDir() *node {
	return &node{dir: true, children: map[string]*node{}, history: []map[string]*node{{}}}
}

func (d *Disk) enter(op, name string) env.Errno {
	d.burn()
	if d.Fail != nil {
		return d.Fail(op, name)
	}
	return env.OK
}

func (d *Disk) burn() {
	d.Operations++
	if d.Fuse == 0 {
		panic(Crashed{})
	}
	if d.Fuse > 0 {
		d.Fuse--
	}
}

func (d *Disk) find(name string) *node {
	n := d.root
	if name == "" {
		return n
	}
	for part := range strings.SplitSeq(name, "/") {
		if n == nil || !n.dir {
			return nil
		}
		n = n.children[part]
	}
	return n
}

func (d *Disk) parent(p env.Path) (*node, string) {
	return d.find(p.Parent().Name), p.Name[strings.LastIndexByte(p.Name, '/')+1:]
}

// change records a new state of a directory's entries.
func (n *node) change(edit func(map[string]*node)) {
	edit(n.children)
	n.history = append(n.history, maps.Clone(n.children))
}

// Open opens a file.
func (d *Disk) Open(p env.Path, flag env.OpenFlag) (env.File, env.Errno) {
	if err := d.enter("open", p.Name); err != env.OK {
		return nil, err
	}
	n := d.find(p.Name)
	parent, name := d.parent(p)
	switch {
	case parent == nil:
		return nil, env.ENOENT
	case n == nil && (flag == env.OpenRead || flag == env.OpenWrite):
		return nil, env.ENOENT
	case n != nil && flag == env.OpenCreate:
		return nil, env.EEXIST
	case n != nil && n.dir:
		return nil, env.EOther
	case n == nil:
		n = &node{}
		parent.change(func(m map[string]*node) { m[name] = n })
	}
	d.OpenFiles = append(d.OpenFiles, p.Name)
	return &file{d, n, p.Name}, env.OK
}

// Rename renames a file or directory within its directory.
func (d *Disk) Rename(from, to env.Path) env.Errno {
	if err := d.enter("rename", from.Name); err != env.OK {
		return err
	}
	n := d.find(from.Name)
	parent, name := d.parent(from)
	if n == nil || from.Parent() != to.Parent() {
		return env.ENOENT
	}
	_, target := d.parent(to)
	parent.change(func(m map[string]*node) {
		delete(m, name)
		m[target] = n
	})
	return env.OK
}

// Remove removes a file or an empty directory.
func (d *Disk) Remove(p env.Path) env.Errno {
	if err := d.enter("remove", p.Name); err != env.OK {
		return err
	}
	n := d.find(p.Name)
	if n == nil {
		return env.ENOENT
	}
	if len(n.children) > 0 {
		return env.EOther
	}
	parent, name := d.parent(p)
	parent.change(func(m map[string]*node) { delete(m, name) })
	return env.OK
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(p env.Path) env.Errno {
	if err := d.enter("mkdir", p.Name); err != env.OK {
		return err
	}
	if d.find(p.Name) != nil {
		return env.EEXIST
	}
	parent, name := d.parent(p)
	if parent == nil {
		return env.ENOENT
	}
	parent.change(func(m map[string]*node) { m[name] = newDir() })
	return env.OK
}

// List lists a directory.
func (d *Disk) List(p env.Path) ([]env.DirEntry, env.Errno) {
	if err := d.enter("list", p.Name); err != env.OK {
		return nil, err
	}
	n := d.find(p.Name)
	if n == nil || !n.dir {
		return nil, env.ENOENT
	}
	entries := make([]env.DirEntry, 0, len(n.children))
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		c := n.children[name]
		entries = append(entries, env.DirEntry{Name: name, Dir: c.dir, Size: int64(len(c.data))})
	}
	return entries, env.OK
}

// SyncDir makes the entries of a directory durable.
func (d *Disk) SyncDir(p env.Path) env.Errno {
	if err := d.enter("syncdir", p.Name); err != env.OK {
		return err
	}
	n := d.find(p.Name)
	if n == nil || !n.dir {
		return env.ENOENT
	}
	n.history = []map[string]*node{maps.Clone(n.children)}
	return env.OK
}

// Content returns the bytes of a file, without counting as an operation, or nil.
func (d *Disk) Content(name string) []byte {
	if n := d.find(name); n != nil && !n.dir {
		return slices.Clone(n.data)
	}
	return nil
}

// SetContent gives a file this content durably, as an operator's hand would.
func (d *Disk) SetContent(name string, content []byte) {
	parent, last := d.parent(env.Path{Name: name})
	parent.change(func(m map[string]*node) {
		m[last] = &node{data: slices.Clone(content), synced: slices.Clone(content)}
	})
	parent.history = []map[string]*node{maps.Clone(parent.children)}
}

// Names lists a directory without counting as an operation.
func (d *Disk) Names(name string) []string {
	if n := d.find(name); n != nil {
		return slices.Sorted(maps.Keys(n.children))
	}
	return nil
}
