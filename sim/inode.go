package sim

import (
	"slices"

	"stet/core/invariant"
)

// Sizes of what a disk keeps or loses as one.
const (
	PageSize   = 4096 // of the page cache
	SectorSize = 512  // of the medium
)

// page is the content of one page. A frozen page is shared between the cache, the medium, a sync
// in flight or a copy of the disk, and is copied before it is changed.
type page struct {
	data   [PageSize]byte
	frozen bool
}

// freeze marks p as shared and returns it.
func freeze(p *page) *page {
	if p != nil {
		p.frozen = true
	}
	return p
}

// slot is one page of a file as the cache has it and as the medium has it; nil reads zeros. Stamps
// order the contents, so that a sync that completes late does not undo a newer one.
type slot struct {
	cache, medium           *page
	cacheStamp, mediumStamp uint64
	dirty                   bool // the next sync will write it
}

// inode is a file or a directory. Directory content is in dirs.go.
type inode struct {
	id    uint64
	isDir bool

	// Of a file.
	slots      []slot
	dirty      []int // indexes of slots that are dirty
	size       int64 // as the cache has it
	mediumSize int64
	sizeStamp  uint64 // of mediumSize
	unreadable []int64
	cachePages int64 // pages that the cache holds, for the capacity

	// Of a directory: names as the cache has them and as the medium has them.
	names, mediumNames map[string]*inode
}

func pageCount(bytes int64) int { return int((bytes + PageSize - 1) / PageSize) }

// touch returns the cache's page i, private and dirty, for a change with the given stamp.
func (n *inode) touch(i int, stamp uint64) *page {
	for len(n.slots) <= i {
		n.slots = append(n.slots, slot{})
	}
	s := &n.slots[i]
	switch {
	case s.cache == nil:
		s.cache = new(page)
		n.cachePages++
	case s.cache.frozen:
		s.cache = &page{data: s.cache.data}
	}
	n.markDirty(i, stamp)
	return s.cache
}

func (n *inode) markDirty(i int, stamp uint64) {
	s := &n.slots[i]
	s.cacheStamp = stamp
	if !s.dirty {
		s.dirty = true
		n.dirty = append(n.dirty, i)
	}
}

// write stores p at off in the cache.
func (n *inode) write(p []byte, off int64, stamp uint64) {
	if len(p) == 0 {
		return
	}
	n.heal(off, int64(len(p)))
	end := off + int64(len(p))
	for len(p) > 0 {
		within := int(off % PageSize)
		part := min(len(p), PageSize-within)
		copy(n.touch(int(off/PageSize), stamp).data[within:], p[:part])
		p, off = p[part:], off+int64(part)
	}
	n.size = max(n.size, end)
}

// newPages returns how many pages a write of [off, off+length) would allocate.
func (n *inode) newPages(off, length int64) (count int64) {
	for i := int(off / PageSize); i < pageCount(off+length); i++ {
		if i >= len(n.slots) || n.slots[i].cache == nil {
			count++
		}
	}
	return count
}

// read fills p from off as the cache has it and returns how much lies before the end.
func (n *inode) read(p []byte, off int64) int {
	return readPages(p, off, n.size, func(i int) *page {
		if i < len(n.slots) {
			return n.slots[i].cache
		}
		return nil
	})
}

// readMedium is read of what is durable.
func (n *inode) readMedium(p []byte, off int64) int {
	return readPages(p, off, n.mediumSize, func(i int) *page {
		if i < len(n.slots) {
			return n.slots[i].medium
		}
		return nil
	})
}

func readPages(p []byte, off, size int64, at func(i int) *page) int {
	if off >= size {
		return 0
	}
	total := int(min(int64(len(p)), size-off))
	p = p[:total]
	for len(p) > 0 {
		within := int(off % PageSize)
		part := min(len(p), PageSize-within)
		if pg := at(int(off / PageSize)); pg != nil {
			copy(p[:part], pg.data[within:])
		} else {
			clear(p[:part])
		}
		p, off = p[part:], off+int64(part)
	}
	return total
}

// truncate sets the size in the cache. What is cut off is gone; what is added reads zeros.
func (n *inode) truncate(size int64, stamp uint64) {
	if size < n.size {
		for i := pageCount(size); i < len(n.slots); i++ {
			s := &n.slots[i]
			if s.cache != nil || s.medium != nil {
				if s.cache != nil {
					n.cachePages--
				}
				s.cache = nil
				n.markDirty(i, stamp)
			}
		}
		if within := size % PageSize; within != 0 {
			if i := int(size / PageSize); i < len(n.slots) && n.slots[i].cache != nil {
				clear(n.touch(i, stamp).data[within:])
			}
		}
	}
	n.size = size
}

