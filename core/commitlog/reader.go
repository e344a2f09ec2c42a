package commitlog

import (
	"encoding/binary"
	"fmt"
)

// reader takes fields off the front of b. Past the end it yields zeros, and finish reports it.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		return make([]byte, min(max(n, 0), 64))
	}
	field := r.b[:n]
	r.b = r.b[n:]
	return field
}

func (r *reader) uint8() uint8 { return r.take(1)[0] }
func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

func (r *reader) finish() error {
	switch {
	case r.bad:
		return fmt.Errorf("cut short")
	case len(r.b) > 0:
		return fmt.Errorf("%d trailing bytes", len(r.b))
	}
	return nil
}
