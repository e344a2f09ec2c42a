package commitlog

import (
	"fmt"
	"slices"

	"stet/core/env"
)

// Files of our own, below a data directory's root. LifeName says which process opened the directory
// last; it is written before any replica is opened. CleanMarkerName, with the same content, says
// which process closed it cleanly; it is removed before the first write of the next one. A marker
// holds only if it names the life that the other file names, so one that came back, or that was
// brought from elsewhere, is not believed. DamageName is there, empty, when a write or a sync of a log
// has failed in the last life.
const (
	LifeName        = "stet/life"
	CleanMarkerName = "stet/clean"
	DamageName      = "stet/damaged"
)

// Life names one life of a process in one data directory, and those before it that it continues.
type Life struct {
	BootID      string // of the kernel: what was only in memory survived if it is still the same
	Incarnation [16]byte
	DirectoryID string

	// Before are earlier lives in the directory, oldest first, whose data this one holds without
	// any loss. The chain ends at a life that was not clean, and is cut when a life has registered:
	// what the cluster knows of the directory is then of that life. At most mostBefore.
	Before [][16]byte
}

// mostBefore bounds the chain. Lives that never got to register may well be more, so the first stays,
// the last that is known to have registered, and the one after it is dropped.
const mostBefore = 16

// After returns l as a life that continues another one without any loss.
func (l Life) After(former *Life) Life {
	l.Before = append(slices.Clone(former.Before), former.Incarnation)
	if len(l.Before) > mostBefore {
		l.Before = slices.Delete(l.Before, 1, 2)
	}
	return l
}

// Continues says whether what a life with this incarnation had in the directory is still there.
func (l *Life) Continues(incarnation [16]byte) bool {
	return l.Incarnation == incarnation || slices.Contains(l.Before, incarnation)
}

const lifeVersion = 2

// AppendLife encodes a life or a clean-start marker:
//
//	int16 version (2), uint32 CRC-32C of what follows,
//	uint8 length and boot id, 16 bytes incarnation, uint8 length and directory id,
//	uint8 number of lives before and 16 bytes for each
func AppendLife(dst []byte, l *Life) []byte {
	body := append([]byte{byte(len(l.BootID))}, l.BootID...)
	body = append(body, l.Incarnation[:]...)
	body = append(body, byte(len(l.DirectoryID)))
	body = append(body, l.DirectoryID...)
	body = append(body, byte(len(l.Before)))
	for i := range l.Before {
		body = append(body, l.Before[i][:]...)
	}
	return appendSealed(dst, lifeVersion, body)
}

// DecodeLife decodes either file.
func DecodeLife(b []byte) (*Life, error) {
	body, err := openSealed(b, lifeVersion)
	if err != nil {
		return nil, err
	}
	l, r := &Life{}, reader{b: body}
	l.BootID = string(r.take(int(r.uint8())))
	copy(l.Incarnation[:], r.take(len(l.Incarnation)))
	l.DirectoryID = string(r.take(int(r.uint8())))
	for range r.uint8() {
		l.Before = append(l.Before, [16]byte{})
		copy(l.Before[len(l.Before)-1][:], r.take(16))
	}
	return l, r.finish()
}

// CheckCleanMarker returns why a clean-start marker does not hold, or nil. It takes the contents of
// the marker and of the file that names the last life, and the id of the directory.
func CheckCleanMarker(marker, life []byte, directoryID string) error {
	closed, err := DecodeLife(marker)
	if err != nil {
		return fmt.Errorf("%s: %w", CleanMarkerName, err)
	}
	opened, err := DecodeLife(life)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", LifeName, err)
	case closed.DirectoryID != directoryID:
		return fmt.Errorf("it is of directory %s, this is %s", closed.DirectoryID, directoryID)
	case closed.Incarnation != opened.Incarnation:
		return fmt.Errorf("it is of life %x, the last one was %x", closed.Incarnation, opened.Incarnation)
	case closed.BootID != opened.BootID, closed.DirectoryID != opened.DirectoryID:
		return fmt.Errorf("%s is of the same process, but another boot or directory", LifeName)
	}
	return nil
}

// NoteDamageJob notes that a write or a sync of a log in the data directory has failed, for the next
// start. The note need not outlive the machine: another boot without a clean stop is not clean
// anyway, and a clean stop syncs the directory that the note lies in. Where no file can be made, the
// life is taken away, which says the same and more. The result is an error or nil.
type NoteDamageJob struct{ Dir env.DirID }

// Name names the job for traces.
func (*NoteDamageJob) Name() string { return "note-damage" }

// Run leaves the note.
func (j *NoteDamageJob) Run(disk env.Disk) any {
	f, errno := disk.Open(env.Path{Dir: j.Dir, Name: DamageName}, env.OpenOrNew)
	if errno == env.OK {
		f.Close()
		return nil
	}
	if err := removeFile(disk, env.Path{Dir: j.Dir, Name: LifeName}); err != nil {
		return err
	}
	return nil
}
