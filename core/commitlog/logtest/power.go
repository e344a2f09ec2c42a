package logtest

import (
	"maps"
	"slices"
)

// sectorBytes is what a power loss keeps or drops as a whole.
const sectorBytes = 512

// LosePower leaves what a power loss may: of each directory a state between its last sync and
// now, of each file the synced bytes and any subset of the sectors written since, with any size
// in between.
func (d *Disk) LosePower() {
	d.Fuse = -1
	d.loseIn(d.root)
}

func (d *Disk) loseIn(n *node) {
	if !n.dir {
		d.loseFile(n)
		return
	}
	n.children = maps.Clone(n.history[d.rand.IntN(len(n.history))])
	n.history = []map[string]*node{maps.Clone(n.children)}
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		d.loseIn(n.children[name])
	}
}

func (d *Disk) loseFile(n *node) {
	if slices.Equal(n.data, n.synced) {
		return
	}
	size := len(n.synced)
	if grown := len(n.data) - size; grown != 0 {
		size = min(size, len(n.data)) + d.rand.IntN(max(grown, -grown)+1)
		if d.rand.IntN(2) == 0 {
			size = len(n.data)
		}
	}
	left := make([]byte, size)
	copy(left, n.synced)
	keepAll := d.rand.IntN(4) == 0
	for at := 0; at < size; at += sectorBytes {
		end := min(at+sectorBytes, size)
		if at < len(n.data) && (keepAll || d.rand.IntN(2) == 0) {
			copy(left[at:end], n.data[at:])
		}
	}
	n.data, n.synced = left, slices.Clone(left)
}

// Kill leaves what the kill of a process leaves: every completed operation.
func (d *Disk) Kill() { d.Fuse = -1 }
