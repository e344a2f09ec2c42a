package wire

import (
	"encoding/binary"
	"math"
)

// reader is a cursor over a frame. The first thing that is wrong stops it: from then on every read
// returns zero, so that a decoder asks for ok once per array element and at its end.
type reader struct {
	frame []byte
	at    int    // of the next byte; the end once stopped
	fault string // why the reader stopped, or ""
	where int    // offset of the fault

	elements int32 // limit of one array
	tags     int32 // limit of the tagged fields of one structure
	memory   int64 // what the decoded form may still take, bytes
}

// newReader reads frame from at on.
func newReader(frame []byte, at int, limits *Limits) reader {
	return reader{
		frame: frame, at: at, elements: limits.MaxElements, tags: limits.MaxTags,
		memory: limits.MemoryFactor*int64(len(frame)) + limits.MemorySlack,
	}
}

func (r *reader) ok() bool { return r.fault == "" }

// stop records the first fault.
func (r *reader) stop(fault string) {
	if r.fault == "" {
		r.fault, r.where = fault, r.at
		r.at = len(r.frame)
	}
}

func (r *reader) left() int { return len(r.frame) - r.at }

const short = "the frame ends inside a field"

func (r *reader) int8() int8 {
	if r.left() < 1 {
		r.stop(short)
		return 0
	}
	v := r.frame[r.at]
	r.at++
	return int8(v)
}

func (r *reader) int16() int16 {
	if r.left() < 2 {
		r.stop(short)
		return 0
	}
	v := binary.BigEndian.Uint16(r.frame[r.at:])
	r.at += 2
	return int16(v)
}

func (r *reader) int32() int32 {
	if r.left() < 4 {
		r.stop(short)
		return 0
	}
	v := binary.BigEndian.Uint32(r.frame[r.at:])
	r.at += 4
	return int32(v)
}

func (r *reader) int64() int64 {
	if r.left() < 8 {
		r.stop(short)
		return 0
	}
	v := binary.BigEndian.Uint64(r.frame[r.at:])
	r.at += 8
	return int64(v)
}

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.take(16))
	return id
}

// take returns the next n bytes, n >= 0, as a view.
func (r *reader) take(n int) []byte {
	if n > r.left() {
		r.stop(short)
		return nil
	}
	view := r.frame[r.at : r.at+n : r.at+n]
	r.at += n
	return view
}

// skip passes over n bytes, n >= 0.
func (r *reader) skip(n int) {
	if n > r.left() {
		r.stop(short)
		return
	}
	r.at += n
}

// uvarint reads an unsigned varint. Kafka's readUnsignedVarint takes up to five bytes and drops
// what exceeds 32 bits; as no length can exceed 31 bits, anything beyond is a fault here.
func (r *reader) uvarint() int32 {
	if r.at < len(r.frame) && r.frame[r.at] < 0x80 {
		v := r.frame[r.at]
		r.at++
		return int32(v)
	}
	return r.longUvarint()
}

func (r *reader) longUvarint() int32 {
	var v uint64
	for i := range 5 {
		if i >= r.left() {
			r.stop(short)
			return 0
		}
		b := r.frame[r.at+i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if v > math.MaxInt32 {
				break
			}
			r.at += i + 1
			return int32(v)
		}
	}
	r.stop("a varint exceeds 31 bits")
	return 0
}

// compactLength reads a length plus one, where 0 is null.
func (r *reader) compactLength() int { return int(r.uvarint()) - 1 }

// length reads the length of a string, of bytes or of an array: -1 for null.
func (r *reader) length(flexible bool) int {
	if flexible {
		return r.compactLength()
	}
	return max(-1, int(r.int32()))
}

// textLength is length for strings, whose plain form has 16 bits.
func (r *reader) textLength(flexible bool) int {
	if flexible {
		return r.compactLength()
	}
	return max(-1, int(r.int16()))
}

const isNull = "null in a field that is not nullable"

// text reads a string as a view.
func (r *reader) text(flexible bool) []byte {
	n := r.textLength(flexible)
	if n < 0 {
		r.stop(isNull)
		return nil
	}
	return r.take(n)
}

// nullableText reads a string as a view: nil when null.
func (r *reader) nullableText(flexible bool) []byte {
	n := r.textLength(flexible)
	if n < 0 {
		return nil
	}
	return r.take(n)
}

// nullableBlob reads bytes or records as a view: nil when null.
func (r *reader) nullableBlob(flexible bool) []byte {
	n := r.length(flexible)
	if n < 0 {
		return nil
	}
	return r.take(n)
}

// blob reads bytes as a view.
func (r *reader) blob(flexible bool) []byte {
	n := r.length(flexible)
	if n < 0 {
		r.stop(isNull)
		return nil
	}
	return r.take(n)
}

// list reads the length of an array whose elements take elementBytes each once decoded.
func (r *reader) list(flexible bool, elementBytes int64) int {
	n := r.nullableList(flexible, elementBytes)
	if n < 0 {
		r.stop(isNull)
		return 0
	}
	return n
}

// nullableList is list, with -1 for null.
func (r *reader) nullableList(flexible bool, elementBytes int64) int {
	n := r.length(flexible)
	if n <= 0 {
		return n
	}
	switch {
	case n > r.left(): // no element is smaller than a byte
		r.stop("an array announces more elements than the frame has bytes")
		return 0
	case n > int(r.elements):
		r.stop("an array has too many elements")
		return 0
	}
	r.charge(int64(n) * elementBytes)
	if !r.ok() {
		return 0
	}
	return n
}

// charge counts memory that the decoded form takes.
func (r *reader) charge(n int64) {
	if r.memory -= n; r.memory < 0 {
		r.stop("the request would take too much memory for its size")
	}
}

// tagCount reads how many tagged fields follow; tag must be called for each while ok.
func (r *reader) tagCount() int {
	n := r.uvarint()
	if n > r.tags {
		r.stop("a structure has too many tagged fields")
		return 0
	}
	return int(n)
}

// tag reads the number of a tagged field and returns a reader of its value alone, which has no
// budget of its own.
func (r *reader) tag() (tag int32, value reader) {
	tag = r.uvarint()
	size := int(r.uvarint())
	end := r.at + size
	r.skip(size)
	if !r.ok() {
		return -1, reader{}
	}
	return tag, reader{frame: r.frame[:end], at: end - size}
}

// adopt takes over the fault of a tag's value.
func (r *reader) adopt(value *reader) {
	if !value.ok() {
		r.at = value.where
		r.stop(value.fault)
	}
}

// skipTags passes over the tagged fields of a structure, if the version has any.
func (r *reader) skipTags(flexible bool) {
	if flexible && !r.noTags() {
		r.skipSomeTags()
	}
}

// noTags passes over an empty list of tagged fields, and says whether it was empty.
func (r *reader) noTags() bool {
	if r.at < len(r.frame) && r.frame[r.at] == 0 {
		r.at++
		return true
	}
	return false
}

func (r *reader) skipSomeTags() {
	for n := r.tagCount(); n > 0 && r.ok(); n-- {
		r.tag()
	}
}
