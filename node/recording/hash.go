package recording

import (
	"crypto/sha256"
	"encoding/binary"
	"reflect"

	"stet/core/env"
)

// Hash is the hash of one turn's effects.
type Hash [16]byte

// hasher hashes effects; it reuses its memory.
type hasher struct{ b []byte }

// effects hashes everything that a turn emitted, in order: every field of every effect, the bytes
// of responses and inline writes, the inputs of jobs. Payloads that are only named are left out.
func (h *hasher) effects(out *env.Effects) Hash {
	h.b = h.b[:0]
	for i := range out.File {
		h.fileOp(&out.File[i], out)
	}
	for i := range out.Conn {
		h.connOp(&out.Conn[i], out)
	}
	for _, j := range out.Jobs {
		h.number(uint64(j.Token))
		h.text(j.Job.Name())
		h.b = appendDeep(h.b, reflect.ValueOf(j.Job))
	}
	for _, t := range out.Trace {
		h.b = appendDeep(h.b, reflect.ValueOf(t))
	}
	h.number(uint64(out.Wake))
	sum := sha256.Sum256(h.b)
	return Hash(sum[:16])
}

func (h *hasher) fileOp(op *env.FileOp, out *env.Effects) {
	h.b = append(h.b, 'F', byte(op.Op))
	h.number(uint64(op.File))
	h.number(uint64(op.Off))
	h.number(uint64(op.N))
	h.text(op.Path)
	h.bytes(out.Bytes[op.Inline.Start:op.Inline.End])
	h.b = appendDeep(h.b, reflect.ValueOf(op.Patch))
	h.number(uint64(op.Token))
}

func (h *hasher) connOp(op *env.ConnOp, out *env.Effects) {
	h.b = append(h.b, 'C', byte(op.Op), byte(op.Err))
	h.number(uint64(op.Slot))
	h.number(uint64(op.Conn))
	h.number(uint64(op.Token))
	h.bytes(out.Bytes[op.Head.Start:op.Head.End])
	for _, r := range out.Ranges[op.Ranges.Start:op.Ranges.End] {
		h.number(uint64(r.File))
		h.number(uint64(r.At))
		h.number(uint64(r.Off))
		h.number(uint64(r.Len))
		if r.Copy {
			h.b = append(h.b, 'K')
		}
	}
}

func (h *hasher) number(n uint64) { h.b = binary.AppendUvarint(h.b, n) }

func (h *hasher) text(s string) {
	h.number(uint64(len(s)))
	h.b = append(h.b, s...)
}

func (h *hasher) bytes(p []byte) {
	h.number(uint64(len(p)))
	h.b = append(h.b, p...)
}
