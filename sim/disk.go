package sim

import (
	"strconv"

	"stet/core/env"
)

// Disk is the storage of one machine: files in a page cache above a medium. It survives the death
// of processes; what the cache holds does not survive power loss.
//
// A call takes a drawn time and has its effect at the end of it. A process that dies with a call
// in flight leaves a part of the effect: a prefix of a write, all or nothing of anything else.
// Sync makes durable what the file was when the sync was submitted. The kernel may write back any
// dirty page at any time. Faults come from Plan.
type Disk struct {
	// Plan decides which calls fail. It may be replaced at any time.
	Plan DiskFaults
	// Capacity is how many bytes fit, 0 for no limit. Whole pages count.
	Capacity int64
	// Strike is called when a plan wants the machine to die during a call: the world ends the
	// process, or the machine, there and then.
	Strike func(Cause)

	scheduler *Scheduler
	faults    *FaultLog
	place     Place
	timing    [diskOpCount]*Stream // how long calls take
	deaths    *Stream              // what a death or a failure in the middle of a call leaves
	caching   *Stream              // what is written back and evicted
	profile   DiskProfile
	roots     []*inode
	changes   []dirChange
	inflight  []*diskCall
	ordinals  map[opKey]int
	stamp     uint64
	inodes    uint64
	slowUntil Time
	slowBy    Time
	counts    DiskCounts
	evicting  func(*inode) // told before pages of a file are evicted; nil: nobody
}

// Interval is a range of times that a delay is drawn from, both ends included.
type Interval struct{ Low, High Time }

// DiskProfile is how fast a disk is and what its kernel does unasked.
type DiskProfile struct {
	Read, Write, Sync, Meta Interval
	// A completed write is followed by the write-back of one random dirty page of its file in
	// WriteBack of 256 cases.
	WriteBack uint64
	// Pages that a failed sync lost are evicted after a time from this interval.
	Evict Interval
}

// DefaultDiskProfile is a fast disk with a lively kernel.
func DefaultDiskProfile() DiskProfile {
	return DiskProfile{
		Read:      Interval{1 * Microsecond, 60 * Microsecond},
		Write:     Interval{2 * Microsecond, 80 * Microsecond},
		Sync:      Interval{100 * Microsecond, 4 * Millisecond},
		Meta:      Interval{2 * Microsecond, 200 * Microsecond},
		WriteBack: 24,
		Evict:     Interval{Millisecond, 2 * Second},
	}
}

// DiskCounts is what a disk has done.
type DiskCounts struct {
	Calls, Writes, Reads, Syncs, DirSyncs uint64
	BytesWritten, BytesRead               uint64
	TornInFlight                          uint64 // writes that a death cut
	FailedSyncs                           uint64
	PowerLosses                           uint64
	PagesDropped, PagesTorn               uint64 // by power loss
	EntriesDropped                        uint64
}

// NewDisk returns an empty disk with dirCount data directories.
func NewDisk(s *Scheduler, faults *FaultLog, stream *Stream, p Place, dirCount int) *Disk {
	d := &Disk{
		Plan: NoDiskFaults{}, Strike: func(Cause) {},
		scheduler: s, faults: faults, place: p, profile: DefaultDiskProfile(),
		ordinals: map[opKey]int{},
	}
	for k := range d.timing {
		d.timing[k] = stream.Sub(diskOpNames[k])
	}
	d.deaths, d.caching = stream.Sub("deaths"), stream.Sub("caching")
	for range dirCount {
		d.roots = append(d.roots, newDir(d.nextInode()))
	}
	return d
}

// SetProfile changes how fast the disk is from now on.
func (d *Disk) SetProfile(p DiskProfile) { d.profile = p }

// Slow adds a delay to every call until the given time.
func (d *Disk) Slow(until, by Time) {
	d.slowUntil, d.slowBy = until, by
	d.faults.Add(Fault{
		At: d.scheduler.Now(), Place: d.place, What: "slow disk", Target: "disk",
		Detail: by.String() + " a call until " + until.String(),
	})
}

// Counts returns what the disk has done so far.
func (d *Disk) Counts() DiskCounts { return d.counts }

func (d *Disk) nextInode() uint64 {
	d.inodes++
	return d.inodes
}

// used returns the bytes that the cache's files take, unlinked ones not counted.
func (d *Disk) used() (bytes int64) {
	for _, root := range d.roots {
		root.walk("", func(_ string, n *inode) { bytes += n.cachePages * PageSize })
	}
	return bytes
}

// walk calls f for everything below a directory as the cache has it, in the order of names.
func (n *inode) walk(prefix string, f func(name string, n *inode)) {
	for _, name := range sortedNames(n.names) {
		child := n.names[name]
		f(prefix+name, child)
		if child.isDir {
			child.walk(prefix+name+"/", f)
		}
	}
}

// Clone returns an independent disk with the same content in the cache and on the medium, at a
// scheduler of its own or the same: what a checker recovers without touching the original. Calls
// in flight are not part of it.
func (d *Disk) Clone(s *Scheduler, faults *FaultLog, stream *Stream) *Disk {
	c := NewDisk(s, faults, stream, d.place, 0)
	c.profile, c.Capacity, c.stamp, c.inodes = d.profile, d.Capacity, d.stamp, d.inodes
	seen := map[*inode]*inode{}
	for _, root := range d.roots {
		c.roots = append(c.roots, root.copyTo(seen))
	}
	for _, change := range d.changes {
		sets := make([]entrySet, len(change.sets))
		for i, set := range change.sets {
			sets[i] = entrySet{entryKey{set.dir.copyTo(seen), set.name}, set.node.copyTo(seen)}
		}
		c.changes = append(c.changes, dirChange{change.seq, change.what, sets})
	}
	return c
}

// Replace gives the disk the content of another one, which must not be used any more: a disk that
// was restored from an old copy, or a new one. No process may be running on it.
func (d *Disk) Replace(other *Disk) {
	d.roots, d.changes = other.roots, other.changes
	d.stamp, d.inodes = max(d.stamp, other.stamp), max(d.inodes, other.inodes)
	d.faults.Add(Fault{At: d.scheduler.Now(), Place: d.place, What: "disk replaced", Target: "disk"})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// pathOf names a file for reports.
func pathOf(p env.Path) string {
	if p.Dir == 0 {
		return p.Name
	}
	return itoa(int64(p.Dir)) + ":" + p.Name
}
