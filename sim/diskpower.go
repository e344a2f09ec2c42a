package sim

import (
	"fmt"
	"maps"
	"strings"

	"stet/core/invariant"
)

// sectorCount is the number of sectors of a page.
const sectorCount = PageSize / SectorSize

// SectorFate is what power loss leaves of a sector that was not durable.
type SectorFate uint8

const (
	SectorOld     SectorFate = iota // what the medium had
	SectorNew                       // what the cache had
	SectorGarbage                   // neither; only where the medium had nothing
)

// PageFate is what power loss leaves of a page, sector by sector. The zero value drops the page.
type PageFate [sectorCount]SectorFate

// Uniform returns the fate of a page that is kept or dropped whole.
func Uniform(f SectorFate) (p PageFate) {
	for i := range p {
		p[i] = f
	}
	return p
}

// String gives one letter a sector: o, n, g; or one for all.
func (p PageFate) String() string {
	var b strings.Builder
	for _, f := range p {
		b.WriteByte("ong"[f])
	}
	if p == Uniform(p[0]) {
		return b.String()[:1]
	}
	return b.String()
}

// UnsyncedFile describes a file when the power goes.
type UnsyncedFile struct {
	Name        string // from the data directory, as the medium will know it
	DurableSize int64
	CachedSize  int64
	Dirty       []int // pages that no sync made durable, ascending
}

// PowerFates decides what power loss leaves. It is asked for each chain of directory changes in
// the order of their beginnings, then for each file that is left, in the order of names: first
// Size, then Page for each dirty page, ascending.
type PowerFates interface {
	// Kept returns how many of the changes, which build on each other, became durable.
	Kept(changes []string) int
	// Size returns the size that became durable.
	Size(f UnsyncedFile) int64
	// Page returns what became of a dirty page.
	Page(f UnsyncedFile, index int) PageFate
}

// PowerLoss takes away what was not durable. Every process on the disk must be dead.
//
// Names: of each chain of changes a prefix is kept. Files: each dirty page is kept, dropped or
// torn by sectors, and the size is another matter: it may be the durable one, the cached one, or
// one in between, whatever pages are kept. What lies inside the size and was not kept reads as it
// did before, or zeros.
func (d *Disk) PowerLoss(fates PowerFates) {
	invariant.Always(len(d.inflight) == 0, "power loss comes after the death of the processes")
	d.counts.PowerLosses++
	d.losePowerOnNames(fates)
	for i, root := range d.roots {
		root.forgetNames()
		root.walk("", func(name string, n *inode) {
			if !n.isDir {
				d.losePowerOnFile(rootName(i)+name, n, fates)
			}
		})
	}
}

func rootName(dir int) string {
	if dir == 0 {
		return ""
	}
	return itoa(int64(dir)) + ":"
}

func (d *Disk) losePowerOnNames(fates PowerFates) {
	for _, chain := range d.chains() {
		names := make([]string, len(chain))
		for i := range chain {
			names[i] = chain[i].what
		}
		kept := fates.Kept(names)
		invariant.Always(kept >= 0 && kept <= len(chain), "a prefix of a chain is kept")
		for i := range chain[:kept] {
			chain[i].commit()
		}
		d.counts.EntriesDropped += uint64(len(chain) - kept)
		if kept < len(chain) {
			d.recordLoss(strings.Join(names, ", "), fmt.Sprintf("%d of %d kept", kept, len(chain)))
		}
	}
	d.changes = nil
}

// forgetNames makes the names of a directory, and of all below it, those of the medium.
func (n *inode) forgetNames() {
	n.names = maps.Clone(n.mediumNames)
	for _, name := range sortedNames(n.names) {
		if child := n.names[name]; child.isDir {
			child.forgetNames()
		}
	}
}

func (d *Disk) recordLoss(target, detail string) {
	d.faults.Add(Fault{
		At: d.scheduler.Now(), Place: d.place, What: "power loss", Target: target, Detail: detail,
	})
}

func (d *Disk) losePowerOnFile(name string, n *inode, fates PowerFates) {
	state := UnsyncedFile{Name: name, DurableSize: n.mediumSize, CachedSize: n.size}
	for i := range n.slots {
		if n.slots[i].dirty {
			state.Dirty = append(state.Dirty, i)
		}
	}
	if len(state.Dirty) > 0 || n.size != n.mediumSize {
		d.losePages(n, state, fates)
	}
	n.evictClean()
	n.dirty = nil
	n.size = n.mediumSize
}

// losePages settles the size and the dirty pages of a file.
func (d *Disk) losePages(n *inode, state UnsyncedFile, fates PowerFates) {
	size := fates.Size(state)
	low, high := min(state.DurableSize, state.CachedSize), max(state.DurableSize, state.CachedSize)
	invariant.Always(size >= low && size <= high, "a size lies between the durable and the cached")
	var detail strings.Builder
	fmt.Fprintf(&detail, "size %d of %d, pages", size, state.CachedSize)
	d.stamp++
	for _, i := range state.Dirty {
		fate := fates.Page(state, i)
		d.countFate(fate)
		fmt.Fprintf(&detail, " %d:%s", i, fate)
		s := &n.slots[i]
		s.medium = d.mix(s, i, state.DurableSize, fate)
		s.mediumStamp, s.dirty = d.stamp, false
	}
	n.mediumSize, n.sizeStamp = size, d.stamp
	n.cutMedium(size)
	d.recordLoss(state.Name, detail.String())
}

func (d *Disk) countFate(f PageFate) {
	switch f {
	case Uniform(SectorOld):
		d.counts.PagesDropped++
	case Uniform(SectorNew):
	default:
		d.counts.PagesTorn++
	}
}

// mix puts a page together from the sectors of the medium, of the cache, and garbage.
func (d *Disk) mix(s *slot, index int, durable int64, fate PageFate) *page {
	switch fate {
	case Uniform(SectorOld):
		return s.medium
	case Uniform(SectorNew):
		return freeze(s.cache)
	}
	mixed := &page{frozen: true}
	for i, f := range fate {
		from, to := i*SectorSize, (i+1)*SectorSize
		source := s.medium
		if f == SectorNew {
			source = s.cache
		}
		if source != nil {
			copy(mixed.data[from:to], source.data[from:to])
		}
		// A sector is written whole or not at all, so what was durable in it can not turn into
		// garbage: the sector before a torn one survives, and so does a half-filled one.
		empty := s.medium == nil || int64(index)*PageSize+int64(from) >= durable
		if f == SectorGarbage && empty {
			_, _ = d.deaths.Read(mixed.data[from:to])
		}
	}
	return mixed
}

// cutMedium drops what the medium has behind a size.
func (n *inode) cutMedium(size int64) {
	for i := pageCount(size); i < len(n.slots); i++ {
		n.slots[i].medium = nil
	}
	within := size % PageSize
	if i := int(size / PageSize); within != 0 && i < len(n.slots) && n.slots[i].medium != nil {
		cut := &page{data: n.slots[i].medium.data, frozen: true}
		clear(cut.data[within:])
		n.slots[i].medium = cut
	}
}
