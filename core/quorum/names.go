package quorum

import (
	"fmt"
	"strconv"
	"strings"

	"stet/core/env"
)

// The raft directory holds
//
//	log-<generation>         the log; the newest whole one is in force
//	snapshot-<index>         the state as of an entry
//	snapshot.tmp             a snapshot that is being written
const (
	logPrefix      = "log-"
	snapshotPrefix = "snapshot-"
	snapshotTmp    = Directory + "/snapshot.tmp"
)

// Numbers have 20 digits, as many as the largest needs, so that names sort as numbers do.
func logName(generation uint64) string {
	return fmt.Sprintf("%s/%s%020d", Directory, logPrefix, generation)
}

func snapshotName(index uint64) string {
	return fmt.Sprintf("%s/%s%020d", Directory, snapshotPrefix, index)
}

// listing is the content of the raft directory, ascending by number.
type listing struct {
	logs, snapshots []uint64
	tmp             bool
}

func list(disk env.Disk, dir env.DirID) (listing, env.Errno) {
	entries, err := disk.List(env.Path{Dir: dir, Name: Directory})
	if err != env.OK {
		return listing{}, err
	}
	var l listing
	for _, e := range entries {
		if n, ok := number(e.Name, logPrefix); ok {
			l.logs = append(l.logs, n)
		} else if n, ok := number(e.Name, snapshotPrefix); ok {
			l.snapshots = append(l.snapshots, n)
		} else if Directory+"/"+e.Name == snapshotTmp {
			l.tmp = true
		}
	}
	return l, env.OK
}

func number(name, prefix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
