package commitlog

import (
	"fmt"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// scanner reads batches from a segment file, a block at a time.
type scanner struct {
	file  env.File
	size  int64 // bytes to consider; the file may be longer
	block int   // bytes to read at once
	buf   []byte
	at    int64 // position of buf
}

func newScanner(file env.File, size int64, block int) *scanner {
	return &scanner{file: file, size: size, block: block}
}

// bytes returns n bytes at position, which must lie before size. They live until the next call.
func (s *scanner) bytes(position int64, n int) ([]byte, env.Errno) {
	if position >= s.at && position+int64(n) <= s.at+int64(len(s.buf)) {
		return s.buf[position-s.at:][:n], env.OK
	}
	want := int(min(max(int64(n), int64(s.block)), s.size-position))
	if cap(s.buf) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.at = s.buf[:want], position
	for have := 0; have < want; {
		read, err := s.file.ReadAt(s.buf[have:], position+int64(have))
		if err != env.OK || read == 0 {
			s.buf = s.buf[:0]
			if err == env.OK {
				err = env.EIO // shorter than it was
			}
			return nil, err
		}
		have += read
	}
	return s.buf[:n], env.OK
}

// structure says why bytes are no batch that may follow: nil when they may be one.
type structure struct {
	next  kafka.Offset // offset that must follow
	epoch kafka.LeaderEpoch
	gaps  bool // offsets may be skipped
}

// check judges a header without its records: a place that holds a batch rarely fails it, and a
// place that does not rarely passes.
func (x *structure) check(v record.View, room int64) error {
	switch size := v.SizeBytes(); {
	case v.Magic() != record.Magic:
		return fmt.Errorf("magic %d", v.Magic())
	case size < record.HeaderSize:
		return fmt.Errorf("batch of %d bytes", size)
	case size > room:
		return fmt.Errorf("batch of %d bytes where %d are left", size, room)
	case v.LastOffsetDelta() < 0:
		return fmt.Errorf("last offset delta %d", v.LastOffsetDelta())
	case v.BaseOffset() < x.next || v.BaseOffset() > x.next && !x.gaps:
		return fmt.Errorf("offset %d where %d follows", v.BaseOffset(), x.next)
	case v.LeaderEpoch() < x.epoch:
		return fmt.Errorf("epoch %d after %d", v.LeaderEpoch(), x.epoch)
	}
	return nil
}

// passed records a batch that was accepted.
func (x *structure) passed(v record.View) { x.next, x.epoch = v.NextOffset(), v.LeaderEpoch() }

// header returns the header at position if the structure holds there. A broken structure is an
// error in bad, a failing disk one in err.
func (s *scanner) header(position int64, x *structure) (v record.View, err env.Errno, bad error) {
	room := s.size - position
	if room < record.HeaderSize {
		return nil, env.OK, fmt.Errorf("%d bytes at the end", room)
	}
	b, err := s.bytes(position, record.HeaderSize)
	if err != env.OK {
		return nil, err, nil
	}
	v = record.View(b)
	return v, env.OK, x.check(v, room)
}

// batch returns the whole batch at position if its structure holds and its checksum matches.
func (s *scanner) batch(position int64, x *structure) (v record.View, err env.Errno, bad error) {
	v, err, bad = s.header(position, x)
	if bad != nil || err != env.OK {
		return nil, err, bad
	}
	b, err := s.bytes(position, int(v.SizeBytes()))
	if err != env.OK {
		return nil, err, nil
	}
	if problem := record.Check(b); problem != record.NoProblem {
		return nil, env.OK, fmt.Errorf("%s", problem)
	}
	return record.View(b), env.OK, nil
}
