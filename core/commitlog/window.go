package commitlog

import (
	"sort"

	"stet/core/env"
	"stet/core/kafka"
)

// windowEntries is the number of entries of an index file that are read at once: with the default
// interval they span boundarySpan bytes of log.
const windowEntries = boundarySpan / 4096

// indexWindow returns the entries of a segment's offset index around offset: the last one that
// ends at or before it, if any, and some that follow. An index that is missing or broken costs
// time, not correctness: it yields fewer entries.
func indexWindow(disk env.Disk, dir env.Path, s *segmentView,
	offset kafka.Offset,
) ([]IndexEntry, error) {
	var window []IndexEntry
	inMemory := len(s.entries) > 0 && s.entries[0].last <= offset
	if !inMemory && (s.sealed || s.fileEntries > 0) {
		var err error
		if window, err = indexFileWindow(disk, dir, s, offset); err != nil {
			return nil, err
		}
	}
	if s.sealed || len(window) >= windowEntries {
		return window, nil
	}
	for _, e := range s.entries {
		if n := len(window); n == 0 || window[n-1].Position < e.position {
			window = append(window, IndexEntry{e.last, e.position})
		}
	}
	return window, nil
}

func indexFileWindow(disk env.Disk, dir env.Path, s *segmentView,
	offset kafka.Offset,
) ([]IndexEntry, error) {
	name := child(dir, FileName(s.base, indexSuffix))
	f, errno := disk.Open(name, env.OpenRead)
	if errno == env.ENOENT {
		return nil, nil
	}
	if errno != env.OK {
		return nil, failed("open", name, errno)
	}
	window, errno := readWindow(f, s, offset)
	if closeErr := f.Close(); errno == env.OK {
		errno = closeErr
	}
	return window, failed("read", name, errno)
}

func readWindow(f env.File, s *segmentView, offset kafka.Offset) ([]IndexEntry, env.Errno) {
	size, errno := f.Size()
	count := int(size / indexEntrySize)
	if !s.sealed {
		count = min(count, s.fileEntries)
	}
	var one [indexEntrySize]byte
	after := sort.Search(count, func(i int) bool {
		if errno != env.OK {
			return true
		}
		_, errno = f.ReadAt(one[:], int64(i)*indexEntrySize)
		e := indexEntryAt(one[:], s.base)
		return e.Position == 0 || e.Offset > offset // position 0: the zeros of a live index
	})
	if errno != env.OK {
		return nil, errno
	}
	from := max(after-1, 0)
	b := make([]byte, min(count-from, windowEntries)*indexEntrySize)
	if _, errno = f.ReadAt(b, int64(from)*indexEntrySize); errno != env.OK {
		return nil, errno
	}
	window, _ := DecodeIndex(b, s.base)
	return window, env.OK
}
