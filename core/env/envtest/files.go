package envtest

import (
	"strings"
	"testing"

	"stet/core/env"
)

var (
	fileA = env.MakeFileID(0, 1, 1)
	fileB = env.MakeFileID(0, 1, 2)
)

func effectsOnOneFileAreInOrder(t *testing.T, h Harness) {
	e := newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileA, Path: "a", Token: 1})
	e.write(fileA, 0, "one two three", 2)
	e.file(env.FileOp{Op: env.FileSync, File: fileA, Token: 3})
	e.file(env.FileOp{Op: env.FileTruncate, File: fileA, N: 4, Token: 4})
	e.write(fileA, 4, "four", 5)
	e.file(env.FileOp{Op: env.FileSyncDir, File: fileA, Token: 6})
	e.file(env.FileOp{Op: env.FileClose, File: fileA, Token: 7})
	h.Perform(&e.Effects)
	for token := env.Token(1); token <= 7; token++ {
		done(t, h, token, env.OK)
	}
	if got := content(t, h, "a"); got != "one four" {
		t.Fatalf("file holds %q, want %q", got, "one four")
	}
}

func adjacentWritesAreReportedOneByOne(t *testing.T, h Harness) {
	e := newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileA, Path: "a", Token: 1})
	want := ""
	for i := range 100 {
		piece := strings.Repeat(string(rune('a'+i%26)), 1+i%7)
		e.write(fileA, int64(len(want)), piece, env.Token(2+i))
		want += piece
	}
	h.Perform(&e.Effects)
	done(t, h, 1, env.OK)
	for i := range 100 {
		ev := done(t, h, env.Token(2+i), env.OK)
		if ev.N != int64(1+i%7) || ev.File != fileA || ev.FileOp != env.FileWrite {
			t.Fatalf("write %d reported as %+v", i, ev)
		}
	}
	if got := content(t, h, "a"); got != want {
		t.Fatalf("file holds %q, want %q", got, want)
	}
}

func aFailureFencesItsFileAlone(t *testing.T, h Harness) {
	e := newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileA, Path: "missing/a", Token: 1})
	e.write(fileA, 0, "lost", 2)
	e.file(env.FileOp{Op: env.FileSync, File: fileA, Token: 3})
	h.Perform(&e.Effects)
	done(t, h, 1, env.ENOENT)
	done(t, h, 2, env.EFenced)
	done(t, h, 3, env.EFenced)

	e = newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileB, Path: "b", Token: 4})
	e.write(fileB, 0, "kept", 5)
	h.Perform(&e.Effects)
	done(t, h, 4, env.OK)
	done(t, h, 5, env.OK)
	e = newEffects()
	e.file(env.FileOp{Op: env.FileClose, File: fileA, Token: 6})
	h.Perform(&e.Effects)
	done(t, h, 6, env.OK)
}

func anUnwantedCompletionIsNotReported(t *testing.T, h Harness) {
	e := newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileA, Path: "a"})
	e.write(fileA, 0, "x", 0)
	e.write(fileA, 1, "y", 9)
	h.Perform(&e.Effects)
	done(t, h, 9, env.OK)

	e = newEffects() // a failure is reported even so
	e.file(env.FileOp{Op: env.FileCreate, File: fileB, Path: "a"})
	h.Perform(&e.Effects)
	done(t, h, 0, env.EEXIST)
}

func aJobReportsItsResult(t *testing.T, h Harness) {
	e := newEffects()
	e.Jobs = append(e.Jobs, env.JobStart{Token: 7, Job: copyJob{}})
	h.Perform(&e.Effects)
	ev := next(t, h, env.EventJobDone)
	if ev.Token != 7 || ev.Res != "d/copy: seven bytes" {
		t.Fatalf("job reported %+v", ev)
	}
}

// copyJob uses every call of env.Disk.
type copyJob struct{}

func (copyJob) Name() string { return "copy" }

func (copyJob) Run(d env.Disk) any {
	steps := []func() env.Errno{
		func() env.Errno { return d.Mkdir(env.Path{Name: "d"}) },
		func() env.Errno {
			f, err := d.Open(env.Path{Name: "d/tmp"}, env.OpenCreate)
			if err != env.OK {
				return err
			}
			f.WriteAt([][]byte{[]byte("seven "), []byte("bytes and more")}, 0)
			f.Truncate(11)
			if err := f.Sync(); err != env.OK {
				return err
			}
			return f.Close()
		},
		func() env.Errno { return d.Rename(env.Path{Name: "d/tmp"}, env.Path{Name: "d/copy"}) },
		func() env.Errno { return d.SyncDir(env.Path{Name: "d"}) },
	}
	for _, step := range steps {
		if err := step(); err != env.OK {
			return err.String()
		}
	}
	entries, err := d.List(env.Path{Name: "d"})
	if err != env.OK || len(entries) != 1 || entries[0].Size != 11 {
		return "list is wrong"
	}
	f, err := d.Open(env.Path{Name: "d/" + entries[0].Name}, env.OpenRead)
	if err != env.OK {
		return err.String()
	}
	b := make([]byte, 20)
	n, _ := f.ReadAt(b, 0)
	f.Close()
	return "d/" + entries[0].Name + ": " + string(b[:n])
}

func aWakeUpComes(t *testing.T, h Harness) {
	e := newEffects()
	e.WakeBy(1) // long past: at once
	h.Perform(&e.Effects)
	next(t, h, env.EventTick)
}
