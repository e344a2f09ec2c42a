package commitlog

import (
	"fmt"
	"math"

	"stet/core/env"
	"stet/core/kafka"
)

// SyncSurvived syncs what a process that was killed has left of a replica's log in the page cache:
// the segments that hold or lie above the recovery point of the checkpoint. If that succeeds, no
// write that the process had been told of was lost on its way to the medium before either. If it
// fails, the mark is left that makes recovery write those segments once more.
func SyncSurvived(disk env.Disk, dir env.Path, recoveryPoint kafka.Offset) error {
	entries, errno := disk.List(dir)
	if errno != env.OK {
		return failed("list", dir, errno)
	}
	r := recovery{inventory: takeInventory(entries)}
	point := min(recoveryPoint, r.newestSnapshot(math.MaxInt64))
	for i := range r.segments {
		if i+1 < len(r.segments) && r.segments[i+1].base <= point {
			continue // wholly below: a good sync has covered it
		}
		name := child(dir, FileName(r.segments[i].base, logSuffix))
		if err := syncFile(disk, name); err != nil {
			if marking := leaveMark(disk, dir); marking != nil {
				return fmt.Errorf("%w, and %w", err, marking)
			}
			return err
		}
	}
	return nil
}

func syncFile(disk env.Disk, name env.Path) error {
	f, errno := disk.Open(name, env.OpenWrite)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	errno = f.Sync()
	if closeErr := f.Close(); errno == env.OK {
		errno = closeErr
	}
	return failed("sync", name, errno)
}
