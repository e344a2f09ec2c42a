package commitlog

import (
	"encoding/hex"
	"strings"

	"stet/core/env"
)

// DeleteJob removes a replica's directory: it renames it first, so that a crash leaves either the
// replica or a directory that RemoveDeletedJob recognises. The result is an error or nil.
type DeleteJob struct {
	Path env.Path
	UUID [16]byte // of the deletion; any fresh random value
}

// RemoveDeletedJob finishes a DeleteJob that was interrupted. IsDeletedName holds for the name of
// the directory. The result is an error or nil.
type RemoveDeletedJob struct {
	Path env.Path
}

const (
	deletedSuffix  = "-delete"
	maxNameBytes   = 255
	uuidTextLength = 32
)

// deletedName is Kafka's name for the directory of a deleted replica: the replica's, a dot, 32
// digits and -delete, cut so that it fits a file system
// (LocalLog.logDirNameWithSuffixCappedLength).
func deletedName(name string, uuid [16]byte) string {
	suffix := "." + hex.EncodeToString(uuid[:]) + deletedSuffix
	return name[:min(len(name), maxNameBytes-len(suffix))] + suffix
}

// IsDeletedName says whether a directory's name is one that DeleteJob gives.
func IsDeletedName(name string) bool {
	rest, ok := strings.CutSuffix(name, deletedSuffix)
	dot := len(rest) - uuidTextLength - 1
	if !ok || dot < 1 || rest[dot] != '.' {
		return false
	}
	_, err := hex.DecodeString(rest[dot+1:])
	return err == nil
}

// Name names the job for traces.
func (*DeleteJob) Name() string { return "delete-log" }

// Name names the job for traces.
func (*RemoveDeletedJob) Name() string { return "remove-deleted-log" }

// Run removes the directory.
func (j *DeleteJob) Run(disk env.Disk) any {
	renamed := env.Path{Dir: j.Path.Dir, Name: deletedName(j.Path.Name, j.UUID)}
	if errno := disk.Rename(j.Path, renamed); errno == env.ENOENT {
		return nil
	} else if errno != env.OK {
		return failed("rename", j.Path, errno)
	}
	if err := SyncDirectory(disk, j.Path.Parent()); err != nil {
		return err
	}
	return (&RemoveDeletedJob{renamed}).Run(disk)
}

// Run removes the directory.
func (j *RemoveDeletedJob) Run(disk env.Disk) any {
	if err := j.remove(disk); err != nil {
		return err
	}
	return nil
}

func (j *RemoveDeletedJob) remove(disk env.Disk) error {
	entries, errno := disk.List(j.Path)
	if errno == env.ENOENT {
		return nil
	}
	if errno != env.OK {
		return failed("list", j.Path, errno)
	}
	for _, e := range entries {
		if err := removeFile(disk, child(j.Path, e.Name)); err != nil {
			return err
		}
	}
	if err := removeFile(disk, j.Path); err != nil {
		return err
	}
	return SyncDirectory(disk, j.Path.Parent())
}
