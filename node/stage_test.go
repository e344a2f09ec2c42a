package node

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
)

// stage is a world in which nothing happens by itself: a test takes every step.
type stage struct {
	disk   *scriptDisk
	loops  []*Loop
	works  []Work
	logged []string
	dialed []env.Dialed
}

func newStage() *stage { return &stage{disk: &scriptDisk{files: map[string]*scriptFile{}}} }

func (s *stage) Now() env.Now                  { return env.Now{} }
func (s *stage) Disk() env.Disk                { return s.disk }
func (s *stage) Worker(Work) Worker            { return s }
func (s *stage) WakeAt(*Loop, env.Mono)        {}
func (s *stage) Log(_ *Loop, rec env.TraceRec) { s.logged = append(s.logged, rec.S) }
func (s *stage) Dial(_ string, d env.Dialed)   { s.dialed = append(s.dialed, d) }
func (s *stage) Changed(Status)                {}
func (s *stage) Runnable(l *Loop)              { s.loops = append(s.loops, l) }
func (s *stage) Ready(w Work)                  { s.works = append(s.works, w) }
func (s *stage) Finish()                       {}

// steps returns how many steps can be taken.
func (s *stage) steps() int { return len(s.loops) + len(s.works) }

// step takes step i: a loop's run or a piece of work.
func (s *stage) step(i int) {
	if i < len(s.loops) {
		l := s.loops[i]
		s.loops = slices.Delete(s.loops, i, i+1)
		l.Run(s)
		return
	}
	i -= len(s.loops)
	x := s.works[i]
	s.works = slices.Delete(s.works, i, i+1)
	x.Run(s)
}

// drain takes steps until none is left.
func (s *stage) drain() {
	for s.steps() > 0 {
		s.step(0)
	}
}

// scriptCore keeps what it is told, and says what it is given to say.
type scriptCore struct {
	told  []env.Event
	turns [][]env.Event
	say   func(in []env.Event, out *env.Effects)
}

func (c *scriptCore) Turn(_ env.Now, in []env.Event, out *env.Effects) {
	c.told = append(c.told, in...)
	c.turns = append(c.turns, slices.Clone(in))
	if c.say != nil {
		c.say(in, out)
	}
}

// fate is what becomes of a call on a disk.
type fate struct {
	err   env.Errno
	short int64 // bytes that a write does not store
}

// scriptDisk is a disk whose calls meet the fates in its script, and succeed behind its end.
type scriptDisk struct {
	script []fate
	calls  []string
	files  map[string]*scriptFile
}

func (d *scriptDisk) call(format string, args ...any) fate {
	d.calls = append(d.calls, fmt.Sprintf(format, args...))
	if len(d.script) == 0 {
		return fate{}
	}
	f := d.script[0]
	d.script = d.script[1:]
	return f
}

func (d *scriptDisk) Open(p env.Path, flag env.OpenFlag) (env.File, env.Errno) {
	if f := d.call("open %s %d", p.Name, flag); f.err != env.OK {
		return nil, f.err
	}
	file := d.files[p.Name]
	if file == nil {
		file = &scriptFile{disk: d}
		d.files[p.Name] = file
	}
	file.opened++
	return file, env.OK
}

func (d *scriptDisk) Rename(_, _ env.Path) env.Errno            { return env.OK }
func (d *scriptDisk) Mkdir(env.Path) env.Errno                  { return env.OK }
func (d *scriptDisk) List(env.Path) ([]env.DirEntry, env.Errno) { return nil, env.OK }
func (d *scriptDisk) Remove(p env.Path) env.Errno               { return d.call("remove %s", p.Name).err }

func (d *scriptDisk) SyncDir(p env.Path) env.Errno { return d.call("syncdir %s", p.Name).err }

// scriptFile keeps what is written to it.
type scriptFile struct {
	disk   *scriptDisk
	data   []byte
	opened int
	closed int
}

func (f *scriptFile) WriteAt(bufs [][]byte, off int64) (int64, env.Errno) {
	all := slices.Concat(bufs...)
	is := f.disk.call("write %d+%d of %d", off, len(all), len(bufs))
	stored := max(0, int64(len(all))-is.short)
	if is.err != env.OK && is.short == 0 {
		stored = 0
	}
	if need := int(off + stored); need > len(f.data) {
		f.data = append(f.data, make([]byte, need-len(f.data))...)
	}
	copy(f.data[off:], all[:stored])
	return stored, is.err
}

func (f *scriptFile) ReadAt(p []byte, off int64) (int, env.Errno) {
	return copy(p, f.data[min(off, int64(len(f.data))):]), env.OK
}

func (f *scriptFile) Sync() env.Errno { return f.disk.call("sync").err }

func (f *scriptFile) Truncate(size int64) env.Errno {
	is := f.disk.call("truncate %d", size)
	if is.err == env.OK {
		f.data = append(f.data, make([]byte, max(0, int(size)-len(f.data)))...)[:size]
	}
	return is.err
}

func (f *scriptFile) Size() (int64, env.Errno) { return int64(len(f.data)), env.OK }

func (f *scriptFile) Close() env.Errno {
	f.closed++
	return env.OK
}

// countedBuffer counts references.
type countedBuffer struct {
	data []byte
	refs int
}

func (b *countedBuffer) Bytes() []byte { return b.data }
func (b *countedBuffer) Retain()       { b.refs++ }
func (b *countedBuffer) Release()      { b.refs-- }

// frameOf returns a request as a connection's frame, without the size prefix.
func frameOf(r kmsg.Request, version int16) []byte {
	r.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, r, 7)[4:]
}
