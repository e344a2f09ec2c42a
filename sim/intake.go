package sim

import (
	"encoding/binary"

	"stet/core/env"
)

// intake cuts the bytes that arrive at an end into frames and offers them to its reader.
type intake struct {
	waiting [][]byte // arrived and not yet taken
	prefix  []byte   // of the frame under way
	buffer  env.Buffer
	filled  int
}

func (in *intake) add(p []byte) {
	if len(p) > 0 {
		in.waiting = append(in.waiting, p)
	}
}

// pending says whether there is something to feed: bytes, or a frame that waits for memory.
func (in *intake) pending() bool {
	return len(in.waiting) > 0 || len(in.prefix) == prefixBytes && in.buffer == nil
}

// feed passes on bytes until one frame is delivered, the reader stops, or nothing is left.
func (in *intake) feed(r env.ConnReader) env.Verdict {
	for in.pending() {
		if in.buffer == nil {
			if verdict, ready := in.reserve(r); !ready {
				return verdict
			}
		}
		in.fill()
		if in.filled == len(in.buffer.Bytes()) {
			frame := in.buffer
			in.buffer, in.filled, in.prefix = nil, 0, in.prefix[:0]
			return r.Deliver(frame)
		}
	}
	return env.Continue
}

// reserve completes the prefix and asks for the buffer. It says false when there is none yet.
func (in *intake) reserve(r env.ConnReader) (env.Verdict, bool) {
	if n := prefixBytes - len(in.prefix); n > 0 {
		in.prefix = append(in.prefix, in.cut(n)...)
		if len(in.prefix) < prefixBytes {
			return env.Continue, false
		}
	}
	buffer, verdict := r.Reserve(int32(binary.BigEndian.Uint32(in.prefix)))
	if buffer == nil {
		return verdict, false
	}
	in.buffer, in.filled = buffer, 0
	return env.Continue, true
}

// fill copies what has arrived into the buffer.
func (in *intake) fill() {
	b := in.buffer.Bytes()
	for in.filled < len(b) && len(in.waiting) > 0 {
		in.filled += copy(b[in.filled:], in.cut(len(b)-in.filled))
	}
}

// cut takes up to n bytes off the front of what waits: of its first piece.
func (in *intake) cut(n int) []byte {
	if len(in.waiting) == 0 {
		return nil
	}
	first := in.waiting[0]
	n = min(n, len(first))
	if n == len(first) {
		in.waiting[0] = nil
		in.waiting = in.waiting[1:]
	} else {
		in.waiting[0] = first[n:]
	}
	return first[:n]
}

// release gives back the buffer of a frame that will never be complete.
func (in *intake) release() {
	if in.buffer != nil {
		in.buffer.Release()
	}
	*in = intake{}
}
