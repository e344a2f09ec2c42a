package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
)

// rewriteBlock is how much of a segment is rewritten at a time.
const rewriteBlock = 1 << 20

// rewriteSuspects writes what lies above the recovery point once more, byte for byte, and syncs it.
//
// After a failed sync the kernel may hold pages that it counts as clean although the medium never
// had them: they read well, a later sync of them succeeds and does nothing, and they vanish when
// they are evicted. Writing the same bytes makes the pages dirty again, so that the next good sync
// does cover them. Only then is it examined what of the log stands. The mark is left by the first
// attempt, so that one that was interrupted is made again by the next process, too.
func (r *recovery) rewriteSuspects() error {
	if err := r.markRepair(); err != nil {
		return err
	}
	if err := SyncDirectory(r.disk, r.job.Path); err != nil {
		return err
	}
	for i := range r.segments {
		if i+1 < len(r.segments) && r.segments[i+1].base <= r.point {
			continue // wholly below the recovery point: a good sync has covered it
		}
		if err := r.rewriteSegment(r.segments[i].base); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) rewriteSegment(base kafka.Offset) error {
	name := child(r.job.Path, FileName(base, logSuffix))
	f, errno := r.disk.Open(name, env.OpenWrite)
	if errno != env.OK {
		return failed("open", name, errno)
	}
	errno = rewriteInPlace(f)
	if closeErr := f.Close(); errno == env.OK {
		errno = closeErr
	}
	return failed("rewrite", name, errno)
}

// rewriteInPlace writes the bytes of a file over themselves and syncs it.
func rewriteInPlace(f env.File) env.Errno {
	block := make([]byte, rewriteBlock)
	for at := int64(0); ; {
		n, err := f.ReadAt(block, at)
		if err != env.OK {
			return err
		}
		if n == 0 {
			return f.Sync()
		}
		if err := writeAll(f, block[:n], at); err != env.OK {
			return err
		}
		at += int64(n)
	}
}
