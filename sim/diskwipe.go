package sim

import "stet/core/invariant"

// Wipe replaces the data directories by empty ones, as whoever changes a broken disk does. No process
// runs on the machine.
func (d *Disk) Wipe() {
	invariant.Always(len(d.inflight) == 0, "a disk is wiped under a running process")
	for i := range d.roots {
		d.roots[i] = newDir(d.nextInode())
	}
	d.changes = nil
	d.faults.Add(Fault{At: d.scheduler.Now(), Place: d.place, What: "wipe", Target: "disk"})
}