// syncImage is what a sync will make durable: the file as it was when the sync was submitted.
type syncImage struct {
	pages []syncPage
	size  int64
	stamp uint64
}

type syncPage struct {
	index int
	page  *page
	stamp uint64
}

// image freezes what is dirty now.
func (n *inode) image(stamp uint64) syncImage {
	im := syncImage{size: n.size, stamp: stamp}
	for _, i := range n.dirty {
		s := &n.slots[i]
		im.pages = append(im.pages, syncPage{i, freeze(s.cache), s.cacheStamp})
	}
	return im
}

// settle makes one page of an image durable if keep says so. In any case the page counts as clean
// unless it was changed since: that is what a failed sync leaves behind.
func (n *inode) settle(p syncPage, keep bool) {
	s := &n.slots[p.index]
	if keep && p.stamp > s.mediumStamp {
		s.medium, s.mediumStamp = p.page, p.stamp
	}
	if s.cacheStamp == p.stamp {
		s.dirty = false
	}
}

// settleSize makes the size of an image durable.
func (n *inode) settleSize(im syncImage) {
	if im.stamp > n.sizeStamp {
		n.mediumSize, n.sizeStamp = im.size, im.stamp
	}
}

// compactDirty drops the indexes of slots that are clean again.
func (n *inode) compactDirty() {
	n.dirty = slices.DeleteFunc(n.dirty, func(i int) bool { return !n.slots[i].dirty })
}

// writeBack makes dirty page i durable by itself, as the kernel does whenever it likes.
func (n *inode) writeBack(i int) {
	s := &n.slots[i]
	invariant.Always(s.dirty, "only a dirty page is written back")
	n.settle(syncPage{i, freeze(s.cache), s.cacheStamp}, true)
	n.compactDirty()
}

// evictClean drops from the cache what is clean there and differs from the medium: pages that a
// failed sync lost become visible as lost. It returns how many there were.
func (n *inode) evictClean() (count int) {
	for i := range n.slots {
		s := &n.slots[i]
		if s.dirty || s.cache == s.medium {
			continue
		}
		n.setCache(i, freeze(s.medium))
		s.cacheStamp = s.mediumStamp
		count++
	}
	return count
}

func (n *inode) setCache(i int, p *page) {
	s := &n.slots[i]
	if s.cache != nil {
		n.cachePages--
	}
	if p != nil {
		n.cachePages++
	}
	s.cache = p
}

// flip inverts a bit in the cache and on the medium, where it stays.
func (n *inode) flip(off int64, bit uint) bool {
	i := int(off / PageSize)
	if off >= n.size || i >= len(n.slots) || n.slots[i].cache == nil {
		return false
	}
	s := &n.slots[i]
	mask := byte(1) << (bit & 7)
	same := s.medium == s.cache
	flipped := &page{data: s.cache.data}
	flipped.data[off%PageSize] ^= mask
	s.cache = flipped
	switch {
	case same:
		s.medium = freeze(flipped)
	case s.medium != nil:
		medium := &page{data: s.medium.data, frozen: true}
		medium.data[off%PageSize] ^= mask
		s.medium = medium
	}
	return true
}

// failReads makes the sector of off unreadable until it is written again.
func (n *inode) failReads(off int64) {
	sector := off / SectorSize
	if i, found := slices.BinarySearch(n.unreadable, sector); !found {
		n.unreadable = slices.Insert(n.unreadable, i, sector)
	}
}

// readable says whether [off, off+length) holds no unreadable sector.
func (n *inode) readable(off, length int64) bool {
	i, _ := slices.BinarySearch(n.unreadable, off/SectorSize)
	return length <= 0 || i == len(n.unreadable) || n.unreadable[i] > (off+length-1)/SectorSize
}

// heal makes the sectors that [off, off+length) covers whole readable again.
func (n *inode) heal(off, length int64) {
	if len(n.unreadable) == 0 {
		return
	}
	first, end := (off+SectorSize-1)/SectorSize, (off+length)/SectorSize
	n.unreadable = slices.DeleteFunc(n.unreadable, func(s int64) bool {
		return s >= first && s < end
	})
}

// copyTo adds a deep copy of n, which shares frozen pages, to seen.
func (n *inode) copyTo(seen map[*inode]*inode) *inode {
	if c := seen[n]; c != nil || n == nil {
		return c
	}
	c := new(inode)
	*c = *n
	seen[n] = c
	c.slots = slices.Clone(n.slots)
	for i := range c.slots {
		freeze(c.slots[i].cache)
		freeze(c.slots[i].medium)
	}
	c.dirty, c.unreadable = slices.Clone(n.dirty), slices.Clone(n.unreadable)
	c.names, c.mediumNames = copyNames(n.names, seen), copyNames(n.mediumNames, seen)
	return c
}
