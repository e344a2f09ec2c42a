package quorum

import (
	"encoding/binary"
	"hash/crc32"

	"stet/core/env"
)

// Body is an application's state as of an entry: immutable. A job makes bytes of it.
type Body interface {
	AppendSnapshot(dst []byte) []byte
}

// A snapshot file is
//
//	 0  magic    8 bytes  "STETSNAP"
//	 8  version  uint32   1
//	12  zero     uint32
//	16  index, term       uint64×2: the last entry that it covers
//	32  members           as in a log's header
//	    body              to the crc
//	    crc      uint32   CRC-32C of all before it
//
// Integers are little endian.
const (
	snapshotMagic = "STETSNAP"
	snapshotFixed = 32
)

type snapshotFile struct {
	at      Position
	members ConfState
	body    []byte
}

func appendSnapshotFile(dst []byte, at Position, members *ConfState, body Body) []byte {
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, at.Index)
	dst = binary.LittleEndian.AppendUint64(dst, at.Term)
	dst = body.AppendSnapshot(appendMembers(dst, members))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst, castagnoli))
}

func parseSnapshot(file []byte) (snapshotFile, bool) {
	if len(file) < snapshotFixed+4 || string(file[:8]) != snapshotMagic ||
		binary.LittleEndian.Uint32(file[8:]) != formatVersion {
		return snapshotFile{}, false
	}
	n := len(file) - 4
	if crc32.Checksum(file[:n], castagnoli) != binary.LittleEndian.Uint32(file[n:]) {
		return snapshotFile{}, false
	}
	var s snapshotFile
	s.at = Position{binary.LittleEndian.Uint64(file[16:]), binary.LittleEndian.Uint64(file[24:])}
	body, ok := parseMembers(file[snapshotFixed:n], &s.members)
	s.body = body
	return s, ok
}

// snapshotJob writes a snapshot: to a temporary name, synced, renamed, and the directory synced.
// A crash before the rename leaves the temporary file, which the next snapshot overwrites.
type snapshotJob struct {
	dir     env.DirID
	at      Position
	members ConfState
	body    Body
}

// SnapshotDone is the result of the job that writes a snapshot.
type SnapshotDone struct {
	Err     env.Errno
	At      Position
	Members ConfState
	Bytes   int64 // of the file
}

// Name implements env.Job.
func (*snapshotJob) Name() string { return "quorum-snapshot" }

// Run implements env.Job.
func (j *snapshotJob) Run(disk env.Disk) any {
	b := appendSnapshotFile(nil, j.at, &j.members, j.body)
	return SnapshotDone{saveSnapshot(disk, j.dir, j.at.Index, b), j.at, j.members, int64(len(b))}
}

// saveSnapshot writes a snapshot file durably.
func saveSnapshot(disk env.Disk, dir env.DirID, index uint64, file []byte) env.Errno {
	tmp := env.Path{Dir: dir, Name: snapshotTmp}
	if err := writeFile(disk, tmp, file); err != env.OK {
		return err
	}
	if err := disk.Rename(tmp, env.Path{Dir: dir, Name: snapshotName(index)}); err != env.OK {
		return err
	}
	return disk.SyncDir(env.Path{Dir: dir, Name: Directory})
}

// writeFile makes a new file of these bytes, durable but for its directory entry. An old file of
// this name is removed first: after a failed sync its pages are not to be trusted.
func writeFile(disk env.Disk, path env.Path, b []byte) env.Errno {
	if err := disk.Remove(path); err != env.OK && err != env.ENOENT {
		return err
	}
	f, err := disk.Open(path, env.OpenCreate)
	if err != env.OK {
		return err
	}
	n, err := f.WriteAt([][]byte{b}, 0)
	if err == env.OK && n < int64(len(b)) {
		err = env.EShort
	}
	if err == env.OK {
		err = f.Sync()
	}
	f.Close()
	return err
}

// sweepJob removes files that are not needed. What it can not remove stays and is listed by the
// next recovery.
type sweepJob struct {
	dir   env.DirID
	names []string
}

// SweepDone is the result of the job that removes what is not needed.
type SweepDone struct{ Failed int }

// Name implements env.Job.
func (*sweepJob) Name() string { return "quorum-sweep" }

// Run implements env.Job.
func (j *sweepJob) Run(disk env.Disk) any {
	failed := 0
	for _, name := range j.names {
		err := disk.Remove(env.Path{Dir: j.dir, Name: name})
		if err != env.OK && err != env.ENOENT {
			failed++
		}
	}
	return SweepDone{failed}
}

// ResultTypes has a value of each type, errors aside, that a job of this room returns: what a
// recording needs to read them back.
func ResultTypes() []any {
	return []any{
		(*Recovered)(nil), SnapshotDone{}, SnapshotSaved{}, SnapshotPart{}, SweepDone{},
	}
}
