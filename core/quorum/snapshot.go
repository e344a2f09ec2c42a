package quorum

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"stet/core/env"
)

// A snapshot file is
//
//	 0  magic    8 bytes  "STETSNAP"
//	 8  version  uint32   1
//	12  crc      uint32   CRC-32C of what follows
//	16  index, term  uint64×2
//	32  body
const (
	snapshotMagic   = "STETSNAP"
	snapshotVersion = 1
	snapshotHead    = 32
)

// Body is an immutable state that can be written. The job that saves it encodes it, off the loop.
type Body interface {
	AppendSnapshot(dst []byte) []byte
}

func appendSnapshot(at Position, body Body) []byte {
	dst := append([]byte(nil), snapshotMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, snapshotVersion)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, at.Index)
	dst = binary.LittleEndian.AppendUint64(dst, at.Term)
	dst = body.AppendSnapshot(dst)
	binary.LittleEndian.PutUint32(dst[12:], crc32.Checksum(dst[16:], castagnoli))
	return dst
}

var errSnapshot = errors.New("raft log: the snapshot that the log follows is damaged")

// readSnapshot reads the body of the snapshot at a position.
func (r *recovery) readSnapshot(at Position) ([]byte, error) {
	b, err := readFile(r.disk, env.Path{Dir: r.dir, Name: snapshotName(at.Index)})
	if err != env.OK {
		return nil, errors.Join(errSnapshot, err)
	}
	if len(b) < snapshotHead || string(b[:8]) != snapshotMagic ||
		binary.LittleEndian.Uint32(b[8:]) != snapshotVersion ||
		binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[16:], castagnoli) ||
		binary.LittleEndian.Uint64(b[16:]) != at.Index ||
		binary.LittleEndian.Uint64(b[24:]) != at.Term {
		return nil, errSnapshot
	}
	return b[snapshotHead:], nil
}

// snapshotJob makes a snapshot durable. Only then does the log move to a file that follows it.
type snapshotJob struct {
	dir     env.DirID
	at      Position
	members ConfState
	body    Body
}

// SnapshotDone is the result of a snapshotJob.
type SnapshotDone struct {
	Err     env.Errno
	At      Position
	Members ConfState
}

// Name names the job for traces.
func (*snapshotJob) Name() string { return "write-raft-snapshot" }

// Run writes the snapshot under a temporary name, syncs it, and gives it its name.
func (j *snapshotJob) Run(disk env.Disk) any {
	tmp := env.Path{Dir: j.dir, Name: snapshotTmp}
	name := env.Path{Dir: j.dir, Name: snapshotName(j.at.Index)}
	err := writeFile(disk, tmp, appendSnapshot(j.at, j.body))
	if err == env.OK {
		err = disk.Rename(tmp, name)
	}
	if err == env.OK {
		err = disk.SyncDir(name.Parent())
	}
	return SnapshotDone{err, j.at, j.members}
}

// sweepJob removes files that are superfluous. The result is an env.Errno; what could not be
// removed is found again by the next recovery.
type sweepJob struct {
	dir   env.DirID
	names []string
}

// Name names the job for traces.
func (*sweepJob) Name() string { return "remove-old-raft-files" }

// Run removes the files.
func (j *sweepJob) Run(disk env.Disk) any {
	for _, name := range j.names {
		if err := disk.Remove(env.Path{Dir: j.dir, Name: name}); err != env.OK && err != env.ENOENT {
			return err
		}
	}
	return env.OK
}

// ResultTypes has a value of each type, errors aside, that a job of this room returns: what a
// recording needs to read them back.
func ResultTypes() []any { return []any{(*Recovered)(nil), SnapshotDone{}} }
